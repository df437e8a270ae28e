"""The one reader of transcripts and the one place where events are born from them: `sync` reads on from the cursor. `tail` looks at the end for proofs only."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Sequence
from json.encoder import encode_basestring_ascii
from typing import Any

import attrs

from afl_core.capture.batch import Announce, Batch, Consumer, Newborn, Report, Session, Stored, Tools
from afl_core.capture.compressed import cut_short
from afl_core.capture.drafts import Draft, Drafts, Frame, draft
from afl_core.capture.forgotten import without_forgotten
from afl_core.capture.read import CHUNK_BYTES, Chunk, Transcript
from afl_core.capture.resume import Start, anchor_of, start
from afl_core.capture.sightings import Settled, Settling, disown
from afl_core.capture.thread import Thread
from afl_core.model.errors import CaptureError, PluginError, StoreError
from afl_core.model.event import Signal
from afl_core.model.observation import ContextShown, Observation
from afl_core.plugins.isolation import Guard
from afl_core.spec.host import STATE_LIMIT_BYTES, HostAdapter, Line
from afl_core.store import cursors, events, intake
from afl_core.store.connection import writing
from afl_core.store.cursors import Cursor
from afl_core.vault.keys import PublicHalf

BYTES_PER_PASS = 64 * 1024 * 1024
"""What one pass reads of one transcript."""

DRAFTS_PER_TRANSACTION = 512
"""Keeps a write lock short."""

SECONDS_PER_PARSE = 20.0
"""After this long inside a host adapter the process is ended and the adapter named (jobs only)."""


@attrs.frozen
class _Pass:
    """What is the same all through one pass over one transcript."""

    db: sqlite3.Connection
    session: Session
    tools: Tools
    consume: Consumer
    announce: Announce
    checkpoint: Callable[[str], None]
    report: Report = attrs.field(factory=Report)


def _nothing(_told: object) -> None:
    return None


def sync(  # noqa: PLR0913 - what a pass works with, each by name
    db: sqlite3.Connection,
    adapter: HostAdapter,
    session: Session,
    path: str,
    tools: Tools,
    consume: Consumer,
    *,
    announce: Announce = _nothing,
    limit: int = BYTES_PER_PASS,
    chunk_bytes: int = CHUNK_BYTES,
    checkpoint: Callable[[str], None] = _nothing,
) -> Report:
    """Read on from the stored cursor. New events and the moved cursor commit together; a stale reader stops without doubling anything.

    Raises `CaptureError` for a file that cannot be read safely or an adapter that fails, `RedactionError` when a redactor fails: then nothing
    of the stretch is stored and the cursor stays.
    """
    going = _Pass(db, session, tools, consume, announce, checkpoint)
    report = going.report
    with Transcript(path, tools.scratch) as transcript:
        report.stamp = transcript.stamp
        begin = start(db, session, path, transcript, tools.writer.half)
        if begin.is_alias:
            return report
        try:
            cursor = _follow(going, begin)
        except StoreError as bad:
            return _overtaken(report, bad)
        first = cursor.offset
        for chunk in transcript.chunks(cursor.offset, cursor.skipping, wants_of(adapter), limit=limit, chunk_bytes=chunk_bytes):
            observations, state = parsed(adapter, chunk.lines, cursor.state, tools.guard)
            drafts = draft(observations, Thread.from_json(cursor.thread), _frame(session, cursor.generation, tools))
            try:
                cursor = _commit(going, cursor, chunk, state, drafts, transcript)
            except StoreError as bad:
                return _overtaken(report, bad)
            report.bytes_read = cursor.offset - first
        report.caught_up = cursor.offset - first < limit or cursor.offset >= transcript.size
        if report.caught_up and not transcript.whole:
            report.shortfall = cut_short(path, cursor.offset)
    return report


def _follow(going: _Pass, begin: Start) -> Cursor:
    """The cursor; of a file that has another name now it is stored under that name before anything else."""
    if begin.moved is None:
        return begin.cursor
    at = begin.cursor
    with writing(going.db):
        moved = cursors.rename(going.db, begin.moved, at.path, at.device, at.inode, going.tools.clock())
    going.checkpoint("moved")
    return moved


def _overtaken(report: Report, bad: StoreError) -> Report:
    """What a pass did until another process moved the cursor; any other error is raised."""
    if bad.code != "AFL-STORE-011":
        raise bad
    report.caught_up = False
    return report


def tail(db: sqlite3.Connection, adapter: HostAdapter, path: str, tools: Tools, consume: Consumer) -> None:
    """Look at the end of a transcript that is far ahead of its cursor for proofs of delivery, so that no card is given again meanwhile.

    Nothing that was said or done is taken from there: what of it is secret, and what it points at, only a reader of the whole knows.
    Raises `CaptureError` as `sync` does.
    """
    with Transcript(path, tools.scratch) as transcript:
        observations, _state = parsed(adapter, transcript.tail(wants_of(adapter)), {}, tools.guard)
    shown = tuple((seen.text, seen.at_ms) for seen in observations if isinstance(seen, ContextShown))
    if shown:
        with writing(db):
            consume(db, Batch((), shown))


def behind(db: sqlite3.Connection, session: Session, path: str, half: PublicHalf, scratch: str | None = None) -> int:
    """Bytes between the cursor and the end of the content."""
    with Transcript(path, scratch) as transcript:
        begin = start(db, session, path, transcript, half)
        return 0 if begin.is_alias else transcript.size - begin.cursor.offset


def _frame(session: Session, generation: int, tools: Tools) -> Frame:
    return Frame(
        session_id=session.session_id,
        project_id=session.project_id,
        generation=generation,
        window_ms=tools.window_ms,
        oldest_ms=tools.oldest_ms,
        now=tools.clock(),
        chain=tools.chain,
        mac=tools.writer.half.text_mac,
    )


def wants_of(adapter: HostAdapter) -> Callable[[bytes], bool]:
    """The adapter's choice of records; raises `CaptureError` when it fails."""

    def wants(head: bytes) -> bool:
        try:
            return adapter.wants(head)
        except Exception as bad:
            raise _failed(adapter, f"{type(bad).__name__} in wants") from bad

    return wants


