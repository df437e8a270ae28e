"""What capture remembers of a session between two passes: ids, times and counts, never conversation text. Stored with the cursor."""

from __future__ import annotations

from typing import Any

import attrs

CALLS_KEPT = 64
SECRETS_KEPT = 64

ID_CHARS = 128
"""A longer call id is not remembered: hosts' ids are short, and a cursor must stay small."""


@attrs.define
class Thread:
    """The state signals are read from. It changes while a stretch is read; whoever reads one has a thread of its own.

    `agent`: the agent's last event since the person last spoke; `person`: the person's last event. `cut_referent`, `cut_ms` (0: no time) and
    `cut_turn`: an interruption that neither the person nor another turn of the agent has followed yet. `possible`: `agent` is a `turn_cut` that
    only the person's own words tell of. `rewound`: the person went back, and has not said yet what shall be instead. `calls`: call id -> event id.
    `secrets`: keyed hashes of credentials that were shown, so that an echo is blocked. `epoch`: 1 + the compactions seen, the last of them at
    `compacted_ms` (0: none, or no time).
    """

    agent: str | None = None
    person: str | None = None
    cut_ms: int = 0
    cut_referent: str | None = None
    cut_turn: str | None = None
    possible: bool = False
    rewound: bool = False
    calls: dict[str, str] = attrs.field(factory=dict)
    secrets: tuple[str, ...] = ()
    epoch: int = 1
    compacted_ms: int = 0

    @classmethod
    def from_json(cls, body: dict[str, Any]) -> Thread:
        """From what the cursor holds; unknown keys of a newer version are ignored."""
        known = {field.name for field in attrs.fields(cls)}
        values = {name: value for name, value in body.items() if name in known}
        values["calls"] = dict(values.get("calls", {}))
        values["secrets"] = tuple(values.get("secrets", ()))
        return cls(**values)

    def to_json(self) -> dict[str, Any]:
        """For the cursor."""
        return {**attrs.asdict(self), "secrets": list(self.secrets)}

    def called(self, call_id: str, event_id: str) -> None:
        """Remember where a tool call is; the oldest are forgotten."""
        if len(call_id) > ID_CHARS:
            return
        self.calls[call_id] = event_id
        while len(self.calls) > CALLS_KEPT:
            self.calls.pop(next(iter(self.calls)))

    def showed(self, hashes: tuple[str, ...]) -> None:
        """Remember secrets; the oldest are forgotten."""
        if hashes and self.secrets[-len(hashes) :] != hashes:
            self.secrets = tuple(dict.fromkeys((*self.secrets, *hashes)))[-SECRETS_KEPT:]

    def cut(self, referent: str | None, at_ms: int | None, turn: str | None) -> None:
        """The person interrupted this turn; their next words may point at `referent`."""
        self.cut_ms, self.cut_referent, self.cut_turn = at_ms or 0, referent, turn

    def uncut(self) -> None:
        """The interruption is used up."""
        self.cut_ms, self.cut_referent, self.cut_turn = 0, None, None

    def renamed(self, names: dict[str, str]) -> Thread:
        """With provisional event ids replaced by the ones the store really has."""

        def real(event_id: str | None) -> str | None:
            return None if event_id is None else names.get(event_id, event_id)

        return attrs.evolve(
            self,
            agent=real(self.agent),
            person=real(self.person),
            cut_referent=real(self.cut_referent),
            calls={call: names.get(event_id, event_id) for call, event_id in self.calls.items()},
        )
