"""Grains and what happened to them as a bundle tells it, and what an import keeps beside them while it runs. Temporary tables hold addresses only.

A *turn* is one change of a grain from live to not live or back; turns are counted, so that two stores can tell whose word on a grain is later.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator
from typing import Any

import attrs

from afl_core.model.errors import StoreError
from afl_core.store.address import AT, same
from afl_core.store.connection import name_of as path_of
from afl_core.store.connection import reading
from afl_core.store.grains import WITHDRAWN

_TOLD = """
  SELECT n, 0 AS half, op, hash, other, at_ms, after_seq FROM operations WHERE op <> 'forget'
  UNION ALL
  SELECT n, 1, 'retract', other, NULL, at_ms, after_seq FROM operations WHERE op = 'unlink' AND other IS NOT NULL
"""
"""Every turn that is noted: undoing a supersession turns two grains."""


@attrs.frozen
class Row:
    """A grain as it stands: `stored` is its body under the cover; `head`: None for one that is not live or has no thing to be the head of."""

    seq: int
    hash: str
    type: str
    derived_from: str | None
    stored: str | bytes
    head: bool | None
    turns: int


@attrs.frozen
class Event:
    """A turn of a grain that is there, or the forgetting of one that is not. `at_seq`: it belongs behind this grain. `head`: only at a last turn."""

    at_seq: int
    n: int
    half: int
    op: str
    hash: str
    other: str | None
    at_ms: int
    turn: int
    last: bool
    head: bool | None


@contextlib.contextmanager
def snapshot(db: sqlite3.Connection, ns: str | None) -> Iterator[None]:
    """The store as it is now, for `rows` and `events`, whatever others write meanwhile; only one namespace, or all."""
    with reading(db, nested=False):
        _tell(db, ns)
        yield


def rows(db: sqlite3.Connection, ns: str | None) -> Iterator[Row]:
    """The grains in the order they came."""
    found = db.execute(
        f"""
        SELECT seq, grains.hash, type, derived_from, fields_json, superseded_by, head, coalesce(turns, 0) FROM grains
        LEFT JOIN temp.told_turns AS t ON t.hash = grains.hash {_where(ns)} ORDER BY seq
        """,  # noqa: S608 - fixed texts
        _values(ns),
    )
    for seq, address, kind, derived, stored, by, head, turned in found:
        keyed = by is None and kind in ("fact", "lesson")
        yield Row(seq, address, kind, derived, stored, head > 0 if keyed else None, turned)


def events(db: sqlite3.Connection) -> Iterator[Event]:
    """What happened, in order."""
    found = db.execute("SELECT at_seq, n, half, op, hash, other, at_ms, turn, last, head FROM temp.told ORDER BY at_seq, n, half, hash")
    for at_seq, n, half, op, address, other, at_ms, turn, last, head in found:
        yield Event(at_seq, n, half, op, address, other, at_ms, turn, bool(last), None if head is None else head > 0)


def count(db: sqlite3.Connection, ns: str | None) -> int:
    """How many lines `rows` and `events` give."""
    grains = db.execute(f"SELECT count(*) FROM grains {_where(ns)}", _values(ns)).fetchone()[0]  # noqa: S608 - fixed texts
    return int(grains) + int(db.execute("SELECT count(*) FROM temp.told").fetchone()[0])


def _where(ns: str | None) -> str:
    return "" if ns is None else "WHERE ns = ?"


def _values(ns: str | None) -> tuple[Any, ...]:
    return () if ns is None else (ns,)


def _tell(db: sqlite3.Connection, ns: str | None) -> None:
    """Make the tables that `rows` and `events` read. They are gone with the transaction."""
    only = "" if ns is None else "AND g.ns = :ns"
    told, pair = same("g.hash", "told.hash"), f"grains AS g JOIN grains AS o ON {same('o.hash', 'g.superseded_by')}"
    values = {"ns": ns, "withdrawn": WITHDRAWN}
    db.execute("CREATE TEMP TABLE told_turns (hash TEXT PRIMARY KEY, turns INTEGER NOT NULL) WITHOUT ROWID")
    db.execute(
        "CREATE TEMP TABLE told (at_seq INTEGER, n INTEGER, half INTEGER, op TEXT, hash TEXT, other TEXT, at_ms INTEGER, turn INTEGER,"
        " last INTEGER, head INTEGER)"
    )
    db.execute(
        f"""
        INSERT INTO told SELECT
          max(max(t.after_seq, g.seq, coalesce(o.seq, 0))) OVER (PARTITION BY t.hash ORDER BY t.n, t.half),
          t.n, t.half, t.op, t.hash, o.hash, t.at_ms, row_number() OVER (PARTITION BY t.hash ORDER BY t.n, t.half), 0, NULL
        FROM ({_TOLD}) AS t JOIN grains AS g ON {same("g.hash", "t.hash")} {only}
        LEFT JOIN grains AS o ON {same("o.hash", "t.other")} {only.replace("g.", "o.")}
        """,  # noqa: S608 - fixed texts
        values,
    )
    db.execute("INSERT INTO told_turns SELECT hash, max(turn) FROM told GROUP BY hash")
    # A turn that nobody noted (a store of before operations were, a grain that was forgotten and came back) is told last.
    db.execute(
        f"""
        INSERT INTO told SELECT
          max(g.seq, coalesce((SELECT max(at_seq) FROM told WHERE told.hash = t.hash), 0)),
          {2**62}, 0,
          CASE WHEN g.superseded_by IS NULL THEN 'restore' WHEN g.superseded_by = :withdrawn THEN 'retract' ELSE 'supersede' END,
          g.hash, NULL, g.created_ms, coalesce(t.turns, 0) + 1, 0, NULL
        FROM grains AS g LEFT JOIN told_turns AS t ON t.hash = g.hash
        WHERE (coalesce(t.turns, 0) % 2 = 0) <> (g.superseded_by IS NULL) {only}
        """,  # noqa: S608 - fixed texts
        values,
    )
    db.execute(f"INSERT OR REPLACE INTO told_turns SELECT hash, turn FROM told WHERE n = {2**62}")  # noqa: S608 - a number
    db.execute(
        f"""
        UPDATE told SET last = 1,
          other = CASE WHEN turn % 2 = 0 THEN other ELSE
            (SELECT o.hash FROM {pair} {only.replace("g.", "o.")} WHERE {told}) END,
          at_seq = max(at_seq, coalesce((SELECT o.seq FROM {pair} WHERE {told}), 0)),
          head = (SELECT head FROM grains AS g WHERE {told} AND superseded_by IS NULL AND type IN ('fact', 'lesson'))
        WHERE turn = (SELECT turns FROM told_turns AS t WHERE t.hash = told.hash)
        """,  # noqa: S608 - fixed texts
        values,
    )
    if ns is None:  # of a grain that is not there nobody knows the namespace
        db.execute(
            "INSERT INTO told SELECT max(after_seq), max(n), 0, 'forget', hash, NULL, max(at_ms), 0, 1, NULL FROM operations"  # noqa: S608 - fixed texts
            f" WHERE op = 'forget' AND NOT EXISTS (SELECT 1 FROM grains AS g WHERE {same('g.hash', 'operations.hash')}) GROUP BY hash"
        )


# ------------------------------------------------------------------------------------------------------------------------ beside an import

_BESIDE = ("known_turns", "known_forgotten", "forgotten_there", "stand_ins", "foreign_names")


def begin(db: sqlite3.Connection) -> None:
    """Make the tables an import keeps beside the store: turns and forgettings known here, and heads for want of a better one.

    Raises `StoreError` (AFL-STORE-038) inside of another import of this connection.
    """
    if db.execute("SELECT 1 FROM temp.sqlite_master WHERE name = 'known_turns'").fetchone():
        raise StoreError(
            f"something is being imported into {path_of(db)}: from inside of that nothing else can be",
            code="AFL-STORE-038",
            hint="do it afterwards, in another thread or through another handle",
        )
    db.execute("CREATE TEMP TABLE known_turns (hash TEXT PRIMARY KEY, turns INTEGER NOT NULL) WITHOUT ROWID")
    db.execute("CREATE TEMP TABLE known_forgotten (hash TEXT PRIMARY KEY) WITHOUT ROWID")
    db.execute("CREATE TEMP TABLE forgotten_there (hash TEXT PRIMARY KEY) WITHOUT ROWID")
    db.execute("CREATE TEMP TABLE stand_ins (hash TEXT PRIMARY KEY) WITHOUT ROWID")
    db.execute(f"INSERT INTO known_turns SELECT hash, count(*) FROM ({_TOLD}) GROUP BY hash")  # noqa: S608 - fixed text
    db.execute("INSERT OR IGNORE INTO known_forgotten SELECT hash FROM operations WHERE op = 'forget'")


def end(db: sqlite3.Connection) -> None:
    """Remove them."""
    for table in _BESIDE:
        db.execute(f"DROP TABLE IF EXISTS temp.{table}")


def turns(db: sqlite3.Connection, hash: str, *, live: bool) -> int:
    """How often a grain turned, as far as is known here."""
    row = db.execute("SELECT turns FROM temp.known_turns WHERE hash = ?", (hash,)).fetchone()
    noted = row[0] if row else 0
    return int(noted) + ((noted % 2 == 0) != live)


def set_turns(db: sqlite3.Connection, hash: str, count: int) -> None:
    """Note it."""
    db.execute("INSERT OR REPLACE INTO temp.known_turns VALUES (?, ?)", (hash, count))


def was_forgotten(db: sqlite3.Connection, hash: str) -> bool:
    """Whether a grain was forgotten here."""
    return db.execute("SELECT 1 FROM temp.known_forgotten WHERE hash = ?", (hash,)).fetchone() is not None


def set_forgotten(db: sqlite3.Connection, hash: str) -> None:
    """Note it."""
    db.execute("INSERT OR IGNORE INTO temp.known_forgotten VALUES (?)", (hash,))


def is_forgotten_there(db: sqlite3.Connection, hash: str) -> bool:
    """Whether the bundle says of a grain that it was forgotten."""
    return db.execute("SELECT 1 FROM temp.forgotten_there WHERE hash = ?", (hash,)).fetchone() is not None


def set_forgotten_there(db: sqlite3.Connection, hash: str) -> None:
    """Note it."""
    db.execute("INSERT OR IGNORE INTO temp.forgotten_there VALUES (?)", (hash,))


def stands_in(db: sqlite3.Connection, hash: str) -> bool:
    """Whether a grain is a head only because its thing has no better one yet."""
    return db.execute("SELECT 1 FROM temp.stand_ins WHERE hash = ?", (hash,)).fetchone() is not None


def set_stand_in(db: sqlite3.Connection, hash: str) -> None:
    """Note it."""
    db.execute("INSERT OR IGNORE INTO temp.stand_ins VALUES (?)", (hash,))


def stand_ins(db: sqlite3.Connection) -> list[str]:
    """Some of them, in order; `drop_stand_ins` when they are settled."""
    return [row[0] for row in db.execute("SELECT hash FROM temp.stand_ins ORDER BY hash LIMIT 250")]


def drop_stand_in(db: sqlite3.Connection, hash: str) -> None:
    """It is settled."""
    db.execute("DELETE FROM temp.stand_ins WHERE hash = ?", (hash,))


def ns_of(db: sqlite3.Connection, hash: str) -> str | None:
    """The namespace of a grain that is here."""
    row = db.execute(f"SELECT ns FROM grains WHERE {AT}", (hash, hash)).fetchone()  # noqa: S608 - a fixed text
    return row[0] if row else None


def is_blank(db: sqlite3.Connection) -> bool:
    """Whether nothing was ever stored."""
    return db.execute("SELECT 1 FROM grains UNION ALL SELECT 1 FROM operations LIMIT 1").fetchone() is None


def calls(db: sqlite3.Connection, ns: str, session: str | None, call: str) -> list[str]:
    """The addresses of a tool call of a session (names as they are stored)."""
    rows = db.execute("SELECT hash FROM grains WHERE type = 'tool' AND call_id = ? AND +session_id IS ? AND +ns = ?", (call, session, ns))
    return [row[0] for row in rows]


def begin_names(db: sqlite3.Connection) -> None:
    """Make the table of addresses that grains had in another store; `end` removes it."""
    db.execute("CREATE TEMP TABLE foreign_names (theirs TEXT PRIMARY KEY, ours TEXT NOT NULL) WITHOUT ROWID")


def set_name(db: sqlite3.Connection, theirs: str, ours: str) -> None:
    """A grain of another store is here, under this address."""
    db.execute("INSERT OR REPLACE INTO temp.foreign_names VALUES (?, ?)", (theirs, ours))


def name_of(db: sqlite3.Connection, theirs: str) -> str | None:
    """Its address here."""
    row = db.execute("SELECT ours FROM temp.foreign_names WHERE theirs = ?", (theirs,)).fetchone()
    return row[0] if row else None
