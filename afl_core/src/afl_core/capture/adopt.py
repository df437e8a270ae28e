"""Events that only a hook saw: after a grace the transcript still does not have them (its record is late, wrapped, or will never come), so they are born from the hook's payload."""

from __future__ import annotations

import logging
import re
import sqlite3

import attrs

from afl_core.capture.batch import Announce, Batch, Consumer, Newborn, Session, Tools
from afl_core.capture.drafts import Draft, bounded
from afl_core.capture.limits import MESSAGE_CHARS
from afl_core.capture.payload import own_words, read_payload
from afl_core.capture.sightings import HOOK, SAME_MOMENT_MS, agree, is_same_moment, join
from afl_core.model.errors import VaultError
from afl_core.model.event import Event, EventKind, Place, Role
from afl_core.model.ids import new_id
from afl_core.spec.host import HostManifest
from afl_core.store import cursors, events, intake, sessions
from afl_core.store.connection import writing
from afl_core.vault.keys import Opener

GRACE_MS = 120_000
"""How long the transcript has to show what a hook saw; a session that ended waits only `ENDED_GRACE_MS`."""

ENDED_GRACE_MS = 5_000

SLASH_COMMAND = re.compile(r"\s*/[\w:.-]+(\s|$)")
"""A command of the host, not words to the agent; a path has a second slash."""

BROKEN_RECORD = ("AFL-VAULT-002", "AFL-VAULT-003", "AFL-VAULT-006")
"""The record itself can never be opened, whatever the keystore holds."""

log = logging.getLogger("afl.capture")


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


def due(db: sqlite3.Connection, session_id: str, now: int, ended: bool, *, patient: bool = True) -> list[Waiting]:
    """Hook rows that waited long enough, oldest first; without `patient` all of them. A time that lies in the future counts as past."""
    grace = 0 if not patient else ENDED_GRACE_MS if ended else GRACE_MS
    rows = db.execute(
        "SELECT intake_id, kind, turn, transcript_size, total_bytes, sealed, received_ms FROM intake WHERE session_id = ? AND state = 'new'"
        " AND kind IN ('prompt', 'stop') AND sealed IS NOT NULL AND (received_ms <= ? OR received_ms > ?) ORDER BY received_ms, intake_id",
        (session_id, now - grace, now + GRACE_MS),
    )
    return [Waiting(*row) for row in rows]


def adopt(
    db: sqlite3.Connection,
    session: Session,
    manifest: HostManifest,
    opener: Opener,
    tools: Tools,
    consume: Consumer,
    *,
    ended: bool,
    announce: Announce = lambda _events: None,
) -> int:
    """Give every overdue hook row its event (without `tools.patient`: every row); returns how many were born.

    Raises `VaultError` when the keystore cannot open them and `RedactionError` when their text cannot be judged: they keep waiting.
    """
    born = 0
    for waiting in due(db, session.session_id, tools.clock(), ended, patient=tools.patient):
        opened = _open(db, waiting, opener, tools)
        text = _words(waiting, opened, manifest) if opened is not None else None
        if opened is None or text is None:
            _set_aside(db, waiting, keep_sealed=opened is None)
            continue
        draft = _draft(db, session, waiting, text, tools)
        if (known := _seen_already(db, waiting, draft)) is not None:
            with writing(db):
                if not _is_taken(db, waiting.intake_id):
                    join(db, waiting.intake_id, session.session_id, known, tools.clock())
            continue
        if (event := _bear(db, waiting, draft, opened, tools, consume)) is not None:
            born += 1
            announce([event])
    return born


def _set_aside(db: sqlite3.Connection, waiting: Waiting, *, keep_sealed: bool) -> None:
    """Nothing can be born from this row. A record that does not open stays until its retention: a backup may hold its key."""
    with writing(db):
        db.execute(
            "UPDATE intake SET state = 'ignored', sealed = CASE WHEN ? THEN sealed END WHERE intake_id = ? AND state = 'new'",
            (keep_sealed, waiting.intake_id),
        )


def _open(db: sqlite3.Connection, waiting: Waiting, opener: Opener, tools: Tools) -> bytes | None:
    try:
        return opener.open(intake.context_of(waiting.intake_id), waiting.sealed)
    except VaultError as bad:
        if bad.code not in BROKEN_RECORD:
            raise
        log.warning("hook record %s: %s: %s", waiting.intake_id, bad.code, bad.sentence)
        with writing(db):
            intake.count(db, "bad_intake_record", tools.clock())
        return None


