"""Events that only a hook saw: after a grace the transcript still does not have them (its record is late, wrapped, or will never come), so they are born from the hook's payload."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping

import attrs

from afl_core.capture.drafts import Draft, bounded
from afl_core.capture.limits import MESSAGE_CHARS
from afl_core.capture.payload import read_payload
from afl_core.capture.sightings import HOOK, join
from afl_core.capture.sync import Batch, Consumer, Newborn, Session, Tools
from afl_core.model.event import Event, EventKind, Place, Role
from afl_core.model.ids import new_id
from afl_core.store import events
from afl_core.store.connection import writing
from afl_core.vault.keys import Opener

GRACE_MS = 120_000
"""How long the transcript has to show what a hook saw; a session that ended waits only `ENDED_GRACE_MS`."""

ENDED_GRACE_MS = 5_000

SAME_MOMENT_MS = 60_000
"""A transcript message of the same turn within this time is the same words wrapped by the host."""


@attrs.frozen
class Waiting:
    """A hook row whose event is not known yet."""

    intake_id: str
    kind: str
    turn: str | None
    transcript_size: int | None
    total_bytes: int
    sealed: bytes
    received_ms: int


def due(db: sqlite3.Connection, session_id: str, now: int, ended: bool) -> list[Waiting]:
    """Hook rows that waited long enough, oldest first. A time that lies in the future counts as past."""
    grace = ENDED_GRACE_MS if ended else GRACE_MS
    rows = db.execute(
        "SELECT intake_id, kind, turn, transcript_size, total_bytes, sealed, received_ms FROM intake WHERE session_id = ? AND state = 'new' AND kind IN ('prompt', 'stop') AND sealed IS NOT NULL"
        " AND text_mac IS NOT NULL AND (received_ms <= ? OR received_ms > ?) ORDER BY received_ms, intake_id",
        (session_id, now - grace, now + GRACE_MS),
    )
    return [Waiting(*row) for row in rows]


def adopt(db: sqlite3.Connection, session: Session, fields: Mapping[str, str], opener: Opener, tools: Tools, consume: Consumer, *, ended: bool) -> int:
    """Give every overdue hook row its event; returns how many were born. Raises `VaultError` when the keystore cannot open them: they keep waiting."""
    born = 0
    for waiting in due(db, session.session_id, tools.clock(), ended):
        if (known := _wrapped(db, session, waiting)) is not None:
            with writing(db):
                join(db, waiting.intake_id, session.session_id, known, tools.clock())
            continue
        name = fields["prompt"] if waiting.kind == "prompt" else fields.get("answer", "")
        opened = opener.open(f"intake:{waiting.intake_id}", waiting.sealed)
        payload = read_payload(opened, waiting.total_bytes > len(opened), tuple(fields.values())) or {}
        text = payload.get(name)
        if not isinstance(text, str) or not text.strip() or text.lstrip().startswith("/"):
            with writing(db):
                db.execute("UPDATE intake SET state = 'ignored', sealed = NULL WHERE intake_id = ?", (waiting.intake_id,))
            continue
        draft = _draft(session, waiting, text, tools)
        with writing(db):
            tools.writer.register(db)
        event = attrs.evolve(draft.event, blob=tools.blobs.put(tools.writer, opened))
        with writing(db):
            if _taken(db, session.session_id, waiting.intake_id):
                continue
            events.insert(db, event, mac=draft.mac, manifest=draft.manifest)
            events.add_sighting(db, session.session_id, HOOK, waiting.intake_id, event.event_id, tools.clock())
            db.execute("UPDATE intake SET state = 'born', sealed = NULL WHERE intake_id = ?", (waiting.intake_id,))
            consume(db, Batch((Newborn(event=event, by_person=draft.by_person, signal=None, draft=draft, born=True),), (), ()))
        born += 1
    return born


def _taken(db: sqlite3.Connection, session_id: str, intake_id: str) -> bool:
    return events.sighted(db, session_id, HOOK, intake_id) is not None


def _wrapped(db: sqlite3.Connection, session: Session, waiting: Waiting) -> str | None:
    """The one message of the same turn and moment that no hook has claimed: the host wrapped the words (a long paste), so the keyed hashes differ."""
    if waiting.turn is None:
        return None
    role = Role.USER if waiting.kind == "prompt" else Role.ASSISTANT
    near = []
    for event_id in events.unseen_in_turn(db, session.session_id, HOOK, waiting.turn, role):
        event = events.get(db, event_id)
        if event is not None and event.source_ms is not None and abs(event.source_ms - waiting.received_ms) <= SAME_MOMENT_MS:
            near.append(event_id)
    if role is Role.ASSISTANT:
        return near[-1] if near else None  # a stop names the turn's last answer
    return near[0] if len(near) == 1 else None


def _draft(session: Session, waiting: Waiting, text: str, tools: Tools) -> Draft:
    person = waiting.kind == "prompt"
    redacted, _whole = bounded(text, MESSAGE_CHARS, tools.chain, ())
    event = Event(
        event_id=new_id(),
        session_id=session.session_id,
        project_id=session.project_id,
        place=Place(1, waiting.transcript_size or 0, 0),
        epoch=session.epoch,
        kind=EventKind.MESSAGE,
        role=Role.USER if person else Role.ASSISTANT,
        text=redacted.text,
        turn=waiting.turn,
        completeness="hook_only",
        source_ms=waiting.received_ms,
        captured_ms=tools.clock(),
    )
    return Draft(event=event, raw=text, mac=tools.writer.half.text_mac(text), manifest=redacted.manifest, source_id="", by_person=person)
