"""What capture remembers of a session between two passes: ids, times and counts, never conversation text. Stored with the cursor."""

from __future__ import annotations

from typing import Any

import attrs

CALLS_KEPT = 64
SECRETS_KEPT = 64

ID_CHARS = 128
"""A longer call id is not remembered: hosts' ids are short, and a cursor must stay small."""


@attrs.frozen
class Thread:
    """The state signals are read from.

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
        values["secrets"] = tuple(values.get("secrets", ()))
        return cls(**values)

    def to_json(self) -> dict[str, Any]:
        """For the cursor."""
        return {**attrs.asdict(self), "secrets": list(self.secrets)}

    def with_call(self, call_id: str, event_id: str) -> Thread:
        """Remember where a tool call is; the oldest are forgotten."""
        if len(call_id) > ID_CHARS:
            return self
        calls = {**self.calls, call_id: event_id}
        while len(calls) > CALLS_KEPT:
            calls.pop(next(iter(calls)))
        return attrs.evolve(self, calls=calls)

    def with_secrets(self, hashes: tuple[str, ...]) -> Thread:
        """Remember secrets; the oldest are forgotten."""
        if not hashes or self.secrets[-len(hashes) :] == hashes:
            return self
        return attrs.evolve(self, secrets=tuple(dict.fromkeys((*self.secrets, *hashes)))[-SECRETS_KEPT:])

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
