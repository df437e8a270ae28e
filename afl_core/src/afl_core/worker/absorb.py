"""The one sequence behind hooks, spool, reconcile and CLI: read what the host recorded of a session, give hook-only sightings their events, evaluate what is due."""

from __future__ import annotations

import contextlib
import os
import re
import sqlite3
from collections.abc import Callable, Mapping, Sequence

import attrs

from afl_core.api.home import Home
from afl_core.capture import adopt
from afl_core.capture.batch import Announce, Batch, Consumer, Newborn, Report, Session, Tools
from afl_core.capture.compressed import is_compressed
from afl_core.capture.discover import judge, set_aside
from afl_core.capture.drafts import ToolUse
from afl_core.capture.sync import behind, sync, tail
from afl_core.capture.thread import Thread
from afl_core.lessons import delivery
from afl_core.memory.write import ToolCall, record_tool_calls
from afl_core.model.clock import DAY_MS
from afl_core.model.errors import AflError, CaptureError, VaultError
from afl_core.model.event import Event, EventKind, Role
from afl_core.model.lesson import project_ns
from afl_core.review import queue
from afl_core.spec.host import HostAdapter
from afl_core.store import cursors, index_state, sessions, status, transcripts
from afl_core.store.connection import writing
from afl_core.store.transcripts import LASTING, MACHINE, NEVER, SESSION, Known, stamp_of
from afl_core.worker.discovery import find_earlier
from afl_core.worker.due import evaluate
from afl_core.worker.gaps import BY_CODE, told_of

TAIL_FIRST_BYTES = 4 * 1024 * 1024
"""With more than this unread, the end of the transcript is looked at for proofs of delivery before the rest is read."""

QUEUE_MAX_AGE_MS = DAY_MS
"""Older words (a transcript read for the first time) are kept as evidence but do not ask for a review by themselves."""

NONCE = re.compile(r"nonce=([0-9a-f]{16})")


@attrs.define
class Absorbed:
    """What one pass over one session did."""

    session_id: str
    born: int = 0
    joined: int = 0
    known: int = 0
    signals: int = 0
    adopted: int = 0
    tool_calls: int = 0
    reached: list[str] = attrs.field(factory=list)
    reviews: list[str] = attrs.field(factory=list)
    gaps: list[dict[str, int | str]] = attrs.field(factory=list)
    caught_up: bool = True
    bytes_read: int = 0
    problem: str = ""
    code: str = ""
    troubles: list[dict[str, str]] = attrs.field(factory=list)

    def failed(self, bad: AflError, path: str = "") -> None:
        """Note why a part of the pass could not be done. `problem` and `code` are of the last one."""
        self.problem, self.code = bad.sentence, bad.code
        self.troubles.append({"path": path, "code": bad.code, "message": bad.sentence, "hint": bad.hint})


def capture_enabled(db: sqlite3.Connection) -> bool:
    """Whether evidence may be kept (`afl capture on|off`). Giving cards back has a switch of its own."""
    return status.meta(db, "capture_enabled", "1") == "1"


def absorb(
    home: Home,
    session_id: str,
    *,
    patient: bool = True,
    submits: bool = True,
    checkpoint: Callable[[str], None] = lambda _step: None,
) -> Absorbed:
    """Bring one session up to date. Every part is idempotent and commits for itself; run it as often as you like.

    Without `patient` what only a hook saw gets its event now, and not after the transcript had its time: no transcript shows the doctor's own.
    `submits` False: the caller makes due reviews itself, once for many sessions.
    """
    done = Absorbed(session_id)
    row = sessions.get(home.db, session_id)
    if row is None or not capture_enabled(home.db):
        return done
    adapter = home.registry.hosts().get(row.host)
    if adapter is None:
        done.failed(CaptureError(f"no plug-in provides the host {row.host!r}", code="AFL-CAPTURE-007", hint="run: afl plugins list"))
        return done
    session = Session(session_id=session_id, host=row.host, project_id=row.project_id, epoch=row.epoch)
    tools = attrs.evolve(_tools(home), patient=patient)
    consume = _consumer(home, session, done)
    for file in files_of(home, adapter, row):
        if not done.caught_up:
            break  # what stands in a later file comes later
        if is_behind(file):
            _read(home, adapter, session, file, tools, consume, done, checkpoint)
    _open_epochs(home, adapter, session)
    checkpoint("read")
    if done.caught_up:  # else the words may be in what is unread, and so may be the secret that they repeat
        _adopt(home, adapter, session, tools, consume, done, ended=row.ended_ms is not None)
    checkpoint("adopted")
    if submits:
        if not sessions.is_canary(session_id):
            done.reviews = evaluate(home.db, home.settings, home.clock())
        checkpoint("submitted")
    return done


