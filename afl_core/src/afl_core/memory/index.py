"""The text index, made behind the writes: what was added is indexed before the next search, or every few hundred grains."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable

from afl_core.memory import terms
from afl_core.model.grain_text import searchable
from afl_core.store import grains
from afl_core.store import terms as rows
from afl_core.store.connection import writing
from afl_core.store.cover import PLAIN, Cover

AT_ONCE = 500
"""Grains indexed in one transaction."""
WAITING = 1_000
"""Grains that may wait before a write indexes them."""


def body(stored: grains.Stored, cover: Cover) -> str:
    """What the index holds of a grain: its terms, with spaces between; keyed hashes of them where contents are sealed."""
    found = terms.terms(searchable(stored.grain))
    return " ".join(found) if cover is PLAIN else " ".join(cover.name(term) for term in found)


def waiting(db: sqlite3.Connection) -> int:
    """About how many grains are not indexed yet."""
    last = db.execute("SELECT max(seq) FROM grains").fetchone()[0] or 0
    return int(last) - rows.upto(db)


def refresh(db: sqlite3.Connection, cover: Cover = PLAIN, *, progress: Callable[[int], None] = lambda _left: None) -> int:
    """Index whatever waits; gives how many grains that were. An index of older terms is made anew."""
    done = 0
    if rows.version(db) not in (0, terms.VERSION):
        with writing(db):
            rows.clear(db)
    while waiting(db):
        with writing(db):
            found = grains.in_order(db, rows.upto(db), AT_ONCE, cover)
            if not found:  # the last ones were forgotten
                rows.write(db, [], db.execute("SELECT max(seq) FROM grains").fetchone()[0] or 0, terms.VERSION)
                break
            rows.write(db, [(one.seq, body(one, cover)) for one in found], found[-1].seq, terms.VERSION)
        done += len(found)
        progress(waiting(db))
    return done


def remove(db: sqlite3.Connection, stored: grains.Stored, cover: Cover = PLAIN) -> None:
    """Take a grain out, in the transaction that deletes it."""
    if stored.seq <= rows.upto(db):
        rows.remove(db, stored.seq, body(stored, cover))
