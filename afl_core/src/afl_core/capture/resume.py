"""Where reading goes on in a file: at the known place, also when the file was moved, copied or compressed, and from the start when it is another.

A session can have several files. Each has generations of its own, numbered through the session, so that what stands in a file that was begun
later comes later. Reads the store and the file, changes nothing.
"""

from __future__ import annotations

import os
import sqlite3
from typing import Any

import attrs

from afl_core.capture.batch import Session
from afl_core.capture.read import Transcript
from afl_core.store import cursors, events, transcripts
from afl_core.store.cursors import Cursor
from afl_core.vault.keys import PublicHalf
from afl_core.vault.seal import keyed_hash

ANCHOR_DIGITS = 32
"""Hex digits of the hash that an anchor is."""


@attrs.frozen
class Start:
    """`cursor`: where reading goes on. `moved`: the stored cursor of the same file under the name it had before.

    `is_alias`: the file is read under another name already (a second link, a directory reached through a link), and not through this one.
    """

    cursor: Cursor
    moved: Cursor | None = None
    is_alias: bool = False


def anchor_of(transcript: Transcript, offset: int, half: PublicHalf) -> str | None:
    """What tells the place again: a keyed hash of the bytes before it, from which nobody learns them. None at the start of the file."""
    if offset == 0:
        return None
    return keyed_hash(half.name_key, "anchor", transcript.before(offset))[:ANCHOR_DIGITS]


def start(db: sqlite3.Connection, session: Session, path: str, transcript: Transcript, half: PublicHalf) -> Start:
    """The stored cursor when it fits the file; the one of another file of the session that this one continues; else one from the start."""
    known = cursors.get(db, path)
    if known is not None and known.session_id == session.session_id and _fits(known, transcript, half):
        return Start(_at(known, transcript))
    others = [cursor for cursor in cursors.of_session(db, session.session_id) if cursor.path != path]
    fresh = Cursor(
        path=path,
        host=session.host,
        session_id=session.session_id,
        device=transcript.device,
        inode=transcript.inode,
        generation=_next_generation(db, session.session_id, [*others, *([known] if known else [])]),
        offset=0,
        skipping=False,
        state={},
        thread={},
        gaps=known.gaps if known else [],
        version=known.version if known else 0,
    )
    for other in others:
        is_there = _is_there(other)
        if is_there and (other.device, other.inode) == (transcript.device, transcript.inode):
            return Start(fresh, is_alias=True)
        if other.offset > 0 and _fits(other, transcript, half):
            if not is_there and known is None:
                return Start(_at(attrs.evolve(other, path=path), transcript), moved=other)
            copied = attrs.evolve(other, path=path, generation=fresh.generation, version=fresh.version)
            return Start(_at(copied, transcript))
    if known is not None and known.session_id == session.session_id:  # cut, or written anew
        return Start(attrs.evolve(fresh, thread=_secrets(known.thread)))
    return Start(_another_file(db, fresh, others))


def _next_generation(db: sqlite3.Connection, session_id: str, read: list[Cursor]) -> int:
    """One that no event of the session has yet; the first is 1, where what only hooks saw so far stands too."""
    if not read:
        return 1
    return max(events.last_generation(db, session_id), *(cursor.generation for cursor in read)) + 1


def _another_file(db: sqlite3.Connection, fresh: Cursor, others: list[Cursor]) -> Cursor:
    """Another file of a session: it goes on with what is remembered of the one before it, and one that was found late stands before the later ones."""
    order = [file.path for file in transcripts.of_session(db, fresh.session_id)]
    mine = order.index(fresh.path) if fresh.path in order else len(order)
    place = {path: number for number, path in enumerate(order)}
    earlier = [cursor for cursor in others if place.get(cursor.path, -1) < mine]
    later = [cursor for cursor in others if place.get(cursor.path, -1) > mine]
    thread = earlier[0].thread if earlier else _secrets(others[0].thread) if others else {}
    generation = fresh.generation
    if later:
        until = min(cursor.generation for cursor in later)
        unread = sum(path not in {cursor.path for cursor in others} for path in order[mine : min(place[cursor.path] for cursor in later)])
        wanted = earlier[0].generation + 1 if earlier else until - unread
        if wanted < until and not events.has_generation(db, fresh.session_id, wanted):
            generation = wanted
    return attrs.evolve(fresh, generation=generation, thread=thread)


def _secrets(thread: dict[str, Any]) -> dict[str, Any]:
    return {"secrets": thread.get("secrets", [])}


def _at(cursor: Cursor, transcript: Transcript) -> Cursor:
    return attrs.evolve(cursor, device=transcript.device, inode=transcript.inode)


def _fits(cursor: Cursor, transcript: Transcript, half: PublicHalf) -> bool:
    """Whether what was read up to the cursor stands in this file too."""
    if cursor.offset > transcript.size:
        return False
    if cursor.offset == 0 or cursor.anchor is not None:
        return cursor.anchor == anchor_of(transcript, cursor.offset, half)
    is_same = (cursor.device, cursor.inode) == (transcript.device, transcript.inode)
    return is_same and (cursor.skipping or transcript.continues_at(cursor.offset))


def _is_there(cursor: Cursor) -> bool:
    """Whether the file of a cursor is still where it was."""
    try:
        found = os.lstat(cursor.path)
    except OSError:
        return False
    return (found.st_dev, found.st_ino) == (cursor.device, cursor.inode)
