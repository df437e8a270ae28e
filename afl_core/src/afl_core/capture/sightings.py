"""One event for everybody who saw it: joining what a hook saw to what the transcript has, without collapsing messages that merely say the same."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

import attrs

from afl_core.capture.drafts import Draft
from afl_core.model.event import Event, EventKind, Role
from afl_core.store import events, intake

HOOK = "hook"
TRANSCRIPT = "transcript"

SAME_MOMENT_MS = 60_000
"""A hook and a transcript that tell of the same turn within this time may tell of the same words, though the host wrapped them (a long paste)."""


@attrs.frozen
class Settled:
    """What became of a draft: the event it is now, and whether it was born here, joined a hook's event, or was known."""

    event: Event
    born: bool
    joined: bool


class Settling:
    """Settles the drafts of one transaction. What is the same for all of them is asked once; new events are written together, by `flush`."""

    def __init__(self, db: sqlite3.Connection, session_id: str, drafts: Sequence[Draft], blob: str | None, now: int) -> None:
        self._db, self._session_id, self._blob, self._now = db, session_id, blob, now
        natives = sorted({draft.event.native_id for draft in drafts if draft.event.native_id is not None})
        self._sighted = events.sighted_all(db, session_id, TRANSCRIPT, [draft.source_id for draft in drafts]) if drafts else {}
        self._copies = events.elsewhere(db, natives, session_id) if natives else {}
        self._waits = intake.waits(db, session_id)
        self._hook_only = events.has_hook_only(db, session_id)
        self._newcomers: list[events.Newcomer] = []
        self._sightings: list[tuple[str, str]] = []

    def settle(self, draft: Draft) -> Settled:
        """One draft, in order: known record, hook-born event, or new."""
        event, db, now = draft.event, self._db, self._now
        known = self._sighted.get(draft.source_id)
        if known is not None:
            self.flush()
            events.read_again(db, known, event, draft.manifest)
            return _known(draft, known)
        copied = self._copies.get((event.native_id, event.place.part)) if event.native_id is not None else None
        if copied is not None:
            self._see(draft, copied)
            self._join_waiting(draft, copied)
            return _known(draft, copied)
        rewritten = events.read_before(db, event, draft.mac) if event.place.generation > 1 else None
        if rewritten is not None:
            events.read_again(db, rewritten, event, draft.manifest)
            self._see(draft, rewritten)
            self.flush()  # the next record may say the same: it is another event's
            return _known(draft, rewritten)
        hook_born = _hook_born(db, draft) if self._hook_only and event.kind is EventKind.MESSAGE else None
        if hook_born is not None:
            events.place_in_transcript(db, hook_born, event, self._blob if draft.raw else None)
            events.read_again(db, hook_born, event, draft.manifest)
            if event.role is Role.ASSISTANT:
                events.retell(db, hook_born, event.text, draft.mac, draft.manifest)
            events.add_sighting(db, event.session_id, TRANSCRIPT, draft.source_id, hook_born, now)
            self._sighted[draft.source_id] = hook_born
            return Settled(attrs.evolve(event, event_id=hook_born), born=False, joined=True)
        self._newcomers.append(events.Newcomer(event, draft.mac or None, draft.manifest, self._blob if draft.raw else None))
        self._see(draft, event.event_id)
        if event.kind is EventKind.MESSAGE:
            self._join_waiting(draft, event.event_id)
        return Settled(event, born=True, joined=False)

    def flush(self) -> None:
        """Write what was settled; what comes next may point at it."""
        if self._newcomers:
            events.insert_all(self._db, self._session_id, self._newcomers)
            self._newcomers = []
        if self._sightings:
            events.add_sightings(self._db, self._session_id, TRANSCRIPT, self._sightings, self._now)
            self._sightings = []

    def _see(self, draft: Draft, event_id: str) -> None:
        self._sightings.append((draft.source_id, event_id))
        self._sighted[draft.source_id] = event_id

    def _join_waiting(self, draft: Draft, event_id: str) -> None:
        waiting = (_waiting(self._db, draft, draft.event.turn) or _waiting(self._db, draft)) if self._waits else None
        if waiting is not None:
            self.flush()
            join(self._db, waiting, draft.event.session_id, event_id, self._now)


def _known(draft: Draft, event_id: str) -> Settled:
    return Settled(attrs.evolve(draft.event, event_id=event_id), born=False, joined=False)


def _hook_born(db: sqlite3.Connection, draft: Draft) -> str | None:
    """The event that only a hook saw so far and that this record is: the same text; else, of a person, the one that was wrapped, and of the
    agent one whose text agrees.

    A hook row of this very turn that still waits for the same text is the better match: then the record is a new event.
    """
    event = draft.event
    same = events.unseen_by(db, event.session_id, TRANSCRIPT, draft.mac, event.role, event.turn)
    if same and (same[0].turn == event.turn or not _waiting(db, draft, event.turn)):
        return same[0].event_id
    if event.turn is None or _waiting(db, draft):
        return None
    unseen = events.unseen_in_turn(db, event.session_id, TRANSCRIPT, event.turn, event.role)
    near = [one for one in unseen if is_same_moment(one.source_ms, event.source_ms)]
    if event.role is Role.USER:
        return near[0].event_id if len(near) == 1 else None
    return next((one.event_id for one in near if agree(one.text, event.text)), None)


def agree(one: str, other: str) -> bool:
    """Whether one text holds the other, white space aside: a stop may name one block of an answer or all of them."""
    one, other = " ".join(one.split()), " ".join(other.split())
    return bool(one and other) and (one in other or other in one)


def is_same_moment(one_ms: int | None, other_ms: int | None) -> bool:
    """Whether two times are known and near each other."""
    return one_ms is not None and other_ms is not None and abs(one_ms - other_ms) <= SAME_MOMENT_MS


def _waiting(db: sqlite3.Connection, draft: Draft, turn: str | None = None) -> str | None:
    """The oldest hook row of the same session, kind and text (and of this turn, when one is given) that waits for its event."""
    kind = "prompt" if draft.event.role is Role.USER else "stop"
    row = db.execute(
        "SELECT intake_id FROM intake WHERE session_id = ? AND kind = ? AND state = 'new' AND text_mac = ? AND coalesce(turn, '') = coalesce(?, turn, '')"
        " ORDER BY received_ms, intake_id LIMIT 1",
        (draft.event.session_id, kind, draft.mac, turn),
    ).fetchone()
    return None if row is None else str(row[0])


def disown(db: sqlite3.Connection, session_id: str, mac: str) -> None:
    """The transcript says that a machine wrote this: the oldest prompt a hook saw with this text, if one waits for its event, never gets one."""
    db.execute(
        "UPDATE intake SET state = 'ignored', sealed = NULL WHERE intake_id = (SELECT intake_id FROM intake WHERE session_id = ?"
        " AND kind = 'prompt' AND state = 'new' AND text_mac = ? ORDER BY received_ms, intake_id LIMIT 1)",
        (session_id, mac),
    )


def join(db: sqlite3.Connection, intake_id: str, session_id: str, event_id: str, now: int) -> None:
    """The hook row is a sighting of this event; its sealed payload is not needed any more."""
    events.add_sighting(db, session_id, HOOK, intake_id, event_id, now)
    db.execute("UPDATE intake SET state = 'joined', sealed = NULL WHERE intake_id = ?", (intake_id,))