def files_of(home: Home, adapter: HostAdapter, row: sessions.Session) -> list[Known]:
    """The transcripts of a session in the order in which they were begun. One that only a hook told of becomes known here, when it is there."""
    files = transcripts.of_session(home.db, row.session_id)
    path = row.transcript_path
    if path is None or any(file.path == path for file in files) or not os.path.lexists(path):
        return files
    known = transcripts.get(home.db, path)
    if known is not None and known.verdict == MACHINE:
        return files
    try:
        judged = judge(adapter, home.guard, path, os.path.dirname(path), home.paths.data)
    except CaptureError:  # reading it says why
        judged = None
    with writing(home.db):
        if judged is not None and judged.verdict == MACHINE:  # a subagent's, named by a hook beside its parent's session
            set_aside(home.db, row.host, path, judged, home.clock())
            return files
        found = Known(path, row.host, row.session_id, SESSION, judged.started_ms if judged else None, NEVER, None)
        transcripts.put(home.db, found, home.clock())
    if judged is not None and judged.earlier:
        find_earlier(home, row.host, judged.earlier)
        return transcripts.of_session(home.db, row.session_id)
    return transcripts.in_order([*files, found])


def is_behind(file: Known) -> bool:
    """Whether a file is there and is not as it was when it was last read to its end: one `stat`."""
    try:
        stamp = stamp_of(os.lstat(file.path))
    except OSError:
        return False
    return stamp != file.stamp or (file.problem is not None and file.problem not in LASTING)


def _adopt(home: Home, adapter: HostAdapter, session: Session, tools: Tools, consume: Consumer, done: Absorbed, *, ended: bool) -> None:
    if not adopt.due(home.db, session.session_id, home.clock(), ended, patient=tools.patient):
        return  # the keystore is not asked for nothing
    manifest = adapter.manifest()
    try:
        done.adopted = adopt.adopt(home.db, session, manifest, home.opener, tools, consume, ended=ended, announce=_announcer(home))
    except VaultError as locked:
        done.failed(locked)


def _tools(home: Home) -> Tools:
    """What was said before the retention, or while capture was last switched off, is not kept."""
    now, days = home.clock(), home.settings.retention_days
    chain = home.chain
    if index_state.is_new(home.db):
        with writing(home.db):
            index_state.checked(home.db, chain.versions, now)  # whatever comes is judged with these rules
    expired = now - days * DAY_MS if days > 0 else 0
    switched_on = int(status.meta(home.db, "capture_policy_revision", "1"))
    return Tools(
        chain=chain,
        writer=home.writer,
        blobs=home.blobs,
        clock=home.clock,
        window_ms=home.settings.interruption_window * 1000,
        oldest_ms=max(expired, switched_on if switched_on <= now else 0),  # a switch in the future: the clock was wrong then
        guard=home.guard,
        scratch=home.paths.run,
    )


def _announcer(home: Home) -> Announce:
    def announce(events: Sequence[Event]) -> None:
        for event in events:
            if event.data_class != "normal":
                continue
            told = {"event_id": event.event_id, "session_id": event.session_id, "project_id": event.project_id}
            home.registry.tell("afl_event_captured", event={**told, "kind": event.kind.value, "role": event.role.value, "text": event.text})

    return announce


def _read(
    home: Home,
    adapter: HostAdapter,
    session: Session,
    file: Known,
    tools: Tools,
    consume: Consumer,
    done: Absorbed,
    checkpoint: Callable[[str], None],
) -> None:
    announce, path = _announcer(home), file.path
    try:
        if not is_compressed(path) and behind(home.db, session, path, home.half) > TAIL_FIRST_BYTES:
            tail(home.db, adapter, path, tools, consume)
        report = sync(home.db, adapter, session, path, tools, consume, announce=announce, checkpoint=checkpoint)
    except CaptureError as bad:
        done.failed(bad, path)
        _remember_problem(home, file, bad)
        return
    _add(done, report, path)
    done.caught_up = report.caught_up
    if report.caught_up and report.stamp is not None:
        checkpoint("caught-up")
        short = report.shortfall
        if short is not None:
            done.gaps.append({"path": path, "count": 1, "kind": BY_CODE[short.code], "message": told_of(short)})
        with writing(home.db):
            transcripts.looked_at(home.db, path, report.stamp, short.code if short else None, home.clock())


def _remember_problem(home: Home, file: Known, bad: CaptureError) -> None:
    """What will not change while the file stays as it is, is not tried again until then."""
    if bad.code in LASTING:
        with contextlib.suppress(OSError), writing(home.db):
            transcripts.looked_at(home.db, file.path, stamp_of(os.lstat(file.path)), bad.code, home.clock())


