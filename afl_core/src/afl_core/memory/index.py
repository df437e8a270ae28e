"""The text index, made behind the writes: what was added is indexed before the next search, or every few hundred grains.

It holds nothing of its own: whoever may read may also bring it up to date, and an index of older terms is emptied and made anew.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import AbstractContextManager

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


def upto(db: sqlite3.Connection) -> int:
    """The place of the last grain that is indexed as it should be; 0 where an older version indexed them."""
    return rows.upto(db) if rows.version(db) == terms.VERSION else 0


def waiting(db: sqlite3.Connection) -> int:
    """How many grains are not indexed yet, at most: those that were deleted meanwhile count."""
    return max(0, grains.last_seq(db) - upto(db))


def refresh(
    db: sqlite3.Connection,
    cover: Cover = PLAIN,
    *,
    turn: Callable[[], AbstractContextManager[sqlite3.Connection]] | None = None,
    progress: Callable[[int], None] = lambda _left: None,
) -> int:
    """Index whatever waits, a few hundred grains a transaction (`turn` opens one); gives how many grains that were."""
    done = 0
    while waiting(db):
        with turn() if turn is not None else writing(db):
            if rows.version(db) not in (0, terms.VERSION):
                rows.clear(db)
            found = grains.in_order(db, rows.upto(db), AT_ONCE, cover)
            upto = found[-1].seq if found else grains.last_seq(db)
            rows.write(db, [(one.seq, body(one, cover)) for one in found], upto, terms.VERSION)
        done += len(found)
        progress(waiting(db))
    return done


def remove(db: sqlite3.Connection, stored: grains.Stored, cover: Cover = PLAIN) -> None:
    """Take a grain out, in the transaction that deletes it. An index of older terms goes as a whole: only they could take it out."""
    if rows.version(db) not in (0, terms.VERSION):
        rows.clear(db)
    elif stored.seq <= rows.upto(db):
        rows.remove(db, stored.seq, body(stored, cover))
