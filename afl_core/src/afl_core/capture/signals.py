"""Structural reasons to review at once: read from what happened, never from the words. Touches nothing but the thread it is given."""

from __future__ import annotations

from afl_core.capture.thread import Thread
from afl_core.model.event import Signal, SignalKind
from afl_core.model.observation import Said


def agent_acted(thread: Thread, event_id: str, turn: str | None) -> None:
    """The agent said or did something: the person's next words may point at it. In another turn than the interrupted one, the interruption is over."""
    thread.agent, thread.possible, thread.rewound = event_id, False, False
    if turn != thread.cut_turn:
        thread.uncut()


def turn_cut(thread: Thread, event_id: str | None, at_ms: int | None, turn: str | None) -> None:
    """The person interrupted the running turn. `event_id` is the `turn_cut` event where the host kept no word of the agent."""
    thread.agent = event_id or thread.agent
    thread.cut(thread.agent, at_ms, turn)


def maybe_cut(thread: Thread, event_id: str) -> None:
    """The person spoke while the agent worked, and the host kept nothing of that work: the `turn_cut` event stands for it."""
    thread.agent, thread.possible = event_id, True


def rewound(thread: Thread) -> None:
    """The person went back. With nothing of the agent since their last words, that only withdraws those words."""
    thread.uncut()
    thread.rewound = thread.agent is not None


def needs_turn_cut(thread: Thread) -> bool:
    """Whether the interrupted turn left nothing of the agent to point at."""
    return thread.agent is None


def person_spoke(thread: Thread, said: Said, event_id: str, window_ms: int) -> Signal | None:
    """The person's words: the signal they are, if any.

    Rejection before steering before going back before interruption: the nearest cause wins. An interruption counts when the words follow within the window
    (or the host gave no time); the first words after it use it up either way, except those that were typed into a permission prompt.
    """
    thread.person = event_id
    if said.rejects is not None:
        referent = thread.calls.get(said.rejects) or thread.agent
        return Signal(event_id=event_id, kind=SignalKind.REJECTION, referent_id=referent) if referent is not None else None
    signal = None
    if said.steering:
        if thread.agent is not None:
            kind = SignalKind.POSSIBLE_STEERING if thread.possible else SignalKind.STEERING
            signal = Signal(event_id=event_id, kind=kind, referent_id=thread.agent)
        thread.uncut()
        return signal
    if thread.rewound and thread.agent is not None:
        signal = Signal(event_id=event_id, kind=SignalKind.REWIND, referent_id=thread.agent)
    elif thread.cut_referent is not None and _within(thread.cut_ms, said.at_ms, window_ms):
        signal = Signal(event_id=event_id, kind=SignalKind.INTERRUPTION, referent_id=thread.cut_referent)
    thread.uncut()
    thread.agent, thread.possible, thread.rewound = None, False, False
    return signal


def _within(cut_ms: int, said_ms: int | None, window_ms: int) -> bool:
    """Words that stand behind the interruption but are dated before it followed it all the same: a clock was set back."""
    return not cut_ms or said_ms is None or said_ms - cut_ms <= window_ms
