"""Records of a session's life: whose file it is, turns that begin, end, fail or are cut off, and the person going back."""

from __future__ import annotations

from afl_core.model.json_values import milliseconds, text_of, whole_number
from afl_core.model.observation import Cut, Observation, Rewound, Said, Speaker
from afl_providers_codex.record import Record, born_ms
from afl_providers_codex.state import ParseState

INTERRUPTED = "interrupted"
"""Of the reasons why a turn was ended, the one that is the person's doing."""


def session_meta(record: Record, state: ParseState) -> list[Observation]:
    """The first one says whose file this is; one of another session stands before records copied from it (0.142). A segment begins where the person went back."""
    own = record.text("id")
    if state.own is not None:
        if state.forked_ms is not None and own != state.own:
            state.copying = True
        return []
    if own is None:
        return []
    state.own = own
    state.child = is_child(record.payload.get("source"), record.payload.get("thread_source"), record.text("parent_thread_id"))
    if record.mapping("history_base").get("thread_id") == own:
        return [Rewound(record.spot(), at_ms=record.at_ms)]
    if record.text("forked_from_id") or record.mapping("history_base"):
        state.forked_ms = milliseconds(record.payload.get("timestamp")) or record.at_ms
    return []


def is_child(source: object, thread_source: object, parent: str | None) -> bool:
    """Whether the session is a subagent's or a job of the host's, and not a conversation with a person."""
    inner = isinstance(source, dict) and bool({"subagent", "internal"} & source.keys())
    return inner or parent is not None or thread_source not in (None, "user")


def turn_began(record: Record, state: ParseState) -> list[Observation]:
    """A turn's start or its settings: both name it."""
    started = whole_number(record.payload.get("started_at"))
    state.enter(record.text("turn_id"), None if started is None else started * 1000 + 999)
    return []


def turn_aborted(record: Record, state: ParseState) -> list[Observation]:
    """An interruption by the person. The message that repeats it to the model is not read."""
    if record.text("reason") != INTERRUPTED:
        return []
    turn = record.text("turn_id") or state.turn
    return [Cut(record.spot(), native_id=f"{turn}:cut" if turn else None, turn=turn, at_ms=record.at_ms)]


def turn_ended(record: Record, state: ParseState) -> list[Observation]:
    """Nothing, unless the turn failed: then what the host says of it, which is nobody's words."""
    message = text_of(record.mapping("error").get("message"))
    turn = record.text("turn_id") or state.turn
    return [Said(record.spot(), Speaker.MACHINE, message, turn=turn, at_ms=record.at_ms)] if message else []


def rolled_back(record: Record, state: ParseState) -> list[Observation]:
    """The person took turns back inside the same file (before 0.169)."""
    state.acted = False
    return [Rewound(record.spot(), at_ms=record.at_ms)]


def is_before_fork(native_id: str | None, at_ms: int | None, state: ParseState) -> bool:
    """Whether a message is older than this session, so that it was said in the one it was forked from."""
    said = born_ms(native_id) or at_ms
    return state.forked_ms is not None and said is not None and said < state.forked_ms
