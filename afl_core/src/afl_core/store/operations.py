"""Rows of `operations` and `tombstones`: what happened to grains beside being added, and which values stay out. Writers join the caller's transaction."""

from __future__ import annotations

import sqlite3
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
    """One row. `after_seq`: the last grain that was there then. `other`: what took the place of `hash`."""

    n: int
    after_seq: int
    op: str
    hash: str
    other: str | None
    at_ms: int


def log(db: sqlite3.Connection, op: str, hash: str, other: str | None, now: int) -> None:
    """Note that something happened to a grain."""
    db.execute(
        "INSERT INTO operations (after_seq, op, hash, other, at_ms) VALUES ((SELECT coalesce(max(seq), 0) FROM grains), ?, ?, ?, ?)",
        (op, hash, other, now),
    )


def in_order(db: sqlite3.Connection) -> list[Operation]:
    """Every row, in order."""
    return [Operation(*row) for row in db.execute("SELECT n, after_seq, op, hash, other, at_ms FROM operations ORDER BY n")]


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
