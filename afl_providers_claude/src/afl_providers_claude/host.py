"""The host adapter `claude`: data and pure functions behind the contract, each in a file of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from afl_core.model.observation import Observation
from afl_core.spec.guarded_command import owns_guarded_command
from afl_core.spec.host import HostManifest, HostPlace, Line
from afl_core.spec.native_memory import NativeNote
from afl_core.spec.plugin_folder import PluginFolder
from afl_core.spec.transcripts import TranscriptIdentity, TranscriptRoot
from afl_providers_claude import finding, heads, native_memory, place, plugin_folder, transcript
from afl_providers_claude.manifest import MANIFEST, NAME


class ClaudeHost:
    """Claude Code, as core knows a host."""

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

    def transcript_roots(self, place: HostPlace) -> tuple[TranscriptRoot, ...]:
        """Where transcripts lie."""
        return finding.transcript_roots(place)

    def identify(self, path: Path, head: bytes, beside: Callable[[str], bytes | None]) -> TranscriptIdentity | None:
        """Whose a transcript is, by its beginning."""
        del path, beside
        return finding.identify(head)

    def owns_command(self, command: str) -> bool:
        """Whether a hook command is ours, of any version."""
        return owns_guarded_command(command, NAME)

    def plugin_folder(self, at: HostPlace) -> PluginFolder:
        """The folder this host loads as a plug-in."""
        return plugin_folder.folder(at)

    def memory_folder(self, at: HostPlace, project: Path) -> Path:
        """Where its own memory of a directory lies."""
        return native_memory.folder(at, project)

    def hides_memory(self, at: HostPlace, environ: Mapping[str, str]) -> bool:
        """Whether its agents are not shown that memory."""
        return native_memory.is_off(at, environ)

    def parse_note(self, name: str, data: bytes) -> NativeNote | None:
        """One file of that memory."""
        return native_memory.parse(name, data)
