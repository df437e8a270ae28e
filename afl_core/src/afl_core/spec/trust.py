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
    """What the host said of all of them. `changed`: trust was given now. `reason`: why nothing is known, '' otherwise."""

    findings: tuple[TrustFinding, ...]
    changed: bool = False
    reason: str = ""


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
        """The servers to try, in order. Only one that cannot be started, or ends before it answered the first message, is followed by the next."""
        ...

    def trust_dialogue(self, wanted: Sequence[WantedHook], cwd: Path, *, approve: bool) -> TrustDialogue:
        """What to say to it. With `approve` exactly the wanted hooks are trusted, never one that the person disabled; without, it only looks."""
        ...
