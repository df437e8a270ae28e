"""The one reader of transcripts and the one place where events are born from them: `tail` sees what just happened, `sync` reads on from the cursor."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Sequence

import attrs

from afl_core.capture.drafts import Draft, Drafts, Frame, draft
from afl_core.capture.read import Chunk, Transcript
from afl_core.capture.sightings import settle
from afl_core.capture.thread import Thread
from afl_core.model.clock import Clock
from afl_core.model.errors import CaptureError, StoreError
from afl_core.model.event import Event, Signal
from afl_core.redaction.chain import Chain
from afl_core.spec.host import STATE_LIMIT_BYTES, HostAdapter, Line
from afl_core.store import cursors, events
from afl_core.store.connection import writing
from afl_core.store.cursors import Cursor
from afl_core.vault.blobs import Blobs
from afl_core.vault.keys import Writer

BYTES_PER_PASS = 64 * 1024 * 1024
"""What one pass reads of one transcript."""

DRAFTS_PER_TRANSACTION = 128
"""Keeps a write lock short."""


@attrs.frozen
class Session:
    """Whose transcript it is."""

    session_id: str
    host: str
    project_id: str
    epoch: int


@attrs.frozen
class Tools:
    """What reading needs: redaction, sealing, time."""

    chain: Chain
    writer: Writer
    blobs: Blobs
    clock: Clock
    window_ms: int
    oldest_ms: int


@attrs.frozen
class Newborn:
    """One event as it was stored by this pass."""

    event: Event
    by_person: bool
    signal: Signal | None
    draft: Draft
    born: bool


@attrs.frozen
class Batch:
    """What one transaction stored; consumers get it inside that transaction."""

    newborn: tuple[Newborn, ...]
    shown: tuple[tuple[str, int | None], ...]
    compacted: tuple[int | None, ...]


Consumer = Callable[[sqlite3.Connection, Batch], None]


@attrs.define
class Report:
    """What a pass did. `caught_up`: nothing complete is left unread."""

    born: int = 0
    joined: int = 0
    known: int = 0
    signals: int = 0
    bytes_read: int = 0
    caught_up: bool = True
    gaps: list[dict[str, int | str]] = attrs.field(factory=list)
    events: list[Event] = attrs.field(factory=list)


def sync(db: sqlite3.Connection, adapter: HostAdapter, session: Session, path: str, tools: Tools, consume: Consumer, *, limit: int = BYTES_PER_PASS, checkpoint: Callable[[str], None] = lambda _step: None) -> Report:
    """Read on from the stored cursor. New events and the moved cursor commit together; a stale reader stops without doubling anything."""
    report = Report()
    with Transcript(path) as transcript:
        cursor = _cursor(db, session, path, transcript)
        start = cursor.offset
        for chunk in transcript.chunks(cursor.offset, cursor.skipping, adapter.wants, limit=limit):
            observations, state = adapter.parse(chunk.lines, cursor.state)
            _check_state(adapter, state)
            drafts = draft(observations, Thread.from_json(cursor.thread), _frame(session, cursor.generation, tools))
            try:
                cursor = _commit(db, cursor, chunk, state, drafts, tools, consume, report, checkpoint)
            except StoreError as bad:
                if bad.code == "AFL-STORE-011":
                    report.caught_up = False
                    return report
                raise
            report.bytes_read = cursor.offset - start
        report.caught_up = cursor.offset - start < limit or cursor.offset >= transcript.size
    return report


def tail(db: sqlite3.Connection, adapter: HostAdapter, session: Session, path: str, tools: Tools, consume: Consumer) -> Report:
    """What just happened, read from the end without moving the cursor: used when the cursor is far behind. `sync` finds these events again as known."""
    report = Report()
    with Transcript(path) as transcript:
        cursor = _cursor(db, session, path, transcript)
        lines: tuple[Line, ...] = transcript.tail(adapter.wants)
        observations, _state = adapter.parse(lines, {})
        drafts = draft(observations, Thread(secrets=Thread.from_json(cursor.thread).secrets), _frame(session, cursor.generation, tools))
        stored = _seal_raw(db, drafts.drafts, tools)
        with writing(db):
            _store(db, stored, drafts, tools, consume, report)
    return report


def behind(db: sqlite3.Connection, session: Session, path: str) -> int:
    """Bytes between the cursor and the end of the file."""
    with Transcript(path) as transcript:
        return transcript.size - _cursor(db, session, path, transcript).offset


def _frame(session: Session, generation: int, tools: Tools) -> Frame:
    return Frame(
        session_id=session.session_id,
        project_id=session.project_id,
        epoch=session.epoch,
        generation=generation,
        window_ms=tools.window_ms,
        oldest_ms=tools.oldest_ms,
        now=tools.clock(),
        chain=tools.chain,
        mac=tools.writer.half.text_mac,
    )


def _check_state(adapter: HostAdapter, state: dict[str, object]) -> None:
    size = len(json.dumps(state, separators=(",", ":")))
    if size > STATE_LIMIT_BYTES:
        raise CaptureError(f"host adapter {adapter.name!r} keeps {size} bytes of state; {STATE_LIMIT_BYTES} are allowed", code="AFL-CAPTURE-005", hint="report this to the plug-in's author")


def _cursor(db: sqlite3.Connection, session: Session, path: str, transcript: Transcript) -> Cursor:
    """The stored cursor when it still fits the file; a new generation from the start when the file was replaced or cut."""
    known = cursors.get(db, path)
    fresh = Cursor(path=path, host=session.host, session_id=session.session_id, device=transcript.device, inode=transcript.inode, generation=1, offset=0, skipping=False, state={}, thread={}, gaps=[], version=0)
    if known is None:
        return fresh
    if (known.device, known.inode) == (transcript.device, transcript.inode) and known.offset <= transcript.size:
        return known
    return attrs.evolve(fresh, generation=known.generation + 1, version=known.version, gaps=known.gaps, thread={"secrets": known.thread.get("secrets", [])})


def _commit(db: sqlite3.Connection, cursor: Cursor, chunk: Chunk, state: dict[str, object], drafts: Drafts, tools: Tools, consume: Consumer, report: Report, checkpoint: Callable[[str], None]) -> Cursor:
    stored = _seal_raw(db, drafts.drafts, tools)
    checkpoint("sealed")
    moved = cursor
    names: dict[str, str] = {}
    groups = [stored[at : at + DRAFTS_PER_TRANSACTION] for at in range(0, len(stored), DRAFTS_PER_TRANSACTION)] or [()]
    for number, group in enumerate(groups):
        last = number == len(groups) - 1
        with writing(db):
            part = attrs.evolve(drafts, shown=drafts.shown if last else (), compacted=drafts.compacted if last else ())
            names.update(_store(db, group, part, tools, consume, report, names))
            if last:
                target = attrs.evolve(cursor, offset=chunk.end, skipping=chunk.skipping, state=state, thread=drafts.thread.renamed(names).to_json(), gaps=[*cursor.gaps, *chunk.gaps])
                moved = cursors.move(db, target, tools.clock())
            checkpoint("before-commit")
        checkpoint("committed")
    report.gaps.extend(chunk.gaps)
    return moved


def _store(db: sqlite3.Connection, group: Sequence[Draft], drafts: Drafts, tools: Tools, consume: Consumer, report: Report, names: dict[str, str] | None = None) -> dict[str, str]:
    """Settle drafts and tell the consumers, inside the open transaction. Returns provisional -> real event ids."""
    names = dict(names or {})
    newborn = []
    for one in group:
        settled = settle(db, one, tools.clock())
        names[one.event.event_id] = settled.event.event_id
        report.born += settled.born
        report.joined += settled.joined
        report.known += not (settled.born or settled.joined)
        signal = None
        if one.signal is not None:
            signal = attrs.evolve(one.signal, event_id=settled.event.event_id, referent_id=names.get(one.signal.referent_id, one.signal.referent_id))
            if events.get(db, signal.referent_id) is not None and events.add_signal(db, signal, one.event.project_id, tools.clock()):
                report.signals += 1
            else:
                signal = None
        if not settled.born and not settled.joined and signal is None:
            continue
        report.events.append(settled.event)
        newborn.append(Newborn(event=settled.event, by_person=one.by_person, signal=signal, draft=one, born=settled.born))
    consume(db, Batch(tuple(newborn), drafts.shown, drafts.compacted))
    return names


def _seal_raw(db: sqlite3.Connection, drafts: Sequence[Draft], tools: Tools) -> tuple[Draft, ...]:
    """Seal the raw texts of a stretch as one blob, durable before any event points at it."""
    raw = [{"at": [one.event.place.generation, one.event.place.offset, one.event.place.part], "raw": one.raw} for one in drafts if one.raw]
    if not raw:
        return tuple(drafts)
    with writing(db):
        tools.writer.register(db)
    session = drafts[0].event.session_id
    data = "\n".join([json.dumps({"session": session}), *(json.dumps(one, ensure_ascii=True) for one in raw)]).encode("ascii")
    name = tools.blobs.put(tools.writer, data)
    return tuple(attrs.evolve(one, event=attrs.evolve(one.event, blob=name)) if one.raw else one for one in drafts)
