"""From observations to drafts of events: redacted, capped, placed, with the signals among them. Reads no file and no database."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import attrs

from afl_core.capture import signals
from afl_core.capture.limits import (
    CUT_MARK,
    MARGIN_CHARS,
    MESSAGE_CHARS,
    TOOL_ERROR_CHARS,
    TOOL_INPUT_CHARS,
    WATCHED_CHARS,
    head,
    name,
    storable,
    tail_start,
)
from afl_core.capture.thread import Thread
from afl_core.model.event import Event, EventKind, Place, Role, Signal
from afl_core.model.ids import new_ids
from afl_core.model.observation import Compacted, ContextShown, Cut, Denial, Observation, Rewound, Said, Speaker, ToolCalled, ToolReturned
from afl_core.redaction.chain import Chain, Redacted


@attrs.frozen
class ToolUse:
    """How a call ended, for its tool grain; `call_id` joins it to its call. `error_text` is redacted, '' for a success."""

    call_id: str
    is_error: bool
    exit_code: int | None
    duration_ms: int | None
    error_text: str
    at_ms: int | None


@attrs.frozen
class Draft:
    """An event as it would be born. `raw` is sealed, never indexed, and '' where the event holds the very same words; `source_id` names the
    transcript's record.
    """

    event: Event
    raw: str
    mac: str
    manifest: dict[str, int]
    source_id: str
    by_person: bool = False
    signal: Signal | None = None
    tool: ToolUse | None = None


@attrs.frozen
class Drafts:
    """All of one stretch of a transcript, and the thread after it. `machine`: keyed hashes of texts that nobody typed."""

    drafts: tuple[Draft, ...]
    shown: tuple[tuple[str, int | None], ...]
    thread: Thread
    machine: tuple[str, ...] = ()


@attrs.frozen
class Frame:
    """What is the same for all drafts of a stretch. What is older than `oldest_ms` would be erased at once and is not kept."""

    session_id: str
    project_id: str
    generation: int
    window_ms: int
    oldest_ms: int
    now: int
    chain: Chain
    mac: Callable[[str], str]
    ids: Iterator[str] = attrs.field(factory=new_ids)
    tool_names: dict[str, tuple[tuple[str, ...], str]] = attrs.field(factory=dict)
    """Names of tools and what they are kept as, with the secrets known then: a stretch has few of them and says them often."""


def draft(observations: Sequence[Observation], thread: Thread, frame: Frame) -> Drafts:
    """Turn observations into drafts, in order. `thread` goes on with them: it is the caller's no more."""
    drafts: list[Draft] = []
    shown: list[tuple[str, int | None]] = []
    for seen in observations:
        if isinstance(seen, Compacted):  # however old: epochs are counted from the beginning of the file
            thread.epoch, thread.compacted_ms = thread.epoch + 1, seen.at_ms or 0
        elif seen.at_ms is not None and seen.at_ms < frame.oldest_ms:
            continue
        elif isinstance(seen, ContextShown):
            shown.append((seen.text, seen.at_ms))
        elif isinstance(seen, Said):
            _said(seen, thread, frame, drafts)
        elif isinstance(seen, ToolCalled):
            _called(seen, thread, frame, drafts)
        elif isinstance(seen, ToolReturned):
            _returned(seen, thread, frame, drafts)
        elif isinstance(seen, Cut):
            _cut(seen, thread, frame, drafts)
        elif isinstance(seen, Rewound):
            signals.rewound(thread)
    machine = tuple(frame.mac(seen.text) for seen in observations if isinstance(seen, Said) and seen.speaker is Speaker.MACHINE)
    return Drafts(tuple(drafts), tuple(shown), thread, machine)


def _said(said: Said, thread: Thread, frame: Frame, drafts: list[Draft]) -> None:
    if said.speaker is Speaker.MACHINE or not said.text or said.text.isspace():
        return
    person = said.speaker is Speaker.PERSON
    redacted, whole = bounded(said.text, MESSAGE_CHARS, frame.chain, thread.secrets)
    completeness = "partial" if said.partial else "whole" if whole else "head_and_tail"
    role = Role.USER if person else Role.ASSISTANT
    event = _event(said, thread, frame, EventKind.MESSAGE, role, redacted.text, parent_id=name(said.parent_id), completeness=completeness)
    signal = None
    if said.recovered:
        pass  # its place in the conversation is long gone: it answers nothing, and nothing answers it
    elif person:
        signal = signals.person_spoke(thread, said, event.event_id, frame.window_ms)
    else:
        signals.agent_acted(thread, event.event_id, event.turn)
    drafts.append(_draft(event, said.text, frame, redacted, by_person=person, signal=signal))
    thread.showed(redacted.secrets)


def _called(called: ToolCalled, thread: Thread, frame: Frame, drafts: list[Draft]) -> None:
    redacted, whole = bounded(called.input_json, TOOL_INPUT_CHARS, frame.chain, thread.secrets)
    label = name(called.name)  # an agent can call any name
    event = _event(
        called,
        thread,
        frame,
        EventKind.TOOL_CALL,
        Role.ASSISTANT,
        redacted.text,
        call_id=name(called.call_id),
        tool_name=label and _tool_name(label, thread.secrets, frame),
        completeness="whole" if whole else "head_and_tail",
    )
    drafts.append(_draft(event, called.input_json, frame, redacted))
    signals.agent_acted(thread, event.event_id, event.turn)
    thread.called(called.call_id, event.event_id)
    thread.showed(redacted.secrets)