def _words(waiting: Waiting, opened: bytes, manifest: HostManifest) -> str | None:
    """The prompt or the answer in the payload; None for none and for a command of the host."""
    is_cut = waiting.total_bytes > len(opened)
    fields = manifest.fields
    payload = read_payload(opened, is_cut, tuple(fields.values())) or {}
    text = payload.get(fields.get("prompt" if waiting.kind == "prompt" else "answer", ""))
    if isinstance(text, str) and waiting.kind == "prompt":
        text = own_words(text, manifest.prepended, manifest.appended)
    if not isinstance(text, str) or not text.strip():
        return None
    return None if waiting.kind == "prompt" and SLASH_COMMAND.match(text) else text


def _bear(db: sqlite3.Connection, waiting: Waiting, draft: Draft, opened: bytes, tools: Tools, consume: Consumer) -> Event | None:
    if draft.raw:
        tools.writer.register(db)
        tools.blobs.put(tools.writer, opened)
    with writing(db):
        if _is_taken(db, waiting.intake_id):
            return None
        event = draft.event
        if draft.raw:  # once more under the write lock, which the sweeps of keys and of orphans take too
            tools.writer.register(db)
            event = attrs.evolve(event, blob=tools.blobs.put(tools.writer, opened))
        events.insert(db, event, mac=draft.mac, manifest=draft.manifest)
        events.add_sighting(db, event.session_id, HOOK, waiting.intake_id, event.event_id, tools.clock())
        db.execute("UPDATE intake SET state = 'born', sealed = NULL WHERE intake_id = ?", (waiting.intake_id,))
        consume(db, Batch((Newborn(event=event, by_person=draft.by_person, signal=None, draft=draft, born=True),)))
    return event


def _is_taken(db: sqlite3.Connection, intake_id: str) -> bool:
    """Whether another process gave the row its event meanwhile."""
    row = db.execute("SELECT state FROM intake WHERE intake_id = ?", (intake_id,)).fetchone()
    return row is None or row[0] != "new"


def _seen_already(db: sqlite3.Connection, waiting: Waiting, draft: Draft) -> str | None:
    """The message that no hook has claimed and that is these words: the same text, not long before; else one of the same turn and moment.

    Of a person that is the only one there is, since the host wrapped it (a long paste). Of the agent it is the last one whose text agrees.
    """
    session_id, role = draft.event.session_id, draft.event.role
    for event in events.unseen_by(db, session_id, HOOK, draft.mac, role, waiting.turn):
        if event.source_ms is None or event.source_ms >= waiting.received_ms - SAME_MOMENT_MS:
            return event.event_id
    if waiting.turn is None:
        return None
    unseen = events.unseen_in_turn(db, session_id, HOOK, waiting.turn, role)
    near = [event for event in unseen if is_same_moment(event.source_ms, waiting.received_ms)]
    if role is Role.USER:
        return near[0].event_id if len(near) == 1 else None
    return next((event.event_id for event in reversed(near) if agree(event.text, draft.event.text)), None)


def _draft(db: sqlite3.Connection, session: Session, waiting: Waiting, text: str, tools: Tools) -> Draft:
    is_person, is_canary = waiting.kind == "prompt", sessions.is_canary(session.session_id)
    redacted, _whole = bounded(text, MESSAGE_CHARS, tools.chain, cursors.secrets(db, session.session_id))
    event = Event(
        event_id=new_id(),
        session_id=session.session_id,
        project_id=session.project_id,
        place=Place(cursors.generation(db, session.session_id), waiting.transcript_size or 0, 0),
        epoch=events.epoch_at(db, session.session_id, waiting.received_ms) or session.epoch,
        kind=EventKind.MESSAGE,
        role=Role.USER if is_person else Role.ASSISTANT,
        text=redacted.text,
        turn=waiting.turn,
        data_class=sessions.CANARY_CLASS if is_canary else "normal",
        completeness="hook_only",
        source_ms=waiting.received_ms,
        captured_ms=tools.clock(),
    )
    mac = tools.writer.half.text_mac(text)
    raw = text if text != redacted.text or is_canary else ""  # with the doctor's own words it is proved that what is sealed opens again
    return Draft(event=event, raw=raw, mac=mac, manifest=redacted.manifest, source_id="", by_person=is_person)