def _open_epochs(home: Home, adapter: HostAdapter, session: Session) -> None:
    """A compaction that a hook announced has opened its epoch already; one that no hook announced opens it here: when its hook is overdue, or at
    once where the host has no such hook.
    """
    latest = next(iter(cursors.of_session(home.db, session.session_id)), None)
    if latest is None:
        return
    thread = Thread.from_json(latest.thread)
    is_overdue = not adapter.manifest().compaction_sources or abs(home.clock() - thread.compacted_ms) > sessions.COMPACTION_MS
    epoch, until = (thread.epoch, thread.compacted_ms) if is_overdue else (thread.epoch - 1, 0)
    if epoch > session.epoch:
        with writing(home.db):
            sessions.reach_epoch(home.db, session.session_id, epoch, until)


def _add(done: Absorbed, report: Report, path: str) -> None:
    done.born += report.born
    done.joined += report.joined
    done.known += report.known
    done.signals += report.signals
    done.bytes_read += report.bytes_read
    done.gaps.extend({"path": path, "count": 1, **gap} for gap in report.gaps)


def _consumer(home: Home, session: Session, done: Absorbed) -> Consumer:
    """What happens with new events, inside the transaction that stores them: queue, tool grains, delivery proof, when the session was last seen."""

    def consume(db: sqlite3.Connection, batch: Batch) -> None:
        now = home.clock()
        answered = None
        calls = {one.event.call_id: one.event for one in reversed(batch.newborn) if one.event.kind is EventKind.TOOL_CALL}
        ended: list[ToolCall] = []
        said: list[tuple[str, bool]] = []
        for one in batch.newborn:
            event = one.event
            if one.by_person and event.data_class == "normal" and _worth_asking(one, now):
                said.append((event.event_id, one.signal is not None))
            if event.kind is EventKind.TOOL_RESULT and one.born and (call := _ended(db, session, one, calls, now)):
                ended.append(call)
            if event.role is Role.ASSISTANT and event.kind is EventKind.MESSAGE and event.source_ms is not None:
                answered = max(answered or 0, event.source_ms)
        queue.enqueue_all(db, said, session.project_id, now)
        done.tool_calls += len(record_tool_calls(db, project_ns(session.project_id), session.session_id, ended))
        shown = [(nonce, at_ms if at_ms is not None else now) for text, at_ms in batch.shown for nonce in NONCE.findall(text)]
        if shown or answered is not None:
            reached = delivery.settle(db, session_id=session.session_id, shown=shown, answered_ms=answered, now=now)
            done.reached.extend(reached)
        _seen(db, session, batch, now)

    return consume


def _seen(db: sqlite3.Connection, session: Session, batch: Batch, now: int) -> None:
    """A session whose hooks are missed is seen through its transcript. A time of the future is not believed."""
    times = [one.event.source_ms for one in batch.newborn if one.event.source_ms is not None and one.event.source_ms <= now]
    if times:
        db.execute("UPDATE sessions SET seen_ms = ? WHERE session_id = ? AND seen_ms < ?", (max(times), session.session_id, max(times)))


def _worth_asking(one: Newborn, now: int) -> bool:
    return one.signal is not None or one.event.source_ms is None or now - one.event.source_ms <= QUEUE_MAX_AGE_MS


def _ended(db: sqlite3.Connection, session: Session, one: Newborn, calls: Mapping[str | None, Event], now: int) -> ToolCall | None:
    """The call that this result ends, for its grain."""
    use = one.draft.tool
    if use is None:
        return None  # a refused call did not run
    called = calls.get(use.call_id)
    call = (called.tool_name, called.text) if called is not None else _call(db, session.session_id, use.call_id)
    if call is None or call[0] is None:
        return None  # the call itself was never seen (it lies before the retention)
    return tool_call(use, call[0], call[1], now)


def tool_call(use: ToolUse, tool_name: str, input_text: str, now: int) -> ToolCall:
    """What is kept of a call that ended, in our words; `now` where the host does not say when."""
    return ToolCall(
        call_id=use.call_id,
        tool_name=tool_name,
        input_text=input_text,
        is_error=bool(use.is_error),
        exit_code=use.exit_code,
        duration_ms=use.duration_ms,
        error_text=use.error_text if use.is_error else "",
        at_ms=use.at_ms if use.at_ms is not None else now,
    )


def _call(db: sqlite3.Connection, session_id: str, call_id: str) -> tuple[str | None, str] | None:
    row = db.execute(  # +: by the call's own index; the one that is in this order already would be walked through the whole session
        "SELECT tool_name, text FROM events WHERE session_id = ? AND call_id = ? AND kind = 'tool_call' ORDER BY +generation, offset, part LIMIT 1",
        (session_id, call_id),
    ).fetchone()
    return None if row is None else (row[0], row[1])
