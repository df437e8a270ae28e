"""Forgetting: rows, index, links and telemetry go, and then the bytes. What is to go can be listed first.

A forget is three steps, and a process may die behind each: the rows go in one transaction, the sidecar is scrubbed, the bytes are swept. Until the
last one is done the memory knows that it is not, and whoever opens it, sweeps it or forgets next does the rest.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager

from afl_core.memory import index, tombstones
from afl_core.memory import terms as words
from afl_core.model.errors import StoreError
from afl_core.model.grain import GrainType
from afl_core.model.grain_text import texts_of
from afl_core.model.lesson import project_ns
from afl_core.store import calls, grains, kinds, operations, status, terms, wal
from afl_core.store.connection import name_of, writing
from afl_core.store.cover import PLAIN, Cover
from afl_core.store.trouble import explain


def forget(db: sqlite3.Connection, address: str, now: int, *, keep_out: bool, cover: Cover = PLAIN) -> grains.Stored:
    """Delete a grain with everything that is kept of it; gives what it was. In the caller's transaction; `sweep` afterwards removes the bytes.

    Another live grain of its thing becomes the head; what it had taken the place of is linked to what took its own. `keep_out`: its value cannot
    be added again, in no spelling. A call of a session stays out of what is captured in any case: its transcript may be read again.
    """
    there = grains.get(db, address, cover)
    if there is None:
        raise StoreError(f"there is no grain {address[:12]}", code="AFL-STORE-020", hint="use the hash of a grain that is there")
    if keep_out:
        tombstones.bury(db, there.grain, now, cover)
    tombstones.bury_call(db, there.grain, now, cover)
    key = there.grain.head_key
    tips = grains.heads(db, key, cover) if key is not None else []
    index.remove(db, there, cover)
    grains.delete(db, address)
    if key is not None and address in tips:
        left = [head for head in tips if head != address]
        grains.set_heads(db, key, left or grains.live_of(db, key, cover)[:1], cover)
    n = operations.log(db, operations.FORGET, address, None, now, heads=())
    status.set_meta(db, status.FORGOT_LAST, str(n))
    return there


def expire(db: sqlite3.Connection, before_ms: int, most: int = index.AT_ONCE) -> int:
    """Delete captured tool calls (of projects: what people recorded stays) older than a time, at most so many, in the caller's transaction.

    Gives how many. Not a forgetting: no trace stays.
    """
    gone = kinds.calls_before(db, project_ns(""), before_ms, most)
    for address in gone:
        there = grains.get(db, address)
        if there is not None:
            index.remove(db, there)
            grains.delete(db, address)
    return len(gone)


def last(db: sqlite3.Connection) -> int:
    """Number of the operation that forgot last; 0 when nothing was forgotten. It never falls: of two looks the later one has seen as much."""
    return int(status.meta(db, status.FORGOT_LAST, "0").partition(":")[0])


def pending(db: sqlite3.Connection) -> list[str]:
    """Addresses of forgotten grains whose bytes may still be somewhere."""
    swept = int(status.meta(db, status.FORGET_SWEPT, "0"))
    return [one.hash for one in operations.forgotten(db, swept)] if last(db) > swept else []


def is_to_be_made_anew(db: sqlite3.Connection) -> bool:
    """Whether bytes of what was forgotten long ago may still be between the rows of a file."""
    return bool(status.meta(db, status.FORGET_ANEW))


def sweep(
    db: sqlite3.Connection,
    upto: int | None = None,
    turn: Callable[[], AbstractContextManager[sqlite3.Connection]] | None = None,
    alone: Callable[[Callable[[sqlite3.Connection], object]], object] | None = None,
) -> bool:
    """After the commit: merge the index, make the file anew, and let the log of writes be written into it and emptied, so that no byte is left in either.

    Everything that was forgotten up to the operation `upto` (the last one, where none is given) is done with then: telemetry was scrubbed of it before.
    Merges in steps that are transactions of their own (`turn` opens one; `alone` keeps other writers away without one). Raises `StoreError`
    (AFL-STORE-032) when the file cannot be made anew or a reader keeps the log from being emptied; the rows are gone, and the next sweep ends it.
    Gives whether the text index was worn and is empty now: everything has to be indexed again, by the caller or by the next search.
    """
    turn = turn if turn is not None else lambda: writing(db)
    upto, going = last(db) if upto is None else upto, True
    if begins_anew := terms.is_worn(db):
        with turn():
            terms.clear(db)
    while going:
        with turn():
            going = terms.compress(db)
    try:
        emptied = wal.renew(db, alone)
    except sqlite3.DatabaseError as bad:  # a damaged page too: making the file anew reads all of it
        known = explain(bad, name_of(db))
        if db.in_transaction:
            raise known from bad  # somebody's who forgets in the middle of a call: nothing is deleted when that is taken back
        said, hint = (_NO_ROOM, _MAKE_ROOM) if "full" in str(bad) else (known.sentence, known.hint)
        raise StoreError(
            f"the grains are deleted, but their bytes are still in the file: {said}",
            code="AFL-STORE-032",
            hint=f"{hint}; then run: afl sweep (or call sweep()); the next forget and the next opening do the same",
        ) from bad
    if not emptied:
        raise StoreError(
            "the grains are deleted, but another process is reading: their bytes are still in the write-ahead log",
            code="AFL-STORE-032",
            hint="close other readers, then run: afl sweep (or call sweep()); the next forget and the next opening do the same",
        )
    with turn():
        status.set_meta(
            db, status.FORGET_SWEPT, str(max(upto, int(status.meta(db, status.FORGET_SWEPT, "0"))))
        )  # a slower sweep takes nothing back
        db.execute("DELETE FROM meta WHERE key = ?", (status.FORGET_ANEW,))
    return begins_anew


_NO_ROOM = "there is no room to make it anew"
_MAKE_ROOM = "free twice the size of the file where it lies, and once its size in the directory of temporary files (SQLITE_TMPDIR)"


def gone_words(db: sqlite3.Connection, forgotten: Sequence[grains.Stored], cover: Cover = PLAIN) -> set[str]:
    """The terms of everything that forgotten grains said and that no other grain holds: no question may keep them either."""
    texts = {text for one in forgotten for text in texts_of(one.grain.fields)}
    said = {term for text in texts for term in words.terms(text) or [text.strip().casefold()]}  # signs alone are no term
    named = {cover.name(term): term for term in said}
    left = terms.frequencies(db, list(named), 1)
    waiting = grains.in_order(db, index.upto(db), UNINDEXED, cover)
    said -= {term for one in waiting for text in texts_of(one.grain.fields) for term in words.terms(text)}
    return {term for name, term in named.items() if name not in left and term in said}


UNINDEXED = 2_000
"""Grains that are not in the index yet and are looked into for a word all the same; the words of more may go with the forgotten ones."""


def session_hashes(db: sqlite3.Connection, session_id: str, ns: str | None, cover: Cover = PLAIN) -> list[str]:
    """The grains of a session. Lessons are changed elsewhere."""
    return calls.of_session(db, cover.name(session_id), ns)


def subject_hashes(db: sqlite3.Connection, subject: str, ns: str | None, cover: Cover = PLAIN) -> Sequence[str]:
    """The grains about a subject and its parts, whichever way contents are kept. Lessons are changed elsewhere."""
    if cover is PLAIN:
        return grains.of_subject(db, subject, ns)
    found, after = [], 0
    while batch := grains.in_order(db, after, 1_000, cover):
        after = batch[-1].seq
        for one in batch:
            about = one.grain.fields.get("subject")
            if one.grain.type is GrainType.LESSON or not isinstance(about, str) or ns not in (None, one.grain.ns):
                continue
            if about == subject or about.startswith(subject + "#"):
                found.append(one.grain.hash)
    return found
