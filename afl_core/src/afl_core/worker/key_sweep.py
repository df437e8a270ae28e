"""Forgetting data keys that nothing sealed refers to any more: every start of a process makes one, and a key without records protects nothing."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator

from afl_core.api.home import Home
from afl_core.model.errors import VaultError
from afl_core.store.connection import writing
from afl_core.vault.seal import HEADER_BYTES, KEY_ID_BYTES, TAG_BYTES, key_id_of

HEAD_BYTES = 512
"""Enough of a spool file for its first line and the header of its record."""


def sweep_keys(home: Home, before: int) -> int:
    """Delete keys made before `before` (ms) that no intake row, spool file or blob needs; gives how many.

    Looking takes longer than the write lock may be held. Whoever points at something sealed makes sure of its key in the same transaction,
    so when nobody committed anything since the looking began, what was found still holds; otherwise nothing is deleted this time.
    """
    db = home.db
    version = _version(db)
    old = _out_of_use(db, before)
    if not old:
        return 0
    unneeded = old.difference(_of_spool(home), _of_blobs(home), _of_intake(db))
    with writing(db, durable=True):
        if _version(db) != version:
            return 0
        db.executemany("DELETE FROM vault_keys WHERE key_id = ?", [(key_id,) for key_id in sorted(unneeded)])
    return len(unneeded)


def _version(db: sqlite3.Connection) -> int:
    """A number that another connection's commit changes."""
    return int(db.execute("PRAGMA data_version").fetchone()[0])


def _out_of_use(db: sqlite3.Connection, before: int) -> set[str]:
    """Keys made before then. Of spool keys the newest of them is not among them: a hook may have read it just before it was replaced."""
    rows = db.execute(
        "SELECT key_id FROM vault_keys WHERE created_ms < :before AND (purpose <> 'spool' OR created_ms <"
        " (SELECT max(created_ms) FROM vault_keys WHERE purpose = 'spool' AND created_ms < :before))",
        {"before": before},
    )
    return {str(row[0]) for row in rows}


def _of_intake(db: sqlite3.Connection) -> set[str]:
    # A sealed record starts with five bytes of magic, then the key's id.
    rows = db.execute("SELECT DISTINCT lower(hex(substr(sealed, 6, ?))) FROM intake WHERE sealed IS NOT NULL", (KEY_ID_BYTES,))
    return {str(row[0]) for row in rows}


def _of_spool(home: Home) -> Iterator[str]:
    current = _read(home.paths.spool_key, KEY_ID_BYTES)
    if len(current) == KEY_ID_BYTES:
        yield current.hex()
    for name in _names(home.paths.spool):
        _line, _, record = _read(os.path.join(home.paths.spool, name), HEAD_BYTES).partition(b"\n")
        yield from _id(record)


def _of_blobs(home: Home) -> Iterator[str]:
    for name, _modified in home.blobs.names():
        yield from _id(_read(home.blobs.path(name), HEADER_BYTES + TAG_BYTES))


def _id(record: bytes) -> Iterator[str]:
    try:
        yield key_id_of(record)
    except VaultError:
        return  # no record of ours, or a cut one: no key opens it


def _names(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except FileNotFoundError:
        return []


def _read(path: str, size: int) -> bytes:
    try:
        with open(path, "rb") as handle:
            return handle.read(size)
    except FileNotFoundError:
        return b""
