"""One event for everybody who saw it: joining what a hook saw to what the transcript has, without collapsing messages that merely say the same."""

from __future__ import annotations

import sqlite3

import attrs

from afl_core.capture.drafts import Draft
from afl_core.model.event import Event, EventKind, Role
from afl_core.store import events

HOOK = "hook"
TRANSCRIPT = "transcript"


@attrs.frozen
class Settled:
    """What became of a draft: the event it is now, and whether it was born here, joined a hook's event, or was known."""

    event: Event
    born: bool
    joined: bool


def settle(db: sqlite3.Connection, draft: Draft, now: int) -> Settled:
    """Store one transcript draft, in the caller's transaction: known record, hook-born event, or new."""
    event = draft.event
    known = events.sighted(db, event.session_id, TRANSCRIPT, draft.source_id)
    if known is None and event.native_id is not None:
        known = events.elsewhere(db, event.native_id, event.place.part, event.session_id)
        if known is not None:
            _join_waiting(db, draft, known, now)
    if known is not None:
        return Settled(attrs.evolve(event, event_id=known), born=False, joined=False)
    if event.kind is EventKind.MESSAGE and (hook_born := events.unseen_by(db, event.session_id, TRANSCRIPT, draft.mac, event.role)) is not None:
        events.place_in_transcript(db, hook_born, event)
        events.add_sighting(db, event.session_id, TRANSCRIPT, draft.source_id, hook_born, now)
        return Settled(attrs.evolve(event, event_id=hook_born), born=False, joined=True)
    events.insert(db, event, mac=draft.mac or None, manifest=draft.manifest)
    events.add_sighting(db, event.session_id, TRANSCRIPT, draft.source_id, event.event_id, now)
    if event.kind is EventKind.MESSAGE:
        _join_waiting(db, draft, event.event_id, now)
    return Settled(event, born=True, joined=False)


def _join_waiting(db: sqlite3.Connection, draft: Draft, event_id: str, now: int) -> None:
    """The oldest hook row of the same session, kind and text that waits for its event."""
    kind = "prompt" if draft.event.role is Role.USER else "stop"
    row = db.execute(
        "SELECT intake_id FROM intake WHERE session_id = ? AND kind = ? AND state = 'new' AND text_mac = ? ORDER BY received_ms, intake_id LIMIT 1",
        (draft.event.session_id, kind, draft.mac),
    ).fetchone()
    if row is not None:
        join(db, str(row[0]), draft.event.session_id, event_id, now)


def join(db: sqlite3.Connection, intake_id: str, session_id: str, event_id: str, now: int) -> None:
    """The hook row is a sighting of this event; its sealed payload is not needed any more."""
    events.add_sighting(db, session_id, HOOK, intake_id, event_id, now)
    db.execute("UPDATE intake SET state = 'joined', sealed = NULL WHERE intake_id = ?", (intake_id,))
