"""Which of the rows that the host lists are our hooks, and how it sees them. Pure, apart from following links."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs

from afl_core.spec.trust import TrustFinding, TrustState, WantedHook

STATES: Mapping[object, TrustState] = {
    "managed": TrustState.TRUSTED,
    "trusted": TrustState.TRUSTED,
    "modified": TrustState.MODIFIED,
    "untrusted": TrustState.UNTRUSTED,
}

PREFERENCE = (TrustState.TRUSTED, TrustState.MODIFIED, TrustState.UNTRUSTED, TrustState.DISABLED)
"""Where the same hook stands in the file twice, the row that comes nearest to running speaks for it."""


@attrs.frozen
class Row:
    """One of our hooks as the host lists it; a wanted hook that it does not list has neither key nor hash."""

    event: str
    state: TrustState
    key: str = ""
    hash: str = ""
    managed: bool = False

    @property
    def approvable(self) -> bool:
        """Whether trust is missing and may be given: never to a hook that the person switched off."""
        return self.state in (TrustState.UNTRUSTED, TrustState.MODIFIED) and bool(self.key and self.hash)

    def finding(self) -> TrustFinding:
        """For the report."""
        return TrustFinding(self.event, self.state, self.key)


def rows_of(listed: Mapping[str, Any], wanted: Sequence[WantedHook]) -> tuple[Row, ...]:
    """A row for each wanted hook, in that order. `listed` is the entry of one directory."""
    hooks = listed.get("hooks")
    candidates = [hook for hook in hooks if isinstance(hook, dict)] if isinstance(hooks, list) else []
    return tuple(_row(hook, candidates) for hook in wanted)


def entry_for(answer: Mapping[str, Any], cwd: Path) -> Mapping[str, Any] | None:
    """What was listed for exactly this directory, however it is spelled; None when it was not."""
    data = answer.get("data")
    entries = [entry for entry in data if isinstance(entry, dict)] if isinstance(data, list) else []
    return next((entry for entry in entries if _same(entry.get("cwd"), cwd)), None)


def in_file(hook: Mapping[str, Any], path: Path) -> bool:
    """Whether a listed hook stands in this file of the person's own."""
    return hook.get("source") == "user" and _same(hook.get("sourcePath"), path)


def event_name(event: str) -> str:
    """The host's spelling in a listing: `userPromptSubmit` for `UserPromptSubmit`."""
    return event[:1].lower() + event[1:]


def _row(wanted: WantedHook, candidates: Sequence[Mapping[str, Any]]) -> Row:
    rows = [_seen(wanted.event, hook) for hook in candidates if _is(hook, wanted)]
    return min(rows, key=lambda row: PREFERENCE.index(row.state), default=Row(wanted.event, TrustState.MISSING))


def _is(hook: Mapping[str, Any], wanted: WantedHook) -> bool:
    return (
        hook.get("eventName") == event_name(wanted.event)
        and hook.get("handlerType") == "command"
        and hook.get("command") == wanted.command
        and in_file(hook, wanted.settings_path)
    )


def _seen(event: str, hook: Mapping[str, Any]) -> Row:
    managed = hook.get("isManaged") is True
    if hook.get("enabled") is not True:
        state = TrustState.DISABLED
    else:
        # A word of a later version: the host does not say that it runs it, so it is not trusted.
        state = TrustState.TRUSTED if managed else STATES.get(hook.get("trustStatus"), TrustState.UNTRUSTED)
    key, digest = hook.get("key"), hook.get("currentHash")
    return Row(event, state, key if isinstance(key, str) else "", digest if isinstance(digest, str) else "", managed)


def _same(listed: object, path: Path) -> bool:
    return isinstance(listed, str) and os.path.isabs(listed) and os.path.realpath(listed) == os.path.realpath(path)
