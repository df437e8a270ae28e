"""The host adapter `codex`: data and pure functions behind the contract, each in a file of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from afl_core.model.observation import Observation
from afl_core.spec.guarded_command import owns_guarded_command
from afl_core.spec.host import HostManifest, HostPlace, Line
from afl_core.spec.transcripts import TranscriptIdentity, TranscriptRoot
from afl_providers_codex import heads, place, rollouts, transcript
from afl_providers_codex.manifest import MANIFEST, NAME
from afl_providers_codex.trust import CodexTrust


class CodexHost(CodexTrust):
    """Codex CLI, as core knows a host; that part which gets our hooks trusted is `CodexTrust`."""

    name = NAME

    def manifest(self) -> HostManifest:
        """Events, payload fields, envelope and limits."""
        return MANIFEST

    def locate(self, home: Path, environ: Mapping[str, str]) -> HostPlace:
        """Its directory, hooks file and command."""
        return place.locate(home, environ)

    def wants(self, head: bytes) -> bool:
        """Whether the record must be parsed at all."""
        return heads.wants(head)

    def parse(self, lines: Sequence[Line], state: Mapping[str, Any]) -> tuple[list[Observation], dict[str, Any]]:
        """Observations in order and the state for the next call."""
        return transcript.parse(lines, state)

    def owns_command(self, command: str) -> bool:
        """Whether a hook command is ours, of any version."""
        return owns_guarded_command(command, NAME)

    def transcript_roots(self, place: HostPlace) -> tuple[TranscriptRoot, ...]:
        """Where rollouts are, archived and compressed ones included."""
        return rollouts.transcript_roots(place)

    def identify(self, path: Path, head: bytes, beside: Callable[[str], bytes | None]) -> TranscriptIdentity | None:
        """Whose rollout a file is; its content alone tells."""
        return rollouts.identify(head)
