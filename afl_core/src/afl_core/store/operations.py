"""Rows of `operations` and `tombstones`: what happened to grains beside being added, and which values stay out. Writers join the caller's transaction."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from typing import Final

import attrs

SUPERSEDE: Final = "supersede"
LINK: Final = "link"
UNLINK: Final = "unlink"
RETRACT: Final = "retract"
RESTORE: Final = "restore"
FORGET: Final = "forget"
MERGE: Final = "merge"


@attrs.frozen
class Operation:
    """One row. `after_seq`: the last grain that was there then. `other`: what took the place of `hash`. `heads`: the heads before."""

    n: int
    after_seq: int
    op: str
    hash: str
    other: str | None
    at_ms: int
    heads: tuple[str, ...] = ()


_COLUMNS = "n, after_seq, op, hash, other, at_ms, heads"


def log(db: sqlite3.Connection, op: str, address: str, other: str | None, now: int, *, heads: Sequence[str] | None = None) -> int:
    """Note that something happened to a grain; gives the row's number. `heads`: of its thing before, by default the grain alone."""
    before = None if heads is None or list(heads) == [address] else json.dumps(list(heads), separators=(",", ":"))
    done = db.execute(
        "INSERT INTO operations (after_seq, op, hash, other, at_ms, heads)"
        " VALUES ((SELECT coalesce(max(seq), 0) FROM grains), ?, ?, ?, ?, ?)",
        (op, address, other, now, before),
    )
    return int(done.lastrowid or 0)


def in_order(db: sqlite3.Connection, after: int = 0) -> list[Operation]:
    """Every row behind a number, in order."""
    return [_read(row) for row in db.execute(f"SELECT {_COLUMNS} FROM operations WHERE n > ? ORDER BY n", (after,))]  # noqa: S608 - fixed


def hidden_by(db: sqlite3.Connection, address: str) -> Operation | None:
    """The newest row that took a grain out of recall."""
    row = db.execute(
        f"SELECT {_COLUMNS} FROM operations WHERE hash = ? AND op IN (?, ?, ?, ?) ORDER BY n DESC LIMIT 1",  # noqa: S608 - fixed names
        (address, SUPERSEDE, LINK, RETRACT, MERGE),
    ).fetchone()
    return _read(row) if row else None


def forgotten(db: sqlite3.Connection, after: int = 0) -> list[Operation]:
    """Forgotten grains behind a number, in order."""
    return [one for one in in_order(db, after) if one.op == FORGET]


def was_forgotten(db: sqlite3.Connection, address: str) -> bool:
    """Whether a grain of this address was forgotten."""
    return db.execute("SELECT 1 FROM operations WHERE hash = ? AND op = ? LIMIT 1", (address, FORGET)).fetchone() is not None


def _read(row: Sequence[object]) -> Operation:
    *plain, heads = row
    there = Operation(*plain)  # type: ignore[arg-type]
    return attrs.evolve(there, heads=(there.hash,) if heads is None else tuple(json.loads(str(heads))))


def bury(db: sqlite3.Connection, value_hash: str, now: int) -> None:
    """Let a value stay out from now on."""
    db.execute("INSERT OR IGNORE INTO tombstones (value_hash, at_ms) VALUES (?, ?)", (value_hash, now))


def unbury(db: sqlite3.Connection, value_hash: str) -> bool:
    """Let it in again; False when it was not kept out."""
    return db.execute("DELETE FROM tombstones WHERE value_hash = ?", (value_hash,)).rowcount == 1


def is_buried(db: sqlite3.Connection, value_hash: str) -> bool:
    """Whether a value stays out."""
    return db.execute("SELECT 1 FROM tombstones WHERE value_hash = ?", (value_hash,)).fetchone() is not None


def any_buried(db: sqlite3.Connection) -> bool:
    """Whether any value does."""
    return db.execute("SELECT 1 FROM tombstones LIMIT 1").fetchone() is not None


def buried(db: sqlite3.Connection) -> int:
    """How many values stay out."""
    return int(db.execute("SELECT count(*) FROM tombstones").fetchone()[0])
