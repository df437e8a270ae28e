"""A grain as one line for a person: its short address, its type, what it says, how old it is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

SHOWN_CHARS = 160
"""Characters of a grain's text on its line; JSON has the whole."""
SHORT = 12
"""Digits of an address that are shown."""
_STEPS = ((86_400_000, "d"), (3_600_000, "h"), (60_000, "m"), (1_000, "s"))


def lines(found: Iterable[Mapping[str, Any]], now: int) -> list[str]:
    """One line each, with types and texts below one another."""
    return [line(one, now) for one in found]


def line(one: Mapping[str, Any], now: int, mark: str = "") -> str:
    """The line of one grain; `mark` stands before its age."""
    tail = ", ".join(part for part in (mark, age(now - int(one["created_at"]))) if part)
    return f"{one['hash'][:SHORT]}  {one['type']:<11} {text(one)}  ({tail})"


def text(one: Mapping[str, Any]) -> str:
    """What it says, in one line."""
    from afl_core.api.by_hand import text_of

    words = " ".join(text_of(one).split())
    return words if len(words) <= SHOWN_CHARS else words[: SHOWN_CHARS - 1] + "…"


def age(ms: int) -> str:
    """A time span in its largest unit; `now` for less than a second and for what lies ahead."""
    return next((f"{ms // step}{unit}" for step, unit in _STEPS if ms >= step), "now")


def counted(count: int, what: str = "grain") -> str:
    """A number with its noun."""
    return f"{count} {what}" if count == 1 else f"{count} {what}s"
