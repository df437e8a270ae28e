"""`afl capture-stop`: what a Stop hook would have brought about, for whoever wires it by hand. Into the home's store the way of every session; into
a memory file of its own as grains.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, NamedTuple

import attrs

from afl_core.api.by_hand import chain_of
from afl_core.api.home import Home
from afl_core.api.memory import Memory
from afl_core.capture import discover
from afl_core.capture.belonging import project_of
from afl_core.capture.discover import Judged, judge
from afl_core.capture.drafts import Draft, Frame
from afl_core.capture.whole import whole
from afl_core.memory.write import ToolCall
from afl_core.model.codec import loads
from afl_core.model.errors import CaptureError, ModelError
from afl_core.model.event import Event, EventKind
from afl_core.spec.host import HostAdapter
from afl_core.store import events, sessions
from afl_core.store.connection import writing
from afl_core.store.transcripts import MACHINE, SESSION
from afl_core.worker.absorb import absorb, capture_enabled, tool_call

_ROLES = {EventKind.TOOL_RESULT: "tool"}


class Stop(NamedTuple):
    """What the payload says; '' for what it does not."""

    native_id: str
    transcript: str
    cwd: str


class Captured(NamedTuple):
    """`events` and `tool_calls` are new, `known` events were there. `enabled` False: capture is off, and nothing was read."""

    session: str
    events: int
    known: int
    tool_calls: int
    enabled: bool = True


def stop_of(payload: bytes) -> Stop:
    """Read a Stop hook's payload. Raises `CaptureError` when it is none."""
    try:
        body = loads(payload, "standard input")
    except ModelError:
        body = None
    found = body if isinstance(body, dict) else {}
    words = [found.get(name) if isinstance(found.get(name), str) else "" for name in ("session_id", "transcript_path", "cwd")]
    stop = Stop(*(str(word) for word in words))
    if not stop.transcript or "\0" in stop.transcript:
        raise CaptureError(
            "standard input holds no JSON object with session_id and transcript_path",
            code="AFL-CAPTURE-030",
            hint='pipe it in as {"session_id": "…", "transcript_path": "…"}',
        )
    return stop._replace(transcript=os.path.abspath(stop.transcript))


def capture_stop(
    home: Home, stop: Stop, *, host: str | None = None, memory: Memory | None = None, progress: Callable[[str], None] = lambda _line: None
) -> Captured:
    """Store what the transcript tells, once however often it is asked for. `memory`: instead of the home's store. Raises `CaptureError`."""
    adapter, judged = _judged(home, stop, host)
    if memory is not None:
        return _into_memory(home, memory, adapter, judged, stop.transcript)
    return _into_home(home, adapter, judged, stop, progress)


def _judged(home: Home, stop: Stop, host: str | None) -> tuple[HostAdapter, Judged]:
    """Whose the transcript is: the one host that knows it. `host`: only this one is asked, and it is believed."""
    adapters = home.registry.hosts()
    if host is not None and host not in adapters:
        raise CaptureError(f"no plug-in provides the host {host!r}", code="AFL-CAPTURE-007", hint="run: afl plugins list")
    judged: Judged | None = None
    for name, adapter in adapters.items():
        if host not in (None, name):
            continue
        found = judged = judge(adapter, home.guard, stop.transcript, os.path.dirname(os.path.dirname(stop.transcript)), home.paths.data)
        found = attrs.evolve(found, native_id=stop.native_id or found.native_id, cwd=stop.cwd or found.cwd)
        if found.verdict == MACHINE:
            raise CaptureError(
                f"{stop.transcript} is a subagent's or a reviewer's, not a person's session",
                code="AFL-CAPTURE-032",
                hint="nothing is kept of it; give the session's own transcript",
            )
        if found.verdict == SESSION or (host == name and found.native_id):
            return adapter, found
    if judged is not None and judged.shortfall is not None:
        raise judged.shortfall
    raise CaptureError(
        f"no host's plug-in knows {stop.transcript} as a transcript",
        code="AFL-CAPTURE-031",
        hint="check the path, or name the host: --host NAME (afl plugins list shows them)",
    )


def _into_home(home: Home, adapter: HostAdapter, judged: Judged, stop: Stop, progress: Callable[[str], None]) -> Captured:
    session_id = sessions.session_id_of(adapter.name, judged.native_id)
    if not capture_enabled(home.db):
        return Captured(session_id, 0, 0, 0, enabled=False)
    known = events.count_of(home.db, session_id)
    project = project_of(home.db, session_id, judged.cwd)
    with writing(home.db):
        discover.keep(home.db, adapter.name, stop.transcript, judged, project, home.clock())
    born = calls = 0
    while True:
        done = absorb(home, session_id)
        born += done.born
        calls += done.tool_calls
        if done.troubles:
            trouble = done.troubles[0]
            raise CaptureError(trouble["message"], code=trouble["code"], hint=trouble["hint"])
        if done.caught_up or not done.bytes_read:
            return Captured(session_id, born, known, calls)
        progress(f"{born} events")


def _into_memory(home: Home, memory: Memory, adapter: HostAdapter, judged: Judged, path: str) -> Captured:
    session_id = sessions.session_id_of(adapter.name, judged.native_id)
    now = home.clock()
    frame = Frame(session_id, "", 0, home.settings.interruption_window * 1000, 0, now, chain_of(home), lambda _text: "")
    open_calls: dict[str | None, Event] = {}
    at, new, known, called = judged.started_ms or 0, 0, 0, 0
    for drafts in whole(adapter, home.guard, path, frame):
        told: list[dict[str, Any]] = []
        calls: list[ToolCall] = []
        for one in drafts.drafts:
            at = one.event.source_ms if one.event.source_ms is not None else at
            if one.event.kind is EventKind.TOOL_CALL:
                open_calls[one.event.call_id] = one.event
            if one.event.text.strip():
                told.append(_fields(one, at))
            call = open_calls.get(one.event.call_id) if one.tool is not None else None
            if one.tool is not None and call is not None and call.tool_name is not None:
                calls.append(tool_call(one.tool, call.tool_name, call.text, at))
        some_new, some_known, some_called = memory.record_session(session_id, told, calls)
        new, known, called = new + some_new, known + some_known, called + some_called
    return Captured(session_id, new, known, called)


def _fields(one: Draft, at: int) -> dict[str, Any]:
    """An event as a grain. It is the same one whenever the transcript is read again: it has the host's time and the record's name."""
    event = one.event
    return {
        "role": _ROLES.get(event.kind, event.role.value),
        "content": event.text,
        "kind": event.kind.value,
        "source_id": one.source_id,
        "tool_name": event.tool_name,
        "tool_call_id": event.call_id,
        "is_error": event.is_error,
        "exit_code": event.exit_code,
        "created_at": at,
    }
