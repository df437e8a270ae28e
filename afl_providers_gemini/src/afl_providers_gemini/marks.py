"""Records that are no message: the header, changes of metadata, the history set anew, going back; and the one notice that matters."""

from __future__ import annotations

from afl_core.model.observation import Compacted, Cut, Observation, Rewound
from afl_core.spec.host import Line
from afl_providers_gemini import heads
from afl_providers_gemini.record import Record, mapping_of, spoken
from afl_providers_gemini.state import ParseState
from afl_providers_gemini.texts import is_snapshot

SUBAGENT = "subagent"
CANCELLED = heads.CANCELLED.decode()

_SETS_HISTORY = heads.SET + heads.MESSAGES
_SNAPSHOT = b"<state_snapshot>"


def only_repeats(line: Line) -> bool:
    """Whether the line sets the history anew and holds no summary, told without reading it: it may be many megabytes long."""
    return line.data.startswith(_SETS_HISTORY) and _SNAPSHOT not in line.data


def set_record(record: Record, state: ParseState) -> list[Observation]:
    """The history set anew ends a run of repeated messages. Nothing in it is new but a summary, which begins an epoch."""
    messages = mapping_of(record.fields.get("$set")).get("messages")
    if not isinstance(messages, list):
        return []
    state.replay_ms = None
    found: list[Observation] = []
    for number, fields in enumerate(messages):
        message = Record(record.offset, mapping_of(fields))
        texts = (spoken(part) for part in message.parts) if message.kind == "user" else ()
        if any(text and is_snapshot(text) and state.is_new_snapshot(text) for text in texts):
            found.append(Compacted(record.spot(number), at_ms=message.at_ms))
    return found


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
