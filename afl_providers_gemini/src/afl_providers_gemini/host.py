"""The host adapter `gemini`: data and pure functions behind the contract, each in a file of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from afl_core.model.observation import Observation
from afl_core.spec.guarded_command import owns_guarded_command
from afl_core.spec.host import HostManifest, HostPlace, Line
from afl_core.spec.transcripts import TranscriptIdentity, TranscriptRoot
from afl_providers_gemini import discovery, heads, place, transcript
from afl_providers_gemini.manifest import MANIFEST, NAME


class GeminiHost:
    """Gemini CLI, as core knows a host."""

    name = NAME

    def manifest(self) -> HostManifest:
        """Events, payload fields, envelope and limits."""
        return MANIFEST

    def locate(self, home: Path, environ: Mapping[str, str]) -> HostPlace:
        """Configuration directory, settings file and command."""
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
        """Where chat logs lie."""
        return discovery.transcript_roots(place)

    def identify(self, path: Path, head: bytes, beside: Callable[[str], bytes | None]) -> TranscriptIdentity | None:
        """Whose a chat log is."""
        return discovery.identify(path, head, beside)
