"""Grains and what happened to them as a bundle tells it. Temporary tables hold addresses only.

A *turn* is one change of a grain from live to not live or back; turns are counted, so that two stores can tell whose word on a grain is later.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator
from typing import Any

import attrs

from afl_core.store.address import same
from afl_core.store.connection import reading
from afl_core.store.grains import WITHDRAWN

TOLD = """
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
        FROM ({TOLD}) AS t JOIN grains AS g ON {same("g.hash", "t.hash")} {only}
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