def parsed(adapter: HostAdapter, lines: Sequence[Line], state: dict[str, Any], guard: Guard) -> tuple[list[Observation], dict[str, Any]]:
    """What the adapter reads out of records, and its state after them; raises `CaptureError` when it fails or breaks its contract."""
    try:
        observations, after = guard.call(adapter.name, "parse", lambda: adapter.parse(lines, state), seconds=SECONDS_PER_PARSE)
        size = len(json.dumps(after, separators=(",", ":")))
    except PluginError as bad:
        raise _failed(adapter, bad.sentence) from bad
    except (TypeError, ValueError) as bad:
        raise _failed(adapter, f"parse returned what it must not: {bad}") from bad
    if size > STATE_LIMIT_BYTES:
        raise CaptureError(
            f"host adapter {adapter.name!r} keeps {size} bytes of state; {STATE_LIMIT_BYTES} are allowed",
            code="AFL-CAPTURE-005",
            hint="report this to the plug-in's author",
        )
    return observations, after


def _failed(adapter: HostAdapter, what: str) -> CaptureError:
    return CaptureError(f"host adapter {adapter.name!r} failed: {what}", code="AFL-CAPTURE-006", hint="run: afl plugins list")


def _commit(going: _Pass, cursor: Cursor, chunk: Chunk, state: dict[str, Any], drafts: Drafts, transcript: Transcript) -> Cursor:
    sealed = without_forgotten(going.db, going.session.session_id, drafts.drafts)
    blob, raw = _seal_raw(going, sealed)
    going.checkpoint("sealed")
    moved = cursor
    anchor = anchor_of(transcript, chunk.end, going.tools.writer.half)
    names: dict[str, str] = {}
    groups = [sealed[at : at + DRAFTS_PER_TRANSACTION] for at in range(0, len(sealed), DRAFTS_PER_TRANSACTION)] or [()]
    for number, group in enumerate(groups):
        is_last = number == len(groups) - 1
        with writing(going.db):
            _confirm(going, blob, raw)
            if number == 0:
                for mac in drafts.machine if intake.waits(going.db, going.session.session_id) else ():
                    disown(going.db, going.session.session_id, mac)
            # Proofs of delivery come first: an answer that is stored before them would settle what they prove.
            shown = drafts.shown if number == 0 else ()
            stored = _store(going, group, shown, names, blob)
            if is_last:
                thread = drafts.thread.renamed(names).to_json()
                gaps = [*cursor.gaps, *chunk.gaps]
                target = attrs.evolve(
                    cursor, offset=chunk.end, skipping=chunk.skipping, state=state, thread=thread, gaps=gaps, anchor=anchor
                )
                moved = cursors.move(going.db, target, going.tools.clock())
            else:
                cursors.check(going.db, cursor)
            going.checkpoint("before-commit")
        _tell(going, stored)
        going.checkpoint("committed")
    going.report.gaps.extend(chunk.gaps)
    return moved


