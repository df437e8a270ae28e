"""What the front knows of hosts and of the prompt path's settings: read from one file that install writes, again whenever it changes."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any, NamedTuple

from afl_core.model.codec import compact

CONTEXT_SLOT = "{context}"
"""The leaf of an envelope that is replaced; the same as in the host contract, which the front does not import."""


class Host(NamedTuple):
    """One host's part of the file; names as in the host contract."""

    name: str
    kinds: Mapping[str, str]
    injecting: frozenset[str]
    fields: Mapping[str, str]
    envelope: Mapping[str, Any]
    noop: bytes
    limit_chars: int | None
    limit_bytes: int | None
    machine_prefixes: tuple[str, ...]
    compaction_sources: tuple[str, ...]
    prepended: tuple[tuple[str, str], ...] = ()
    appended: tuple[tuple[str, str], ...] = ()

    def injects(self, event: str) -> bool:
        """Whether a reply to this event can carry text to the model."""
        return event in self.injecting and event in self.envelope

    def reply(self, event: str, context: str) -> bytes:
        """The host's envelope for an event around `context`; its no-op when the text is empty or the host takes none there."""
        if not context or not self.injects(event):
            return self.noop
        return compact(_filled(self.envelope[event], context)).encode("utf-8", "replace")


def _filled(value: Any, context: str) -> Any:
    if value == CONTEXT_SLOT:
        return context
    if isinstance(value, dict):
        return {key: _filled(item, context) for key, item in value.items()}
    if isinstance(value, list):
        return [_filled(item, context) for item in value]
    return value


class PromptPath(NamedTuple):
    """The whole file."""

    hosts: Mapping[str, Host]
    memory_enabled: bool
    memory_budget: int
    selector_name: str
    selector_target: str | None
    scheduled: bool = False


EMPTY = PromptPath({}, memory_enabled=True, memory_budget=0, selector_name="default", selector_target=None)

OFF = frozenset({"0", "false", "no", "off"})
ON = frozenset({"1", "true", "yes", "on"})


def for_session(path: PromptPath, env: Mapping[str, str]) -> PromptPath:
    """The prompt path as the session's own variables change it; a value that is none changes nothing."""
    switch = env.get("AGENT_FEEDBACK_LOOP_MEMORY_ENABLED", "").strip().lower()
    budget = env.get("AGENT_FEEDBACK_LOOP_MEMORY_BUDGET", "").strip()
    return path._replace(
        memory_enabled=switch in ON if switch in ON | OFF else path.memory_enabled,
        memory_budget=int(budget) if budget.isascii() and budget.isdigit() else path.memory_budget,
    )


def parse(text: str) -> PromptPath:
    """The file's content. Raises `ValueError` when it has another shape."""
    try:
        body = json.loads(text)
        selector = body.get("selector") or {}
        return PromptPath(
            {name: _host(name, entry) for name, entry in body["hosts"].items()},
            bool(body.get("memory_enabled", True)),
            int(body.get("memory_budget", 0)),
            str(selector.get("name", "default")),
            selector.get("target") or None,
            bool((body.get("schedule") or {}).get("installed")),
        )
    except (KeyError, TypeError, AttributeError, RecursionError) as bad:
        raise ValueError(f"unexpected shape: {bad!r}") from bad


def _host(name: str, entry: Mapping[str, Any]) -> Host:
    return Host(
        name,
        {event["name"]: event["kind"] for event in entry["events"]},
        frozenset(event["name"] for event in entry["events"] if event.get("injects")),
        dict(entry["fields"]),
        dict(entry["envelope"]),
        entry["noop"].encode(),
        entry.get("limit_chars"),
        entry.get("limit_bytes"),
        tuple(entry.get("machine_prefixes", ())),
        tuple(entry.get("compaction_sources", ())),
        tuple((start, end) for start, end in entry.get("prepended", ())),
        tuple((start, end) for start, end in entry.get("appended", ())),
    )


class Manifests:
    """The file, kept until it changes. A file that cannot be read leaves what was known before; `fault` says why."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._stamp: tuple[int, ...] | None = None
        self._held = EMPTY
        self.fault = ""

    def current(self) -> PromptPath:
        """The content as of now."""
        try:
            seen = os.stat(self._path)
            stamp = (seen.st_mtime_ns, seen.st_size, seen.st_ino)
            if stamp != self._stamp:
                self._stamp = stamp
                with open(self._path, encoding="utf-8") as handle:
                    self._held = parse(handle.read())
                self.fault = ""
        except OSError as bad:
            self._stamp = None  # the file as it was may come back: then it is read again, and the fault is over
            self.fault = f"{self._path}: {bad}"
        except ValueError as bad:
            self.fault = f"{self._path}: {bad}"
        return self._held
