"""Forgetting: rows, index, links and telemetry go, and then the bytes. What is to go can be listed first."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from afl_core.memory import index, tombstones
from afl_core.model.errors import StoreError
from afl_core.store import grains, operations, terms
from afl_core.store.cover import PLAIN, Cover


def forget(db: sqlite3.Connection, hash: str, now: int, *, keep_out: bool, cover: Cover = PLAIN) -> grains.Stored:
    """Delete a grain with everything that is kept of it; gives what it was. In the caller's transaction; `sweep` afterwards removes the bytes.

    Another live grain of its thing becomes the head. `keep_out`: its value cannot be added again, in no spelling.
    """
    there = grains.get(db, hash, cover)
    if there is None:
        raise StoreError(f"there is no grain {hash[:12]}", code="AFL-STORE-020", hint="use the hash of a grain that is there")
    if keep_out:
        operations.bury(db, tombstones.hash_of(db, there.grain), now)
    key = there.grain.head_key
    left = [head for head in grains.heads(db, key, cover) if head != hash] if key is not None else []
    index.remove(db, there, cover)
    grains.delete(db, hash)
    if key is not None:
        grains.set_heads(db, key, left or grains.live_of(db, key, cover)[:1], cover)
    operations.log(db, operations.FORGET, hash, None, now)
    return there


def sweep(db: sqlite3.Connection) -> None:
    """After the commit: merge the index, and let the log of writes be written into the file and emptied, so that no byte is left in either.

    Raises `StoreError` (AFL-STORE-032) when a reader keeps the log from being emptied; the rows are gone, and the next sweep ends it.
    """
    db.execute("BEGIN IMMEDIATE")
    terms.compress(db)
    db.execute("COMMIT")
    busy, *_ = db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    if busy:
        raise StoreError(
            "the grains are deleted, but another process is reading: their bytes are still in the write-ahead log",
            code="AFL-STORE-032",
            hint="close other readers and run: afl forget --sweep",
        )


def subject_hashes(db: sqlite3.Connection, subject: str, ns: str | None, cover: Cover = PLAIN) -> Sequence[str]:
    """The facts about a subject and its parts, whichever way contents are kept."""
    if cover is PLAIN:
        return list(grains.of_subject(db, subject, ns))
    found, after = [], 0
    while batch := grains.in_order(db, after, 1_000, cover):
        after = batch[-1].seq
        for one in batch:
            about = str(one.grain.fields.get("subject", ""))
            if (about == subject or about.startswith(subject + "#")) and ns in (None, one.grain.ns):
                found.append(one.grain.hash)
    return found
