"""Records that are no message: the header, changes of metadata, the history set anew, going back; and the one notice that matters."""

from __future__ import annotations

from itertools import zip_longest

from afl_core.model.json_values import mapping_of
from afl_core.model.observation import Compacted, Cut, Observation, Rewound
from afl_core.spec.host import Line
from afl_providers_gemini import heads
from afl_providers_gemini.record import Record, spoken
from afl_providers_gemini.state import ParseState
from afl_providers_gemini.texts import ACKNOWLEDGED, is_session_context, is_snapshot

SUBAGENT = "subagent"
CANCELLED = heads.CANCELLED.decode()

_SETS_HISTORY = heads.SET + heads.MESSAGES
_SUMMARY_MARKS = (b"<state_snapshot>", ACKNOWLEDGED.encode())


def only_repeats(line: Line) -> bool:
    """Whether the line sets the history anew and holds no summary, told without reading it: it may be many megabytes long."""
    return line.data.startswith(_SETS_HISTORY) and not any(mark in line.data for mark in _SUMMARY_MARKS)


def set_record(record: Record, state: ParseState) -> list[Observation]:
    """The history set anew ends a run of repeated messages. Nothing in it is new but a summary, which begins an epoch.

    A summary is told by its form, or, as a model may have written anything, by the words that the host puts behind it.
    """
    messages = mapping_of(record.fields.get("$set")).get("messages")
    if not isinstance(messages, list):
        return []
    state.replay_ms = None
    found: list[Observation] = []
    history = [Record(record.offset, mapping_of(fields)) for fields in messages]
    for number, (message, following) in enumerate(zip_longest(history, history[1:])):
        texts = [text for part in message.parts if (text := spoken(part))] if message.kind == "user" else []
        last = len(texts) - 1 if following is not None and _acknowledges(following) else None
        summaries = [text for at, text in enumerate(texts) if is_snapshot(text) or (at == last and not is_session_context(text))]
        if any(state.is_new_snapshot(text) for text in summaries):
            found.append(Compacted(record.spot(number), at_ms=message.at_ms))
    return found


def _acknowledges(message: Record) -> bool:
    return message.kind == "gemini" and [spoken(part) for part in message.parts] == [ACKNOWLEDGED]


def rewind_record(record: Record, state: ParseState) -> list[Observation]:
    """The person went back to before an earlier prompt. The record has no time."""
    state.cut_ms = None
    return [Rewound(record.spot())]


def header_record(record: Record, state: ParseState) -> list[Observation]:
    """The log begins, or a later run of the host takes it up."""
    if session := record.text("sessionId"):
        state.open(session, subagent=record.text("kind") == SUBAGENT)
    return []


def note_record(record: Record, state: ParseState) -> list[Observation]:
    """The person cut the turn. What the agent was saying is kept nowhere."""
    if record.text("content") != CANCELLED or not state.is_new_message(record.id):
        return []
    state.cut_ms = record.at_ms
    return [Cut(record.spot(), native_id=record.id, turn=state.turn, at_ms=record.at_ms)]


def ends_repeats(state: ParseState) -> None:
    """What `set_record` does for a line that was not read."""
    state.replay_ms = None
