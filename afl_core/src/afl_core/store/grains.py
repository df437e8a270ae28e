"""Rows of `grains`. Stores, links and reads; what may be written is decided by `memory`. Writers join the caller's transaction."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from typing import Any

import attrs

from afl_core.model.grain import Grain, GrainType, HeadKey, stored
from afl_core.store.cover import PLAIN, Cover

WITHDRAWN = "withdrawn"
"""In `superseded_by`: the grain was taken back and nothing took its place."""


@attrs.frozen
class Stored:
    """A grain with its place in the store. `seq` grows with every insert; `superseded_by`: None while live, a hash, or `WITHDRAWN`."""

    grain: Grain
    seq: int
    superseded_by: str | None
    derived_from: str | None = None


_STORED = "SELECT seq, hash, type, superseded_by, derived_from, fields_json FROM grains"


def read(row: Sequence[Any], cover: Cover) -> Stored:
    """A grain of a row of seq, hash, type, superseded_by, derived_from and fields."""
    return Stored(stored(row[2], cover.open(row[1], row[5])), row[0], row[3], row[4])


def get(db: sqlite3.Connection, hash: str, cover: Cover = PLAIN) -> Stored | None:
    """One grain by its address."""
    row = db.execute(f"{_STORED} WHERE hash = ?", (hash,)).fetchone()
    return read(row, cover) if row else None


def place_of(db: sqlite3.Connection, hash: str) -> tuple[int, str | None] | None:
    """(seq, superseded_by) of a grain, without reading it."""
    row = db.execute("SELECT seq, superseded_by FROM grains WHERE hash = ?", (hash,)).fetchone()
    return (row[0], row[1]) if row else None


def addressed(db: sqlite3.Connection, beginning: str, most: int = 8) -> list[str]:
    """Addresses that begin so, in order; at most so many."""
    rows = db.execute("SELECT hash FROM grains WHERE hash >= ? AND hash < ? ORDER BY hash LIMIT ?", (beginning, beginning + "g", most))
    return [row[0] for row in rows]


def in_order(db: sqlite3.Connection, after: int, most: int, cover: Cover = PLAIN) -> list[Stored]:
    """Grains behind a place, in the order they came."""
    return [read(row, cover) for row in db.execute(f"{_STORED} WHERE seq > ? ORDER BY seq LIMIT ?", (after, most))]


def insert(
    db: sqlite3.Connection,
    grain: Grain,
    *,
    derived_from: str | None = None,
    signature: str | None = None,
    head: bool = False,
    cover: Cover = PLAIN,
) -> None:
    """A new row for a grain that is not there yet."""
    db.execute(_INSERT, _row(grain, derived_from, signature, head=head, cover=cover))


def insert_all(db: sqlite3.Connection, signed: Sequence[tuple[Grain, str | None]], cover: Cover = PLAIN) -> None:
    """New rows for grains that are not there yet, each with its signature, in order."""
    db.executemany(_INSERT, [_row(grain, None, signature, head=False, cover=cover) for grain, signature in signed])


_INSERT = (
    "INSERT INTO grains (hash, type, ns, created_ms, superseded_by, derived_from, tool_name, is_error, signature, call_id, session_id,"
    " subject, relation, head, fields_json) VALUES (?, ?, ?, ?, NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)


def _row(grain: Grain, derived_from: str | None, signature: str | None, *, head: bool, cover: Cover) -> tuple[Any, ...]:
    fields, key = grain.fields, grain.head_key
    is_tool = grain.type is GrainType.TOOL
    is_error = fields.get("is_error")
    session = fields.get("session_id")
    return (
        grain.hash,
        grain.type.value,
        fields["namespace"],
        fields["created_at"],
        derived_from or fields.get("derived_from"),
        cover.name(fields["tool_name"]) if is_tool else None,
        int(is_error) if is_tool and is_error is not None else None,
        cover.name(signature) if signature else signature,
        cover.name(fields["tool_call_id"]) if is_tool and "tool_call_id" in fields else None,
        cover.name(session) if session is not None else None,
        cover.name(key.subject) if key else None,
        cover.name(key.relation) if key else None,
        int(head),
        cover.seal(grain.hash, grain.body),
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


def derive(db: sqlite3.Connection, hash: str, old: str) -> None:
    """Say what a grain took the place of, where it does not say so itself."""
    db.execute("UPDATE grains SET derived_from = coalesce(derived_from, ?) WHERE hash = ?", (old, hash))


def delete(db: sqlite3.Connection, hash: str) -> None:
    """Remove a row; what pointed at it points at nothing."""
    db.execute("DELETE FROM grains WHERE hash = ?", (hash,))
    db.execute("UPDATE grains SET superseded_by = ? WHERE superseded_by = ?", (WITHDRAWN, hash))


def heads(db: sqlite3.Connection, key: HeadKey, cover: Cover = PLAIN) -> list[str]:
    """The addresses of the newest grains of a thing, in order."""
    rows = db.execute(
        "SELECT hash FROM grains WHERE ns = ? AND subject = ? AND relation = ? AND head = 1 ORDER BY hash",
        (key.ns, cover.name(key.subject), cover.name(key.relation)),
    )
    return [row[0] for row in rows]


def set_heads(db: sqlite3.Connection, key: HeadKey, hashes: Sequence[str], cover: Cover = PLAIN) -> None:
    """Make these the heads of a thing."""
    db.execute(
        "UPDATE grains SET head = 0 WHERE ns = ? AND subject = ? AND relation = ? AND head = 1",
        (key.ns, cover.name(key.subject), cover.name(key.relation)),
    )
    db.executemany("UPDATE grains SET head = 1 WHERE hash = ?", [(tip,) for tip in hashes])


def live_of(db: sqlite3.Connection, key: HeadKey, cover: Cover = PLAIN) -> list[str]:
    """Live grains that could be heads of a thing, newest first."""
    rows = db.execute(
        "SELECT hash FROM grains WHERE ns = ? AND subject = ? AND relation = ? AND superseded_by IS NULL ORDER BY created_ms DESC, hash DESC",
        (key.ns, cover.name(key.subject), cover.name(key.relation)),
    )
    return [row[0] for row in rows]


def of_subject(db: sqlite3.Connection, subject: str, ns: str | None) -> Iterator[str]:
    """Addresses of the facts about a subject or a part of it (`pat`, `pat#visit1`, never `patricia`), live or not."""
    where = "type = 'fact' AND (subject = ? OR (subject >= ? AND subject < ?))" + ("" if ns is None else " AND ns = ?")
    rows = db.execute(
        f"SELECT hash FROM grains WHERE {where} ORDER BY seq",  # noqa: S608 - fixed texts
        (subject, subject + "#", subject + "$", *(() if ns is None else (ns,))),
    )
    return (row[0] for row in rows.fetchall())


def about(db: sqlite3.Connection, key: HeadKey, most: int, cover: Cover = PLAIN) -> list[Stored]:
    """Every grain of a thing, live or not, newest first."""
    rows = db.execute(
        f"{_STORED} WHERE ns = ? AND subject = ? AND relation = ? ORDER BY created_ms DESC, hash DESC LIMIT ?",
        (key.ns, cover.name(key.subject), cover.name(key.relation), most),
    )
    return [read(row, cover) for row in rows]


def forked(db: sqlite3.Connection, ns: Sequence[str] | None, cover: Cover = PLAIN) -> list[Stored]:
    """The heads of every thing that has more than one."""
    where = "" if ns is None else f" AND ns IN ({', '.join('?' * len(ns))})"
    rows = db.execute(
        f"{_STORED} WHERE head = 1 AND (ns, subject, relation) IN (SELECT ns, subject, relation FROM grains WHERE head = 1{where}"
        " GROUP BY ns, subject, relation HAVING count(*) > 1) ORDER BY ns, subject, relation, hash",
        tuple(ns or ()),
    )
    return [read(row, cover) for row in rows]
