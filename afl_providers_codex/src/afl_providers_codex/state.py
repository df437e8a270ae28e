"""What one batch of records leaves for the next: whose file it is, the running turn, the calls still open. Ids, times and flags only."""

from __future__ import annotations

import re
import zlib
from collections.abc import Mapping
from typing import Any

import attrs

from afl_providers_codex.record import born_ms

OPEN_CALLS = 64
"""Calls remembered at once; the oldest is forgotten first, and then its result is not told."""

NUMBERED_ID = "item-"
"""How ids begin that the host gave when it rewrote an old file: every file has the same ones."""

WORDS_SEEN = 64
"""The person's last messages, by id: what a compaction repeats of them is not told again."""

# What is kept goes into a bounded state, and a model chooses some of it.
_PLAIN_ID = re.compile(r"[A-Za-z0-9_.:~-]{1,72}")
_LATEST_MS = 10**15


@attrs.frozen
class OpenCall:
    """A call without a result yet. `looks`: it only looks at a command that another call started."""

    at_ms: int | None
    looks: bool = False


@attrs.define
class ParseState:
    """The state while records are read, one after the other.

    `own`: the id of the session this file belongs to. `child`: a subagent's file, of which nothing is told. `forked_ms`: when this session
    was forked from another, whose messages are not its own. `copying`: the records are copies out of that other session. `noted`: the file
    says who spoke. `turn`: the running one, in which the person first spoke at `spoke_ms`, and since whose last words the agent `acted`;
    `named`: how many messages of it had no id of their own.
    """

    own: str | None = None
    child: bool = False
    forked_ms: int | None = None
    copying: bool = False
    noted: bool = False
    turn: str | None = None
    spoke: bool = False
    spoke_ms: int | None = None
    acted: bool = False
    named: int = 0
    open: dict[str, OpenCall] = attrs.field(factory=dict)
    seen: dict[str, None] = attrs.field(factory=dict)

    def enter(self, turn: str | None, started_ms: int | None = None) -> None:
        """A turn began, or a record named the running one."""
        if not turn or not _PLAIN_ID.fullmatch(turn) or turn == self.turn:
            return
        self.turn, self.spoke, self.spoke_ms, self.acted, self.named = turn, False, None, False, 0
        began = born_ms(turn) or started_ms
        if self.copying and self.forked_ms is not None and began is not None and began >= self.forked_ms:
            self.copying = False

    def agent_acted(self, turn: str | None) -> None:
        """The agent said or did something. What ends late belongs to its own turn."""
        if turn is None or turn == self.turn:
            self.acted = True

    def person_spoke(self, at_ms: int | None) -> None:
        """The person said something in the running turn."""
        if not self.spoke:
            self.spoke, self.spoke_ms = True, _plain_time(at_ms)
        self.acted = False

    def name(self, own: str | None, turn: str | None = None) -> str | None:
        """A name that no other session has, the same before and after the host rewrote an old file (which numbers its items).

        The host's own ids are that. A model's need not be (`call_0`), so its turn is put before it; what has no id is counted in its turn.
        """
        if own is not None and born_ms(own) is not None:
            return own
        turn = turn or self.turn
        if own is None or own.startswith(NUMBERED_ID):
            self.named += 1
            own = str(self.named)
        return f"{turn}:{own}" if turn else None

    def opened(self, call_id: str, call: OpenCall) -> None:
        """A tool was called."""
        if _PLAIN_ID.fullmatch(call_id):
            self.open.pop(call_id, None)
            self.open[call_id] = attrs.evolve(call, at_ms=_plain_time(call.at_ms))
            if len(self.open) > OPEN_CALLS:
                del self.open[next(iter(self.open))]

    def closed(self, call_id: str) -> OpenCall | None:
        """A tool returned; its call when it has not returned before."""
        return self.open.pop(call_id, None)

    def saw(self, name: str) -> None:
        """A message of the person's was told, or is that of another session."""
        if _PLAIN_ID.fullmatch(name):
            self.seen.pop(name, None)
            self.seen[name] = None
            if len(self.seen) > WORDS_SEEN:
                del self.seen[next(iter(self.seen))]

    def stored(self) -> dict[str, Any]:
        """JSON-able, at most 12 KiB. What has an order is a list: an object's keys may come back in another one."""
        body = attrs.asdict(self, recurse=False)
        body["open"] = [[call_id, call.at_ms, call.looks] for call_id, call in self.open.items()]
        body["seen"] = list(self.seen)
        return body


def restored(stored: Mapping[str, Any]) -> ParseState:
    """The state that `stored` described; what is not understood in it is dropped."""
    state = ParseState()
    for flag in ("child", "copying", "noted", "spoke", "acted"):
        setattr(state, flag, stored.get(flag) is True)
    state.named = _plain_time(stored.get("named")) or 0
    for time in ("forked_ms", "spoke_ms"):
        setattr(state, time, _plain_time(stored.get(time)))
    for name in ("own", "turn"):
        given = stored.get(name)
        setattr(state, name, given if isinstance(given, str) and _PLAIN_ID.fullmatch(given) else None)
    for call in _listed(stored.get("open")):
        match call:
            case [str(call_id), at_ms, bool(looks)]:
                state.opened(call_id, OpenCall(_plain_time(at_ms), looks))
            case _:
                continue
    for seen in _listed(stored.get("seen")):
        if isinstance(seen, str):
            state.saw(seen)
    return state


def mark_of(text: str) -> str:
    """A name for a message without an id: 32 bits, enough to know it again among a few dozen and too few to tell what it says."""
    return f"~{zlib.crc32(text.encode('utf-8', 'replace')):08x}"


def _listed(value: object) -> list[Any] | tuple[Any, ...]:
    return value if isinstance(value, list | tuple) else []


def _plain_time(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < _LATEST_MS else None
