"""What one batch of records leaves for the next: the running turn, where prompts hang, and the tool calls still open. Ids and times only, no text."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import attrs

OPEN_CALLS = 64
"""Calls remembered at once; the oldest is forgotten first, and then only its duration is not known."""

PROMPTS_REMEMBERED = 128
"""A person who goes back further than so many prompts is not seen to do so."""

# What is kept goes into a bounded state, and a model chooses some of it.
_PLAIN_ID = re.compile(r"[A-Za-z0-9_.:-]{1,100}")
_UUID = re.compile(r"[A-Za-z0-9-]{1,40}")
_LATEST_MS = 10**15


@attrs.frozen
class OpenCall:
    """A call without a result yet. `asks`: it puts questions to the person, so that its answers are the person's words."""

    at_ms: int | None
    asks: bool


@attrs.define
class ParseState:
    """The state while records are read, one after the other. `turn` is the id of the last prompt seen.

    `under`: the records that prompts hang under, oldest first; a prompt is put under the record that was the last one then. `number`: that of the last prompt.
    """

    turn: str | None = None
    open: dict[str, OpenCall] = attrs.field(factory=dict)
    under: dict[str, None] = attrs.field(factory=dict)
    number: int = 0

    def numbered(self, number: int) -> bool:
        """A person's prompt has this number (0: none): whether an earlier one had it, or a higher one."""
        if not 0 < number < _LATEST_MS:
            return False
        again = number <= self.number
        self.number = number
        return again

    def goes_back(self, parent: str) -> bool:
        """A prompt hangs under `parent`: whether an earlier one does too, which is what going back in the conversation leaves."""
        if not _UUID.fullmatch(parent):
            return False
        known = parent in self.under
        self.under.pop(parent, None)
        self.under[parent] = None
        if len(self.under) > PROMPTS_REMEMBERED:
            del self.under[next(iter(self.under))]
        return known

    def enter(self, turn: str | None) -> None:
        """A record named its turn; those that follow without a name belong to it."""
        if turn and _PLAIN_ID.fullmatch(turn):
            self.turn = turn

    def opened(self, call_id: str, call: OpenCall) -> None:
        """A tool was called."""
        if _PLAIN_ID.fullmatch(call_id) and (call.at_ms is None or abs(call.at_ms) < _LATEST_MS):
            self.open.pop(call_id, None)
            self.open[call_id] = call
            if len(self.open) > OPEN_CALLS:
                del self.open[next(iter(self.open))]

    def closed(self, call_id: str) -> OpenCall | None:
        """A tool returned; its call when that is still remembered."""
        return self.open.pop(call_id, None)

    def stored(self) -> dict[str, Any]:
        """JSON-able, at most 15 KiB. What has an order is a list, oldest first: an object's keys may come back in another order."""
        calls = [[call_id, call.at_ms, call.asks] for call_id, call in self.open.items()]
        return {"turn": self.turn, "open": calls, "under": list(self.under), "number": self.number}


def restored(stored: Mapping[str, Any]) -> ParseState:
    """The state that `stored` described; what is not understood in it is dropped."""
    state = ParseState()
    turn, calls, parents = stored.get("turn"), stored.get("open"), stored.get("under")
    state.enter(turn if isinstance(turn, str) else None)
    for call in calls if isinstance(calls, list | tuple) else ():
        match call:
            case [str(call_id), int() | None as at_ms, bool(asks)]:
                state.opened(call_id, OpenCall(at_ms, asks))
            case _:
                continue
    number = stored.get("number")
    state.number = number if isinstance(number, int) and not isinstance(number, bool) and 0 < number < _LATEST_MS else 0
    for parent in parents if isinstance(parents, list | tuple) else ():
        if isinstance(parent, str):
            state.goes_back(parent)
    return state