def _store(
    going: _Pass, group: Sequence[Draft], shown: tuple[tuple[str, int | None], ...], names: dict[str, str], blob: str | None
) -> Stored:
    """Settle drafts and tell the consumers, inside the open transaction. Adds provisional -> real event ids to `names`, where they differ."""
    db, now = going.db, going.tools.clock()
    stored = Stored()
    settling = Settling(db, going.session.session_id, group, blob, now)
    done = []
    for one in group:
        parent = one.event.parent_id
        if parent is not None and parent in names:
            one = attrs.evolve(one, event=attrs.evolve(one.event, parent_id=names[parent]))  # noqa: PLW2901 - the same draft, its parent by its real id
        settled = settling.settle(one)
        if settled.event.event_id != one.event.event_id:
            names[one.event.event_id] = settled.event.event_id
        done.append((one, settled))
    settling.flush()
    for one, settled in done:
        stored.born += settled.born
        stored.joined += settled.joined
        stored.known += not (settled.born or settled.joined)
        signal = _signal(going, one, settled, names, now) if one.signal is not None else None
        stored.signals += signal is not None
        if settled.born or settled.joined or signal is not None:
            stored.newborn.append(Newborn(event=settled.event, by_person=one.by_person, signal=signal, draft=one, born=settled.born))
    going.consume(db, Batch(tuple(stored.newborn), shown))
    return stored


def _signal(going: _Pass, one: Draft, settled: Settled, names: dict[str, str], now: int) -> Signal | None:
    """The signal of a draft as it was stored; None when the event had one before, or what it points at is gone."""
    if one.signal is None:
        return None
    referent = names.get(one.signal.referent_id, one.signal.referent_id)
    signal = attrs.evolve(one.signal, event_id=settled.event.event_id, referent_id=referent)
    return signal if events.add_signal(going.db, signal, one.event.project_id, now) else None


def _tell(going: _Pass, stored: Stored) -> None:
    going.report.add(stored)
    going.announce([one.event for one in stored.newborn if one.born])


def _seal_raw(going: _Pass, drafts: Sequence[Draft]) -> tuple[str | None, bytes]:
    """Seal the raw texts of a stretch as one blob, durable before any event points at it; gives its name and what was sealed."""
    raw = [_raw_line(one) for one in drafts if one.raw]
    if not raw:
        return None, b""
    tools = going.tools
    tools.writer.register(going.db)
    data = "\n".join([json.dumps({"session": going.session.session_id}), *raw]).encode("ascii")
    return tools.blobs.put(tools.writer, data), data


def _raw_line(one: Draft) -> str:
    place = one.event.place
    return f'{{"at": [{place.generation}, {place.offset}, {place.part}], "raw": {encode_basestring_ascii(one.raw)}}}'


def _confirm(going: _Pass, blob: str | None, raw: bytes) -> None:
    """Under the write lock, which the sweeps of blobs and keys take too: the blob and its key are still there, or are written again."""
    if blob is not None:
        going.tools.writer.register(going.db)
        going.tools.blobs.keep(going.tools.writer, blob, raw)
