"""Rows of `audit` and the erasable texts they point at. What a row's hash covers is decided by `changes.audit`. Writers join the transaction."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

import attrs

_HEAD = "audit_head"


@attrs.frozen
class AuditRow:
    """One link of the chain. `n` counts from 1 without gaps; hashes are 64 hex digits; `at_ms` in ms since the epoch."""

    n: int
    at_ms: int
    actor: str
    action: str
    target: str
    body_hash: str
    reason_hash: str
    previous: str
    hash: str


_COLUMNS = ", ".join(field.name for field in attrs.fields(AuditRow))


def insert(db: sqlite3.Connection, row: AuditRow) -> None:
    """Append a row and remember it as the chain's end."""
    db.execute(f"INSERT INTO audit ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", attrs.astuple(row))  # noqa: S608 - names of this file
    db.execute(
        "INSERT INTO meta VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
        (_HEAD, f"{row.n}:{row.hash}"),
    )


def head(db: sqlite3.Connection) -> tuple[int, str] | None:
    """Number and hash of the row that was appended last, as remembered; None before the first."""
    row = db.execute("SELECT value FROM meta WHERE key = ?", (_HEAD,)).fetchone()
    if row is None:
        return None
    n, _, end = str(row[0]).partition(":")
    return int(n), end


def last(db: sqlite3.Connection) -> AuditRow | None:
    """The row with the highest number."""
    row = db.execute(f"SELECT {_COLUMNS} FROM audit ORDER BY n DESC LIMIT 1").fetchone()  # noqa: S608 - names of this file
    return AuditRow(*row) if row else None


def get(db: sqlite3.Connection, n: int) -> AuditRow | None:
    """One row by its number."""
    row = db.execute(f"SELECT {_COLUMNS} FROM audit WHERE n = ?", (n,)).fetchone()  # noqa: S608 - names of this file
    return AuditRow(*row) if row else None


def newest(db: sqlite3.Connection, limit: int) -> list[AuditRow]:
    """The rows with the highest numbers, highest first."""
    found = db.execute(f"SELECT {_COLUMNS} FROM audit ORDER BY n DESC LIMIT ?", (limit,))  # noqa: S608 - names of this file
    return [AuditRow(*row) for row in found]


def latest_of(db: sqlite3.Connection, target: str) -> AuditRow | None:
    """The newest row of one target."""
    row = db.execute(f"SELECT {_COLUMNS} FROM audit WHERE target = ? ORDER BY n DESC LIMIT 1", (target,)).fetchone()  # noqa: S608 - as above
    return AuditRow(*row) if row else None


def latest_of_targets(db: sqlite3.Connection) -> list[AuditRow]:
    """The newest row of every target, by target."""
    found = db.execute(
        f"SELECT {_COLUMNS} FROM audit WHERE n IN (SELECT max(n) FROM audit GROUP BY target) ORDER BY target"  # noqa: S608 - as above
    )
    return [AuditRow(*row) for row in found]


def rows(db: sqlite3.Connection, *, target: str | None = None, after: int = 0) -> Iterator[AuditRow]:
    """Rows in order; of one target, or of all."""
    where, values = ("n > ? AND target = ?", (after, target)) if target is not None else ("n > ?", (after,))
    for row in db.execute(f"SELECT {_COLUMNS} FROM audit WHERE {where} ORDER BY n", values):  # noqa: S608 - names of this file
        yield AuditRow(*row)


def put_text(db: sqlite3.Connection, hash: str, text: str) -> None:
    """Keep a text under its hash."""
    db.execute("INSERT OR IGNORE INTO audit_texts VALUES (?, ?)", (hash, text))


def text(db: sqlite3.Connection, hash: str) -> str | None:
    """A kept text; None when it was erased."""
    row = db.execute("SELECT text FROM audit_texts WHERE hash = ?", (hash,)).fetchone()
    return row[0] if row else None


def texts(db: sqlite3.Connection) -> Iterator[tuple[str, str]]:
    """Every kept text with the hash it is kept under."""
    for row in db.execute("SELECT hash, text FROM audit_texts ORDER BY hash"):
        yield row[0], row[1]
