"""What one batch of records leaves for the next: ids, times and short keyed digests, no conversation text.

The digests serve two questions only: is a text that comes the moment a turn was cut one that was said before, and does a record continue the turn of
the last prompt. They are 32 bits wide and keyed by the session's id: enough to compare within one log, useless to look a text up.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from hashlib import blake2b
from typing import Any

import attrs

MESSAGES_KEPT = 128
"""Message ids remembered: the host writes a message again when its tool calls are done, with nothing but notices in between."""

CALLS_KEPT = 256
"""Tool calls remembered: a message of parallel calls is written again for each group that is done."""

PROMPTS_KEPT = 256
"""The person's last texts, as digests; the first of the session is kept beside them."""

SNAPSHOTS_KEPT = 8
"""Summaries of compactions, as digests: each stands in the history, and so in every repetition of it, until the next replaces it."""

DIGEST_BYTES = 4
KEY_BYTES = 16

_DIGEST = re.compile(r"[0-9a-f]{8}")
_KEY = re.compile(r"[0-9a-f]{32}")
# What is kept goes into a bounded state.
_PLAIN_ID = re.compile(r"[A-Za-z0-9_.:-]{1,100}")
_LATEST_MS = 10**15


@attrs.define
class ParseState:
    """The state while records are read, one after the other.

    `subagent`: the log is a subagent's, nobody in it is a person. `turn`: the id of the record that began the running turn. `prompt`: digests of the
    words that began it, as sent and as typed. `cut_ms`: the turn was cut then, and nothing followed. `replay_ms`: the host is writing its history
    once more, the last record of it at that time.
    """

    key: str = ""
    subagent: bool = False
    turn: str | None = None
    cut_ms: int | None = None
    replay_ms: int | None = None
    first: str | None = None
    prompt: list[str] = attrs.field(factory=list)
    messages: list[str] = attrs.field(factory=list)
    calls: list[str] = attrs.field(factory=list)
    prompts: list[str] = attrs.field(factory=list)
    snapshots: list[str] = attrs.field(factory=list)

    def open(self, session: str, *, subagent: bool) -> None:
        """A header: the log's beginning, or its being taken up again. The history that is written after it comes in one piece, so nothing is cut."""
        self.key = blake2b(session.encode("utf-8", "replace"), digest_size=KEY_BYTES).hexdigest()
        self.subagent = subagent
        self.cut_ms = self.replay_ms = None

    def enter(self, turn: str | None) -> None:
        """A prompt began a turn."""
        self.turn = turn if turn and _PLAIN_ID.fullmatch(turn) else None

    def digest(self, text: str) -> str:
        """The text's digest in this session."""
        return blake2b(text.encode("utf-8", "replace"), digest_size=DIGEST_BYTES, key=bytes.fromhex(self.key)).hexdigest()

    def said(self, words: str, typed: str) -> None:
        """The person's words, as they were sent and as they were typed: they began a turn."""
        digest = self.digest(words)
        self.first = self.first or digest
        self.prompt = list(dict.fromkeys((digest, self.digest(typed))))
        _keep(self.prompts, digest, PROMPTS_KEPT)

    def began_with(self, typed: str) -> bool:
        """Whether these are the words of the running turn's prompt."""
        return self.digest(typed) in self.prompt

    def knows_prompt(self, words: str) -> bool:
        """Whether the person has said this before."""
        digest = self.digest(words)
        return digest == self.first or digest in self.prompts

    def is_new_message(self, message: str | None) -> bool:
        """Whether this message comes for the first time; from now on it does not."""
        return message is None or _is_new(self.messages, self.digest(message), MESSAGES_KEPT)

    def is_new_call(self, call: str) -> bool:
        """Whether this tool call comes for the first time; from now on it does not."""
        return _is_new(self.calls, self.digest(call), CALLS_KEPT)

    def is_new_snapshot(self, text: str) -> bool:
        """Whether this summary comes for the first time; from now on it does not."""
        return _is_new(self.snapshots, self.digest(text), SNAPSHOTS_KEPT)

    def knows_snapshot(self, text: str) -> bool:
        """Whether this text was met as a summary."""
        return self.digest(text) in self.snapshots

    def stored(self) -> dict[str, Any]:
        """JSON-able, at most 9 KiB."""
        return {name: value for name, value in attrs.asdict(self).items() if value not in (None, [], "", False)}


def _is_new(known: list[str], digest: str, size: int) -> bool:
    is_new = digest not in known
    _keep(known, digest, size)
    return is_new


def _keep(known: list[str], digest: str, size: int) -> None:
    """What was met last stands last and is forgotten last."""
    if digest in known:
        known.remove(digest)
    known.append(digest)
    del known[:-size]


def restored(stored: Mapping[str, Any]) -> ParseState:
    """The state that `stored` described; what is not understood in it is dropped."""
    state = ParseState()
    turn, key, first = stored.get("turn"), stored.get("key"), stored.get("first")
    state.enter(turn if isinstance(turn, str) else None)
    state.key = key if isinstance(key, str) and _KEY.fullmatch(key) else ""
    state.first = first if isinstance(first, str) and _DIGEST.fullmatch(first) else None
    state.subagent = stored.get("subagent") is True
    state.cut_ms, state.replay_ms = _time(stored.get("cut_ms")), _time(stored.get("replay_ms"))
    state.prompt = _digests(stored.get("prompt"), 2)
    state.messages = _digests(stored.get("messages"), MESSAGES_KEPT)
    state.calls = _digests(stored.get("calls"), CALLS_KEPT)
    state.prompts = _digests(stored.get("prompts"), PROMPTS_KEPT)
    state.snapshots = _digests(stored.get("snapshots"), SNAPSHOTS_KEPT)
    return state


def _time(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and abs(value) < _LATEST_MS else None


def _digests(value: object, size: int) -> list[str]:
    found = value if isinstance(value, list | tuple) else []
    return [one for one in found if isinstance(one, str) and _DIGEST.fullmatch(one)][-size:]
