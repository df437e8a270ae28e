"""Rows of `grains`. Stores, links and reads; what may be written is decided by `memory`. Writers join the caller's transaction."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Any

import attrs

from afl_core.model.grain import HEADED, Grain, GrainType, HeadKey, kept
from afl_core.store.address import AT, beginning
from afl_core.store.connection import SAME_SCHEMA, written_alone
from afl_core.store.cover import PLAIN, Cover
from afl_core.store.kinds import namespaces

WITHDRAWN = "withdrawn"
"""In `superseded_by`: the grain was taken back and nothing took its place."""


@attrs.frozen
class Stored:
    """A grain with its place in the store. `seq` grows with every insert; `superseded_by`: None while live, a hash, or `WITHDRAWN`."""

    grain: Grain
    seq: int
    superseded_by: str | None
    derived_from: str | None = None


FORKED = 2
"""In `head`: one of several; 1 is the only one, 0 none."""

# In `meta`, `seq_floor` is the largest seq that was deleted while it was the last: none is given twice, for the text index and other readers
# remember how far they came.
_STORED = "SELECT seq, hash, type, superseded_by, derived_from, fields_json FROM grains"


def read(row: Sequence[Any], cover: Cover) -> Stored:
    """A grain of a row of seq, hash, type, superseded_by, derived_from and fields."""
    return Stored(kept(row[2], cover.open(row[1], row[5]), row[1]), row[0], row[3], row[4])


def get(db: sqlite3.Connection, address: str, cover: Cover = PLAIN) -> Stored | None:
    """One grain by its address."""
    row = db.execute(f"{_STORED} WHERE {AT}", (address, address)).fetchone()
    return read(row, cover) if row else None


def place_of(db: sqlite3.Connection, address: str) -> tuple[int, str | None] | None:
    """(seq, superseded_by) of a grain, without reading it."""
    row = db.execute(f"SELECT seq, superseded_by FROM grains WHERE {AT}", (address, address)).fetchone()  # noqa: S608 - a fixed text
    return (row[0], row[1]) if row else None


def type_of(db: sqlite3.Connection, address: str) -> str:
    """The type of a grain that is there."""
    return str(db.execute(f"SELECT type FROM grains WHERE {AT}", (address, address)).fetchone()[0])  # noqa: S608 - a fixed text


def addressed(db: sqlite3.Connection, digits: str, most: int = 8) -> list[str]:
    """Addresses that begin so, in order; at most so many."""
    rows = db.execute(
        "SELECT hash FROM grains WHERE substr(hash, 1, 32) >= ? AND substr(hash, 1, 32) < ? AND substr(hash, 1, ?) = ?"
        " ORDER BY substr(hash, 1, 32) LIMIT ?",
        (*beginning(digits), len(digits), digits, most),
    )
    return [row[0] for row in rows]


def in_order(db: sqlite3.Connection, after: int, most: int, cover: Cover = PLAIN) -> list[Stored]:
    """Grains behind a place, in the order they came."""
    return [read(row, cover) for row in db.execute(f"{_STORED} WHERE seq > ? ORDER BY seq LIMIT ?", (after, most))]


def last_seq(db: sqlite3.Connection) -> int:
    """The place of the grain that came last; 0 when there is none."""
    return int(db.execute("SELECT coalesce(max(seq), 0) FROM grains").fetchone()[0])


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


def insert_unopposed(db: sqlite3.Connection, grain: Grain, signature: str | None = None, cover: Cover = PLAIN) -> bool:
    """Insert a grain, the head of its thing where it has one, in a transaction of its own, if nothing has to be decided.

    False, and nothing is written: it is there already, or its call is; its thing has a head; some values are kept out; the grains that came last
    were deleted.
    """
    is_head = grain.type in HEADED
    row = _row(grain, None, signature, head=is_head, cover=cover)
    ns, call_id, session_id = row[2], row[8], row[9]
    if is_head:
        return written_alone(db, _AS_HEAD, (ns, row[10], row[11], *row)) == 1
    if call_id is not None and session_id is not None:
        return written_alone(db, _AS_CALL, (call_id, session_id, ns, *row)) == 1
    return written_alone(db, _ALONE, row) == 1


_COLUMNS = (
    "hash, type, ns, created_ms, derived_from, tool_name, is_error, signature, call_id, session_id, subject, relation, head, fields_json"
)
_FLOOR = "SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'seq_floor'"
_LAST = "SELECT coalesce(max(seq), 0) FROM grains"
_INSERT = (
    f"INSERT INTO grains ({_COLUMNS}, seq)"  # noqa: S608 - fixed texts
    f" VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1 + max(({_LAST}), coalesce(({_FLOOR}), 0)))"
)


def _unless(opposed: str) -> str:
    """The statement that inserts a row unless something is to be decided first.

    A row must have an address, so one that gets none is ignored, and so is whatever else breaks a rule of the table: looking at it the slow way
    tells. A `SELECT ... WHERE` of the same table would do too, but gathers its rows in a table of its own first.
    """
    above = f"SELECT 1 FROM meta WHERE key = 'seq_floor' AND CAST(value AS INTEGER) > ({_LAST})"  # noqa: S608 - fixed texts
    free = f"NOT EXISTS (SELECT 1 FROM tombstones) AND NOT EXISTS ({above})"  # noqa: S608 - fixed texts
    return (
        f"INSERT OR IGNORE INTO grains ({_COLUMNS})"  # noqa: S608 - fixed texts
        f" VALUES (CASE WHEN {free}{opposed} THEN ? ELSE {SAME_SCHEMA} END, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
    )


_ALONE = _unless("")
_A_HEAD = "FROM grains INDEXED BY grains_subject WHERE ns = ? AND subject = ? AND relation = ? AND head > 0 ORDER BY seq DESC LIMIT 1"
"""One head of a thing, looked for from its newest grain back: it is mostly the first, whatever the thing has of a history."""
_AS_HEAD = _unless(f" AND (SELECT 1 {_A_HEAD}) IS NULL")
_AS_CALL = _unless(" AND NOT EXISTS (SELECT 1 FROM grains WHERE call_id = ? AND +session_id = ? AND +ns = ?)")


def _row(grain: Grain, derived_from: str | None, signature: str | None, *, head: bool, cover: Cover) -> tuple[Any, ...]:
    fields = grain.fields
    is_tool = grain.type is GrainType.TOOL
    is_error = fields.get("is_error")
    session = fields.get("session_id")
    subject, relation = filed(grain, cover)
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
        subject,
        relation,
        int(head),
        cover.seal(grain.hash, grain.body),
    )


def filed(grain: Grain, cover: Cover = PLAIN) -> tuple[str | None, str | None]:
    """The subject and relation a grain is found under, as they are stored; none for a grain without a subject."""
    if grain.type is GrainType.FACT:
        return cover.name(grain.fields["subject"]), cover.name(grain.fields["relation"])
    if (key := grain.head_key) is not None:
        return cover.name(key.subject), cover.name(key.relation)
    subject, relation = grain.fields.get("subject"), grain.fields.get("relation")
    if not isinstance(subject, str):
        return None, None
    return cover.name(subject), cover.name(relation) if isinstance(relation, str) else None


def calls_known(db: sqlite3.Connection, session_id: str, call_ids: Sequence[str]) -> set[str]:
    """Which of these tool calls of a session are stored."""
    marks = ", ".join("?" * len(call_ids))
    rows = db.execute(
        f"SELECT call_id FROM grains WHERE type = 'tool' AND +session_id = ? AND call_id IN ({marks})",  # noqa: S608 - marks only
        (session_id, *call_ids),
    )
    return {row[0] for row in rows}


def call(db: sqlite3.Connection, ns: str, session_id: str, call_id: str, cover: Cover = PLAIN) -> str | None:
    """The address of one tool call of a session; None when it is not there."""
    row = db.execute(
        "SELECT hash FROM grains WHERE type = 'tool' AND call_id = ? AND +session_id = ? AND +ns = ? ORDER BY seq LIMIT 1",
        (cover.name(call_id), cover.name(session_id), ns),
    ).fetchone()
    return row[0] if row else None


def set_superseded(db: sqlite3.Connection, address: str, by: str | None) -> None:
    """Say what took a grain's place; None makes it live again."""
    db.execute(f"UPDATE grains SET superseded_by = ? WHERE {AT}", (by, address, address))  # noqa: S608 - a fixed text


