"""Intake rows: what hooks saw, one row an event of a host, the payload sealed. Also the counts of what was seen and not kept.

The front runs through this file. Writers take an open transaction.
"""

from __future__ import annotations

import sqlite3
from typing import Any, NamedTuple

from afl_core.store import status

COUNTS = "front_counts"
"""Name of the status row that holds, by reason, how often the front kept or selected nothing: `{reason: {"count": n, "last_ms": ms}}`."""


class Intake(NamedTuple):
    """One row as it is first written. `state`: new, or ignored when there is nothing an event could be born from."""

    intake_id: str
    host: str
    event: str
    kind: str
    session_id: str
    turn: str | None
    source: str | None
    cwd: str
    project_id: str
    transcript_path: str | None
    transcript_size: int | None
    text_mac: str | None
    sealed: bytes | None
    total_bytes: int
    received_ms: int
    state: str


_COLUMNS = ", ".join(Intake._fields)
_MARKS = ", ".join("?" * len(Intake._fields))


def context_of(intake_id: str) -> str:
    """What the payload of a row is sealed as; the same is needed to open it."""
    return f"intake:{intake_id}"


def add(db: sqlite3.Connection, row: Intake) -> bool:
    """Write a row; False when its id is known already (a hook that was answered too late also went to the spool)."""
    return db.execute(f"INSERT OR IGNORE INTO intake ({_COLUMNS}) VALUES ({_MARKS})", row).rowcount > 0  # noqa: S608 - names of this file


def known(db: sqlite3.Connection, intake_id: str) -> bool:
    """Whether a row of this id was ever written and not expired."""
    return db.execute("SELECT 1 FROM intake WHERE intake_id = ?", (intake_id,)).fetchone() is not None


def any_waiting(db: sqlite3.Connection) -> bool:
    """Whether any row is new."""
    return db.execute("SELECT 1 FROM intake WHERE state = 'new' LIMIT 1").fetchone() is not None


def waits(db: sqlite3.Connection, session_id: str) -> bool:
    """Whether a row of the session is new."""
    return db.execute("SELECT 1 FROM intake WHERE session_id = ? AND state = 'new' LIMIT 1", (session_id,)).fetchone() is not None


def count(db: sqlite3.Connection, reason: str, now: int) -> None:
    """Add one to the count of a reason."""
    held = counts(db)
    status.put(db, COUNTS, {**held, reason: {"count": held.get(reason, {}).get("count", 0) + 1, "last_ms": now}}, now)


def counts(db: sqlite3.Connection) -> dict[str, dict[str, int]]:
    """The counts by reason."""
    held: dict[str, Any] = status.get(db, COUNTS) or {}
    return {reason: entry for reason, entry in held.items() if isinstance(entry, dict)}
