"""Rows of `grains` and `heads`. Stores, links and reads; what may be written is decided by `memory.write`. Writers join the caller's transaction."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Any

import attrs

from afl_core.model.grain import Grain, GrainType, HeadKey, stored

WITHDRAWN = "withdrawn"
"""In `superseded_by`: the grain was taken back and nothing took its place."""


@attrs.frozen
class Stored:
    """A grain with its place in the store. `seq` grows with every insert; `superseded_by`: None while live, a hash, or `WITHDRAWN`."""

    grain: Grain
    seq: int
    superseded_by: str | None


def get(db: sqlite3.Connection, hash: str) -> Stored | None:
    """One grain by its address."""
    row = db.execute("SELECT seq, type, superseded_by, fields_json FROM grains WHERE hash = ?", (hash,)).fetchone()
    return Stored(stored(row[1], row[3]), row[0], row[2]) if row else None


def insert(db: sqlite3.Connection, grain: Grain, *, derived_from: str | None = None, signature: str | None = None) -> None:
    """A new row for a grain that is not there yet."""
    db.execute(_INSERT, _row(grain, derived_from, signature))


def insert_all(db: sqlite3.Connection, signed: Sequence[tuple[Grain, str | None]]) -> None:
    """New rows for grains that are not there yet, each with its signature, in order."""
    db.executemany(_INSERT, [_row(grain, None, signature) for grain, signature in signed])


_INSERT = (
    "INSERT INTO grains (hash, type, ns, created_ms, superseded_by, derived_from, tool_name, is_error, signature, call_id, session_id,"
    " fields_json) VALUES (?, ?, ?, ?, NULL, ?, ?, ?, ?, ?, ?, ?)"
)


def _row(grain: Grain, derived_from: str | None, signature: str | None) -> tuple[Any, ...]:
    fields = grain.fields
    is_tool = grain.type is GrainType.TOOL
    is_error = fields.get("is_error")
    return (
        grain.hash,
        grain.type.value,
        grain.ns,
        grain.created_ms,
        derived_from or fields.get("derived_from"),
        fields["tool_name"] if is_tool else None,
        int(is_error) if is_tool and is_error is not None else None,
        signature,
        fields.get("tool_call_id") if is_tool else None,
        fields.get("session_id"),
        grain.body,
    )


def calls_known(db: sqlite3.Connection, session_id: str, call_ids: Sequence[str]) -> set[str]:
    """Which of these tool calls of a session are stored."""
    marks = ", ".join("?" * len(call_ids))
    rows = db.execute(
        f"SELECT call_id FROM grains WHERE type = 'tool' AND session_id = ? AND call_id IN ({marks})",  # noqa: S608 - marks only
        (session_id, *call_ids),
    )
    return {row[0] for row in rows}


def set_superseded(db: sqlite3.Connection, hash: str, by: str | None) -> None:
    """Say what took a grain's place; None makes it live again."""
    db.execute("UPDATE grains SET superseded_by = ? WHERE hash = ?", (by, hash))


def heads(db: sqlite3.Connection, key: HeadKey) -> list[str]:
    """The addresses of the newest grains of a thing, in order."""
    rows = db.execute(
        "SELECT hash FROM heads WHERE ns = ? AND subject = ? AND relation = ? ORDER BY hash", (key.ns, key.subject, key.relation)
    )
    return [row[0] for row in rows]


def set_heads(db: sqlite3.Connection, key: HeadKey, hashes: list[str]) -> None:
    """Make these the heads of a thing."""
    db.execute("DELETE FROM heads WHERE ns = ? AND subject = ? AND relation = ?", (key.ns, key.subject, key.relation))
    db.executemany("INSERT INTO heads VALUES (?, ?, ?, ?)", [(key.ns, key.subject, key.relation, tip) for tip in sorted(set(hashes))])


def live_of(db: sqlite3.Connection, key: HeadKey) -> list[str]:
    """Live grains that could be heads of a thing, newest first."""
    rows = db.execute(
        "SELECT hash, type, fields_json FROM grains WHERE ns = ? AND type IN ('fact', 'lesson') AND superseded_by IS NULL"
        " ORDER BY created_ms DESC, hash DESC",
        (key.ns,),
    )
    return [row[0] for row in rows if stored(row[1], row[2]).head_key == key]