def derive(db: sqlite3.Connection, address: str, old: str) -> None:
    """Say what a grain took the place of, where it does not say so itself."""
    db.execute(f"UPDATE grains SET derived_from = coalesce(derived_from, ?) WHERE {AT}", (old, address, address))  # noqa: S608 - a fixed text


def delete(db: sqlite3.Connection, address: str) -> None:
    """Remove a row. What it had taken the place of is linked to what took its own, or withdrawn when nothing did."""
    row = db.execute(f"SELECT seq, superseded_by, derived_from FROM grains WHERE {AT}", (address, address)).fetchone()  # noqa: S608 - a fixed text
    if row is None:
        return
    db.execute(f"DELETE FROM grains WHERE {AT}", (address, address))  # noqa: S608 - a fixed text
    db.execute("UPDATE grains SET superseded_by = ? WHERE superseded_by = ?", (row[1] or WITHDRAWN, address))
    if row[1] is not None:
        db.execute(f"UPDATE grains SET derived_from = ? WHERE {AT} AND derived_from = ?", (row[2], row[1], row[1], address))  # noqa: S608 - a fixed text
    give_up_place(db, row[0])


def give_up_place(db: sqlite3.Connection, seq: int) -> None:
    """Say that the grain of this place was deleted: the place is not given to another one."""
    if seq > last_seq(db):
        db.execute(
            "INSERT INTO meta (key, value) VALUES ('seq_floor', ?) ON CONFLICT (key) DO UPDATE"
            " SET value = max(CAST(value AS INTEGER), CAST(excluded.value AS INTEGER))",
            (str(seq),),
        )


