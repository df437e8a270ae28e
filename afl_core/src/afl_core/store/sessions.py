"""Sessions and the projects they belong to. The front runs through this file: named tuples, no attrs. Writers take an open transaction."""

from __future__ import annotations

import sqlite3
from typing import NamedTuple

ALIVE_MS = 30 * 60_000
"""A session without an end event is alive until this long after its last hook or transcript change."""

CANARY = "afl-canary-"
"""Native session ids of the doctor's synthetic events start with this: they are stored like any other, never count as evidence, and are removed."""

CANARY_CLASS = "synthetic_canary"
"""The data class of their events."""

COMPACTION_MS = 30_000
"""How far apart the hook of a compaction and its record may be; opening an epoch for both would give every card twice."""


class Session(NamedTuple):
    """One row of `sessions`; times in ms since the epoch."""

    session_id: str
    host: str
    native_id: str
    project_id: str
    cwd: str
    transcript_path: str | None
    epoch: int
    next_seq: int
    started_ms: int
    seen_ms: int
    ended_ms: int | None


_COLUMNS = ", ".join(Session._fields)


def session_id_of(host: str, native_id: str) -> str:
    """Our id of a host's session."""
    return f"{host}:{native_id}"


def is_canary(session_id: str) -> bool:
    """Whether a session is the doctor's own."""
    return session_id.partition(":")[2].startswith(CANARY)


def add_project(db: sqlite3.Connection, project_id: str, *, root: str, kind: str, lineage: str | None, now: int) -> None:
    """Remember a project; one that is known keeps what it has, and gets a lineage if it had none."""
    db.execute(
        "INSERT INTO projects (project_id, root, kind, lineage, first_seen_ms) VALUES (?, ?, ?, ?, ?)"
        " ON CONFLICT (project_id) DO UPDATE SET lineage = excluded.lineage WHERE lineage IS NULL AND excluded.lineage IS NOT NULL",
        (project_id, root, kind, lineage, now),
    )


def project(db: sqlite3.Connection, project_id: str) -> tuple[str, str, str] | None:
    """A known project as (id, root, kind), or None."""
    row = db.execute("SELECT project_id, root, kind FROM projects WHERE project_id = ?", (project_id,)).fetchone()
    return None if row is None else (row[0], row[1], row[2])


def has_lineage(db: sqlite3.Connection, project_id: str) -> bool:
    """Whether the lineage of a project is known."""
    return db.execute("SELECT 1 FROM projects WHERE project_id = ? AND lineage IS NOT NULL", (project_id,)).fetchone() is not None


def touch(
    db: sqlite3.Connection,
    session_id: str,
    *,
    host: str,
    native_id: str,
    project_id: str,
    cwd: str,
    transcript_path: str | None,
    at_ms: int,
) -> None:
    """Note that a session was seen.

    Its project and directory stay what they were when it was first seen: an agent that changes directory has not changed project. Something
    newer than its end means that it was resumed.
    """
    db.execute(
        "INSERT INTO sessions (session_id, host, native_id, project_id, cwd, transcript_path, started_ms, seen_ms)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
        " ON CONFLICT (session_id) DO UPDATE SET"
        " seen_ms = max(seen_ms, excluded.seen_ms),"
        " transcript_path = coalesce(excluded.transcript_path, transcript_path),"
        " ended_ms = CASE WHEN excluded.seen_ms > ended_ms THEN NULL ELSE ended_ms END",
        (session_id, host, native_id, project_id, cwd, transcript_path, at_ms, at_ms),
    )


def get(db: sqlite3.Connection, session_id: str) -> Session | None:
    """The session, or None."""
    row = db.execute(f"SELECT {_COLUMNS} FROM sessions WHERE session_id = ?", (session_id,)).fetchone()  # noqa: S608 - names of this file
    return None if row is None else Session(*row)


def end(db: sqlite3.Connection, session_id: str, at_ms: int) -> None:
    """Note that a session ended, unless something newer was seen of it."""
    db.execute("UPDATE sessions SET ended_ms = ? WHERE session_id = ? AND seen_ms <= ?", (at_ms, session_id, at_ms))


def open_epoch(db: sqlite3.Connection, session_id: str, at_ms: int) -> None:
    """Start a new epoch: a hook said at `at_ms` that the host compacted its context. One that `reach_epoch` counted already starts none."""
    db.execute(
        "UPDATE sessions SET epoch = epoch + 1 WHERE session_id = ? AND (epoch_ms = 0 OR epoch_ms + ? < ?)",
        (session_id, COMPACTION_MS, at_ms),
    )


def reach_epoch(db: sqlite3.Connection, session_id: str, epoch: int, until_ms: int) -> None:
    """The transcript is in this epoch: all compactions until `until_ms` (0: not known) are counted in it. Never goes back."""
    db.execute("UPDATE sessions SET epoch = max(epoch, ?), epoch_ms = max(epoch_ms, ?) WHERE session_id = ?", (epoch, until_ms, session_id))


def alive(db: sqlite3.Connection, now: int) -> list[Session]:
    """Sessions that have not ended and were seen lately, the most recent first. A time of the future is not believed."""
    rows = db.execute(
        f"SELECT {_COLUMNS} FROM sessions WHERE ended_ms IS NULL AND seen_ms BETWEEN ? AND ? ORDER BY seen_ms DESC",  # noqa: S608
        (now - ALIVE_MS, now),
    )
    return [Session(*row) for row in rows]


def alive_until(db: sqlite3.Connection, now: int) -> int:
    """The moment the last session is or was alive until, in ms since the epoch; 0 when there is none. A time of the future is not believed."""
    row = db.execute(
        "SELECT max(coalesce(ended_ms, seen_ms + :alive)) FROM sessions WHERE seen_ms <= :now AND coalesce(ended_ms, 0) <= :now",
        {"alive": ALIVE_MS, "now": now},
    ).fetchone()
    return int(row[0] or 0)


def with_waiting(db: sqlite3.Connection) -> list[str]:
    """Ids of sessions that have hook rows nobody looked at yet, the longest waiting first."""
    rows = db.execute("SELECT session_id FROM intake WHERE state = 'new' GROUP BY session_id ORDER BY min(received_ms)").fetchall()
    return [str(row[0]) for row in rows]
