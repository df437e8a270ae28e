"""The words of a hold: severe memory that could not be loaded, which lessons, and what to do. Nothing is blocked by it.

The front runs through this file.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from afl_core.lessons.frame import HOLD_LINE
from afl_core.model.card_text import short_id

SAFETY = "safety_hold"
OVERFLOW = "memory_overflow_hold"

NAMED = 8
"""Lessons a hold names; the rest are counted."""

_REASONS = {
    "conflict": "contradicts another lesson",
    "severe_limit": "more severe lessons than one prompt may carry",
    "candidate_limit": "more lessons than one prompt may carry",
    "oversize": "too long for any prompt",
    "budget": "over the token budget",
    "host_limit": "over the host's limit",
}


class Held(NamedTuple):
    """A severe lesson that is missing. `reason` as in `selection.Omitted`."""

    severity: str
    lesson_id: str
    reason: str


def texts(state: str, held: Sequence[Held]) -> Iterator[str]:
    """The hold, longest form first: with the lessons named and why, then with their number only."""
    named = "; ".join(f"{one.severity} lesson {short_id(one.lesson_id)} ({_REASONS[one.reason]})" for one in held[:NAMED])
    if len(held) > NAMED:
        named += f"; {len(held) - NAMED} more"
    for missing in (f"{len(held)} severe: {named}", f"{len(held)} severe"):
        yield (
            f"{HOLD_LINE}\nstate={state}\n"
            f"Lessons the person taught could not be loaded whole ({missing}). Before a high-risk or irreversible action, stop and ask; keep the"
            " task pending until then. This is a checkpoint for you only: nothing is enforced. The person can look at these lessons with"
            " `afl memory show` and switch one off with `afl memory disable`."
        )
