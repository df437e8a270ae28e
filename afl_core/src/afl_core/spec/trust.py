"""The optional part of a host adapter for hosts that run a hook only after it was trusted. Core runs the process; the adapter speaks its language."""

from __future__ import annotations

import enum
from collections.abc import Generator, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import attrs

from afl_core.spec.host import HostPlace


class TrustState(enum.Enum):
    """How the host sees one of our hooks."""

    TRUSTED = "trusted"
    MODIFIED = "modified"
    UNTRUSTED = "untrusted"
    DISABLED = "disabled"
    MISSING = "missing"
    UNAVAILABLE = "unavailable"


@attrs.frozen
class WantedHook:
    """A hook of ours as install wrote it: event name, exact command, and the file it stands in."""

    event: str
    command: str
    settings_path: Path


@attrs.frozen
class TrustFinding:
    """What the host says of one hook. `key`: its name for it, '' when it has none."""

    event: str
    state: TrustState
    key: str = ""


@attrs.frozen
class TrustReport:
    """What the host said of all of them. `changed`: trust was given, or taken back, now. `reason`: what went wrong, '' otherwise (one line, no secrets)."""

    findings: tuple[TrustFinding, ...]
    changed: bool = False
    reason: str = ""

    def states(self) -> frozenset[TrustState]:
        """The states that occur."""
        return frozenset(finding.state for finding in self.findings)

    def of(self, *states: TrustState) -> tuple[str, ...]:
        """The events whose hook is in one of these states."""
        return tuple(finding.event for finding in self.findings if finding.state in states)


@attrs.frozen
class Ask:
    """One message to the host's server. `answer_id` None: no answer comes; else the answer is the message whose `id` is this."""

    message: Mapping[str, Any]
    answer_id: int | None = None


TrustDialogue = Generator[Ask, Mapping[str, Any] | None, TrustReport]
"""Yields what to say, is sent each answer (None where none comes), and returns the report."""


@runtime_checkable
class AsksTrust(Protocol):
    """An adapter that also has these gets its hooks trusted by install and checked by doctor."""

    def trust_commands(self, place: HostPlace, environ: Mapping[str, str]) -> tuple[tuple[str, ...], ...]:
        """The servers to try, in order. Only one that does not answer the first message is followed by the next."""
        ...

    def trust_environment(self, place: HostPlace, environ: Mapping[str, str]) -> Mapping[str, str]:
        """What is set for the server besides the manifest's routing names and HOME, so that it looks at the same files as the host itself."""
        ...

    def trust_store(self, place: HostPlace) -> Path:
        """The file in which the host keeps what it trusts: core copies it before trust is given, and puts it back when it was not touched since."""
        ...

    def trust_dialogue(self, wanted: Sequence[WantedHook], cwd: Path, *, approve: bool) -> TrustDialogue:
        """What to say to it. With `approve` exactly the wanted hooks are trusted, never one that the person disabled; without, it only looks."""
        ...

    def distrust_dialogue(self, wanted: Sequence[WantedHook], cwd: Path) -> TrustDialogue:
        """What to say so that the host forgets exactly its trust in the wanted hooks; what the person switched off stays noted."""
        ...
