"""What reading a transcript again must not bring back: the words of calls that were forgotten, in the index or sealed. Writes nothing."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

import attrs

from afl_core.capture.drafts import Draft
from afl_core.capture.sightings import TRANSCRIPT
from afl_core.memory.tombstones import calls_out
from afl_core.store import events, operations

LOOKED_UP = 256
"""Records that are looked up at once."""


def without_forgotten(db: sqlite3.Connection, session_id: str, drafts: Sequence[Draft]) -> tuple[Draft, ...]:
    """The drafts of a stretch: those of forgotten calls without their words, and without the raw text of a call that is stored already, also in the
    session that this one copies, for it may have been forgotten there. Where nothing ever was forgotten they stay as they are.
    """
    if not operations.any_buried(db):
        return tuple(drafts)
    found: list[Draft] = []
    for at in range(0, len(drafts), LOOKED_UP):
        group = drafts[at : at + LOOKED_UP]
        calls = [one for one in group if one.event.call_id is not None]
        out = calls_out(db, session_id, {str(one.event.call_id) for one in calls})
        known = _known(db, session_id, calls)
        found += [_told(one, out, known) for one in group]
    return tuple(found)


def _known(db: sqlite3.Connection, session_id: str, calls: Sequence[Draft]) -> set[str]:
    """The records that an event stands for, here or in another session."""
    if not calls:
        return set()
    sighted = set(events.sighted_all(db, session_id, TRANSCRIPT, [one.source_id for one in calls]))
    natives = sorted({one.event.native_id for one in calls if one.event.native_id is not None})
    copies = events.elsewhere(db, natives, session_id) if natives else {}
    return sighted | {one.source_id for one in calls if (one.event.native_id, one.event.place.part) in copies}


def _told(draft: Draft, out: set[str], known: set[str]) -> Draft:
    event = draft.event
    if event.call_id is None:
        return draft
    if event.call_id in out:
        return attrs.evolve(draft, event=attrs.evolve(event, text="", tool_name=None), raw="", tool=None)
    return attrs.evolve(draft, raw="") if draft.raw and draft.source_id in known else draft