def _tool_name(label: str, secrets: tuple[str, ...], frame: Frame) -> str:
    """A tool's name as it is kept."""
    known = frame.tool_names.get(label)
    if known is None or known[0] is not secrets:
        known = frame.tool_names[label] = secrets, frame.chain.redact(label, secrets).text
    return known[1]


def _returned(returned: ToolReturned, thread: Thread, frame: Frame, drafts: list[Draft]) -> None:
    denied = returned.denial is not Denial.NONE
    kept = returned.text if returned.is_error and not denied else ""
    redacted, whole = bounded(kept, TOOL_ERROR_CHARS, frame.chain, thread.secrets)
    event = _event(
        returned,
        thread,
        frame,
        EventKind.TOOL_RESULT,
        Role.ASSISTANT,
        redacted.text,
        call_id=name(returned.call_id),
        is_error=returned.is_error,
        exit_code=returned.exit_code,
        completeness="whole" if whole else "head_and_tail",
    )
    use = None
    if not denied:
        use = ToolUse(
            call_id=event.call_id or "",
            is_error=returned.is_error,
            exit_code=returned.exit_code,
            duration_ms=returned.duration_ms,
            error_text=redacted.text,
            at_ms=returned.at_ms,
        )
    drafts.append(_draft(event, returned.text, frame, redacted, tool=use))
    if not kept and (watched := storable(head(returned.text, WATCHED_CHARS))):
        thread.showed(frame.chain.redact(watched).secrets)
    thread.showed(redacted.secrets)  # of what is kept `bounded` read everything that would be watched


def _cut(cut: Cut, thread: Thread, frame: Frame, drafts: list[Draft]) -> None:
    turn, made = name(cut.turn), None
    if signals.needs_turn_cut(thread):
        event = _event(cut, thread, frame, EventKind.TURN_CUT, Role.ASSISTANT, "", parent_id=thread.person)
        drafts.append(_draft(event, "", frame, Redacted("", {})))
        made = event.event_id
    if not cut.possible:
        signals.turn_cut(thread, made, cut.at_ms, turn)
    elif made is not None:
        signals.maybe_cut(thread, made)


def _draft(
    event: Event,
    raw: str,
    frame: Frame,
    redacted: Redacted,
    *,
    by_person: bool = False,
    signal: Signal | None = None,
    tool: ToolUse | None = None,
) -> Draft:
    place = event.place
    source_id = f"{event.native_id}#{place.part}" if event.native_id else f"{place.generation}:{place.offset}:{place.part}"
    mac = frame.mac(raw) if raw else ""
    kept = "" if raw == event.text else raw  # what the index says in full is not kept twice
    return Draft(
        event=event, raw=kept, mac=mac, manifest=redacted.manifest, source_id=source_id, by_person=by_person, signal=signal, tool=tool
    )


def _event(
    seen: Said | ToolCalled | ToolReturned | Cut, thread: Thread, frame: Frame, kind: EventKind, role: Role, text: str, **more: Any
) -> Event:
    return Event(
        event_id=next(frame.ids),
        session_id=frame.session_id,
        project_id=frame.project_id,
        place=Place(frame.generation, seen.spot.offset, seen.spot.part),
        epoch=thread.epoch,
        kind=kind,
        role=role,
        text=text,
        turn=name(seen.turn),
        native_id=name(seen.native_id),
        source_ms=seen.at_ms,
        captured_ms=frame.now,
        **more,
    )


def bounded(text: str, size: int, chain: Chain, blocked: Sequence[str]) -> tuple[Redacted, bool]:
    """Redacted text of at most about `size` characters and whether it is the whole.

    Of a longer one the head and the tail are kept. Both are redacted with a margin before they are cut: a secret that the cut would halve is
    seen whole. What is cut is the redacted text.
    """
    text = storable(text)
    if not text:
        return Redacted("", {}), True
    if len(text) <= size:
        return chain.redact(text, blocked), True
    half = size // 2
    if len(text) <= size + 2 * MARGIN_CHARS:
        whole = chain.redact(text, blocked)
        if len(whole.text) <= size:
            return whole, True
        start, end = head(whole.text, half), whole.text[tail_start(whole.text, half) :]
        return attrs.evolve(whole, text=_joined(start, end, len(whole.text))), False
    first = chain.redact(head(text, half + MARGIN_CHARS), blocked)
    last = chain.redact(text[tail_start(text, half + MARGIN_CHARS) :], blocked)
    start, end = head(first.text, half), last.text[tail_start(last.text, half) :]
    counts = dict(first.manifest)
    for rule, count in last.manifest.items():
        counts[rule] = counts.get(rule, 0) + count
    return Redacted(_joined(start, end, len(text)), counts, tuple(dict.fromkeys((*first.secrets, *last.secrets)))), False


def _joined(start: str, end: str, total: int) -> str:
    return start + CUT_MARK.format(dropped=total - len(start) - len(end)) + end
