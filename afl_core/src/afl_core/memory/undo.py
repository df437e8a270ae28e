"""Bringing a grain back: whatever took it out of recall is undone, and its thing has the heads it had. Joins the caller's transaction."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from afl_core.model.errors import StoreError
from afl_core.model.grain import HeadKey
from afl_core.store import grains, operations
from afl_core.store.cover import PLAIN, Cover
from afl_core.store.operations import Operation


def undo(db: sqlite3.Connection, address: str, now: int, *, cover: Cover = PLAIN) -> str:
    """Undo the supersession, link, merge or retraction that hid a grain; gives which of them it was.

    A grain that was made to take its place is withdrawn, one that was there before stays; of a merge every head comes back. Heads that were
    set since are left alone. Raises `StoreError` (AFL-STORE-021) for a live grain, or when what took its place is not live any more.
    """
    there, done = _hidden(db, address, cover)
    later = None if done.other is None else _successor(db, done.other, cover)
    back = [address]
    if done.op == operations.MERGE:
        back = [tip for tip in done.heads if (place := grains.place_of(db, tip)) is not None and place[1] == done.other]
    mine = there.grain.head_key
    other = later.grain.head_key if later is not None and done.op != operations.LINK else None
    found = {key: grains.heads(db, key, cover) for key in dict.fromkeys((mine, other)) if key is not None}
    withdrawn = later is not None and done.op != operations.LINK and later.grain.hash not in done.heads
    for number, one in enumerate(back):
        grains.set_superseded(db, one, None)
        if withdrawn and number == 0:  # one row tells of both: this one is live again, the other is withdrawn
            operations.log(db, operations.UNLINK, one, done.other, now)
        else:
            operations.log(db, operations.RESTORE, one, None, now)
    if later is not None and withdrawn:
        grains.set_superseded(db, later.grain.hash, grains.WITHDRAWN)
    for key, tips in found.items():
        grains.set_heads(db, key, _restored(db, key, tips, back, done, cover), cover)
    return done.op


def _hidden(db: sqlite3.Connection, address: str, cover: Cover) -> tuple[grains.Stored, Operation]:
    """A grain that is not live, and what hid it."""
    there = grains.get(db, address, cover)
    if there is None:
        raise StoreError(f"there is no grain {address[:12]}", code="AFL-STORE-020", hint="use the hash of a grain that is there")
    if there.superseded_by is None:
        raise StoreError(
            f"grain {address[:12]} is live: there is nothing to undo", code="AFL-STORE-021", hint="undo a grain that is not live"
        )
    done = operations.hidden_by(db, address)
    if done is None or (done.other or grains.WITHDRAWN) != there.superseded_by:
        raise StoreError(f"nothing is known of how grain {address[:12]} came to be hidden", code="AFL-STORE-021", hint="add it again")
    return there, done


def _successor(db: sqlite3.Connection, address: str, cover: Cover) -> grains.Stored:
    """What took a grain's place, as long as it does."""
    later = grains.get(db, address, cover)
    if later is None or later.superseded_by is not None:
        raise StoreError(
            f"grain {address[:12]} took its place and changed since", code="AFL-STORE-021", hint="undo what happened to that one first"
        )
    return later


def _restored(
    db: sqlite3.Connection, key: HeadKey, found: Sequence[str], back: Sequence[str], done: Operation, cover: Cover
) -> Sequence[str]:
    """The heads of a thing after an undo: what came back stands where its successor stood; heads that were added since stay alone."""
    live = grains.live_of(db, key, cover)
    returning = [one for one in back if one in done.heads and one in live]
    if done.other in found:
        kept = [head for head in found if head != done.other or head in done.heads]
        return [*kept, *returning] or [head for head in done.heads if head in live] or live[:1]
    since = [head for head in found if (place := grains.place_of(db, head)) is not None and place[0] > done.after_seq]
    if since:
        return found
    return [*(head for head in found if head in done.heads and head not in returning), *returning] or found or live[:1]