def heads(db: sqlite3.Connection, key: HeadKey, cover: Cover = PLAIN) -> list[str]:
    """The addresses of the newest grains of a thing, in order. One that is marked as no fork's is the only one."""
    thing = (key.ns, cover.name(key.subject), cover.name(key.relation))
    one = db.execute(f"SELECT hash, head {_A_HEAD}", thing).fetchone()
    if one is None or one[1] != FORKED:
        return [] if one is None else [one[0]]
    rows = db.execute(
        "SELECT hash FROM grains INDEXED BY grains_fork WHERE ns = ? AND subject = ? AND relation = ? AND head = 2 ORDER BY hash", thing
    )
    return [row[0] for row in rows]


def set_heads(db: sqlite3.Connection, key: HeadKey, addresses: Sequence[str], cover: Cover = PLAIN) -> None:
    """Make these the heads of a thing."""
    db.executemany(f"UPDATE grains SET head = 0 WHERE {AT}", [(old, old) for old in heads(db, key, cover)])  # noqa: S608 - a fixed text
    mark = FORKED if len(addresses) > 1 else 1
    db.executemany(f"UPDATE grains SET head = ? WHERE {AT}", [(mark, tip, tip) for tip in addresses])  # noqa: S608 - a fixed text


def live_of(db: sqlite3.Connection, key: HeadKey, cover: Cover = PLAIN) -> list[str]:
    """Live grains that could be heads of a thing, newest first."""
    rows = db.execute(
        "SELECT hash FROM grains WHERE ns = ? AND subject = ? AND relation = ? AND superseded_by IS NULL AND type IN ('fact', 'lesson')"
        " ORDER BY created_ms DESC, hash DESC",
        (key.ns, cover.name(key.subject), cover.name(key.relation)),
    )
    return [row[0] for row in rows]


def of_subject(db: sqlite3.Connection, subject: str, ns: str | None) -> list[str]:
    """Addresses of the grains about a subject or a part of it (`pat`, `pat#visit1`, never `patricia`), live or not."""
    spaces = namespaces(db) if ns is None else [ns]
    found = []
    for space in spaces:
        rows = db.execute(
            "SELECT seq, hash FROM grains WHERE ns = ? AND subject = ? AND type <> 'lesson'"
            " UNION ALL SELECT seq, hash FROM grains WHERE ns = ? AND subject >= ? AND subject < ? AND type <> 'lesson'",
            (space, subject, space, subject + "#", subject + "$"),
        )
        found += [(row[0], row[1]) for row in rows]
    return [address for _, address in sorted(found)]


def about(db: sqlite3.Connection, key: HeadKey, most: int, cover: Cover = PLAIN) -> list[Stored]:
    """What was said of a thing, live or not, newest first: its grains, and those of other things that one of them took the place of.

    Of one millisecond, what came last stands first.
    """
    rows = db.execute(
        "WITH RECURSIVE said (seq, hash) AS ("  # noqa: S608 - fixed texts
        "SELECT seq, hash FROM grains WHERE ns = ? AND subject = ? AND relation = ? AND type IN ('fact', 'lesson')"
        " UNION SELECT grains.seq, grains.hash FROM said JOIN grains ON grains.superseded_by = said.hash"
        f") {_STORED} WHERE seq IN (SELECT seq FROM said) ORDER BY created_ms DESC, seq DESC LIMIT ?",
        (key.ns, cover.name(key.subject), cover.name(key.relation), most),
    )
    return [read(row, cover) for row in rows]


def forked(db: sqlite3.Connection, ns: Sequence[str] | None, cover: Cover = PLAIN) -> list[Stored]:
    """The heads of every thing that has more than one."""
    where = "" if ns is None else f" AND ns IN ({', '.join('?' * len(ns))})"
    rows = db.execute(f"{_STORED} INDEXED BY grains_fork WHERE head = 2{where} ORDER BY ns, subject, relation, hash", tuple(ns or ()))
    return [read(row, cover) for row in rows]
