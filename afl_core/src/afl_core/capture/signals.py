"""Structural reasons to review at once: read from what happened, never from the words. Pure."""

from __future__ import annotations

import attrs

from afl_core.capture.thread import Thread
from afl_core.model.event import Signal, SignalKind
from afl_core.model.observation import Said


def agent_acted(thread: Thread, event_id: str, turn: str | None) -> Thread:
    """The agent said or did something: the person's next words may point at it. In another turn than the interrupted one, the interruption is over."""
    thread = attrs.evolve(thread, agent=event_id, possible=False, rewound=False)
    return thread if turn == thread.cut_turn else without_cut(thread)


def turn_cut(thread: Thread, event_id: str | None, at_ms: int | None, turn: str | None) -> Thread:
    """The person interrupted the running turn. `event_id` is the `turn_cut` event where the host kept no word of the agent."""
    referent = event_id or thread.agent
    return attrs.evolve(thread, cut_ms=at_ms or 0, cut_referent=referent, cut_turn=turn, agent=referent)


def maybe_cut(thread: Thread, event_id: str) -> Thread:
    """The person spoke while the agent worked, and the host kept nothing of that work: the `turn_cut` event stands for it."""
    return attrs.evolve(thread, agent=event_id, possible=True)


def rewound(thread: Thread) -> Thread:
    """The person went back. With nothing of the agent since their last words, that only withdraws those words."""
    return attrs.evolve(without_cut(thread), rewound=thread.agent is not None)


def needs_turn_cut(thread: Thread) -> bool:
    """Whether the interrupted turn left nothing of the agent to point at."""
    return thread.agent is None


def without_cut(thread: Thread) -> Thread:
    """With the interruption used up."""
    return attrs.evolve(thread, cut_ms=0, cut_referent=None, cut_turn=None)


def person_spoke(thread: Thread, said: Said, event_id: str, window_ms: int) -> tuple[Thread, Signal | None]:
    """The person's words: the signal they are, if any, and the state after them.

    Rejection before steering before going back before interruption: the nearest cause wins. An interruption counts when the words follow within the window
    (or the host gave no time); the first words after it use it up either way, except those that were typed into a permission prompt.
    """
    signal = None
    if said.rejects is not None:
        referent = thread.calls.get(said.rejects) or thread.agent
        if referent is not None:
            signal = Signal(event_id=event_id, kind=SignalKind.REJECTION, referent_id=referent)
        return attrs.evolve(thread, person=event_id), signal
    if said.steering:
        if thread.agent is not None:
            kind = SignalKind.POSSIBLE_STEERING if thread.possible else SignalKind.STEERING
            signal = Signal(event_id=event_id, kind=kind, referent_id=thread.agent)
        return attrs.evolve(without_cut(thread), person=event_id), signal
    if thread.rewound and thread.agent is not None:
        signal = Signal(event_id=event_id, kind=SignalKind.REWIND, referent_id=thread.agent)
    elif thread.cut_referent is not None and _within(thread.cut_ms, said.at_ms, window_ms):
        signal = Signal(event_id=event_id, kind=SignalKind.INTERRUPTION, referent_id=thread.cut_referent)
    return attrs.evolve(without_cut(thread), person=event_id, agent=None, possible=False, rewound=False), signal


def _within(cut_ms: int, said_ms: int | None, window_ms: int) -> bool:
    """Words that stand behind the interruption but are dated before it followed it all the same: a clock was set back."""
    return not cut_ms or said_ms is None or said_ms - cut_ms <= window_ms
