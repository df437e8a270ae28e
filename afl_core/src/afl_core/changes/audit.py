"""The audit chain: every decision about memory is a row whose hash covers the row before it. Bodies and reasons stay erasable."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Mapping
from typing import Any

import attrs

from afl_core.model.codec import canonical
from afl_core.model.ids import digest
from afl_core.store import audit as rows
from afl_core.store.audit import AuditRow
from afl_core.store.connection import reading

START = "0" * 64
"""What the first row follows."""


@attrs.frozen
class Broken:
    """The first row of the chain that does not hold, and why, in one line for a person."""

    n: int
    why: str


def record(db: sqlite3.Connection, *, actor: str, action: str, target: str, body: Mapping[str, Any], reason: str, now: int) -> AuditRow:
    """Append a row in the caller's transaction. `body` holds ids and hashes; the texts are kept beside the chain, under their hashes."""
    before = rows.last(db)
    n, previous = (before.n + 1, before.hash) if before else (1, START)
    body_text = canonical(body)
    body_hash, reason_hash = _text_hash(body_text), _text_hash(reason)
    rows.put_text(db, body_hash, body_text)
    rows.put_text(db, reason_hash, reason)
    row = AuditRow(n, now, actor, action, target, body_hash, reason_hash, previous, "")
    row = attrs.evolve(row, hash=row_hash(row))
    rows.insert(db, row)
    return row


def row_hash(row: AuditRow) -> str:
    """SHA-256 over everything a row says and the hash of the row before it."""
    return digest(
        "audit:v1", canonical([row.n, row.at_ms, row.actor, row.action, row.target, row.body_hash, row.reason_hash, row.previous])
    )


def verify_chain(db: sqlite3.Connection) -> Broken | None:
    """Read the whole chain; None when it holds, otherwise its first broken row. Erased texts are no break, altered ones are.

    Looks at the chain as it is at one moment: others may append to it meanwhile.
    """
    with reading(db):
        return _first_broken(db)


def _first_broken(db: sqlite3.Connection) -> Broken | None:
    altered = {name for name, text in rows.texts(db) if _text_hash(text) != name}
    n, previous = 0, START
    for row in rows.rows(db):
        n += 1
        if row.n != n:
            return Broken(n, f"row {n} is missing")
        if row.previous != previous:
            return Broken(n, f"row {n} does not follow row {n - 1}")
        if row.hash != row_hash(row):
            return Broken(n, f"row {n} was altered")
        if {row.body_hash, row.reason_hash} & altered:
            return Broken(n, f"a text of row {n} was altered")
        previous = row.hash
    remembered = rows.head(db)
    if remembered is None:
        return Broken(n, "the chain's end is not recorded") if n else None
    if remembered[0] > n:
        return Broken(n + 1, f"row {n + 1} is missing")
    if remembered != (n, previous):
        return Broken(n, f"row {n} is not the recorded end of the chain")
    return None


def _text_hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
