"""The host adapter `pebble`: where Pebble lives, whose transcripts are whose, and which hook commands are ours."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from afl_core.model.observation import Observation
from afl_core.spec.guarded_command import owns_guarded_command
from afl_core.spec.host import HostManifest, HostPlace, Line
from afl_core.spec.transcripts import TranscriptIdentity, TranscriptRoot
from afl_host_sample import transcript
from afl_host_sample.manifest import MANIFEST, NAME


class PebbleHost:
    """Pebble, as core knows a host."""

    name = NAME

    def manifest(self) -> HostManifest:
        """Events, payload fields, reply and limits."""
        return MANIFEST

    def locate(self, home: Path, environ: Mapping[str, str]) -> HostPlace:
        """`PEBBLE_HOME`, else `.pebble` in the home; the command on the person's PATH."""
        folder = Path(environ.get("PEBBLE_HOME") or home / ".pebble")
        found = shutil.which("pebble", path=environ.get("PATH", ""))
        return HostPlace(folder, folder / "settings.json", Path(found) if found else None, present=found is not None or folder.is_dir())

    def wants(self, head: bytes) -> bool:
        """Every record but the pictures of the screen, which are large and nobody's words."""
        return not head.startswith(b'{"kind": "screen"')

    def parse(self, lines: Sequence[Line], state: Mapping[str, Any]) -> tuple[list[Observation], dict[str, Any]]:
        """Observations in order. Pebble's records say everything themselves, so that nothing is to be remembered; most hosts need a state."""
        return transcript.parse(lines), {}

    def owns_command(self, command: str) -> bool:
        """Whether a hook command is ours."""
        return owns_guarded_command(command, NAME)

    # the optional part: sessions whose hooks were all missed

    def transcript_roots(self, place: HostPlace) -> tuple[TranscriptRoot, ...]:
        """One folder, one file a talk."""
        return (TranscriptRoot(place.config_dir / "talks", "*.jsonl"),)

    def identify(self, path: Path, head: bytes, beside: Callable[[str], bytes | None]) -> TranscriptIdentity | None:
        """The talk's name is the file's; its first record says where it was held."""
        try:
            first = json.loads(head.partition(b"\n")[0])
        except ValueError:
            return None
        if not isinstance(first, dict) or first.get("kind") != "talk":
            return None
        folder = first.get("folder")
        return TranscriptIdentity(path.stem, folder if isinstance(folder, str) else None)
