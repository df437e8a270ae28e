"""The optional part of a host adapter whose host loads plug-ins from folders: the hooks can stand there instead of in the person's settings."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Protocol, runtime_checkable

import attrs

from afl_core.spec.host import HostPlace


@attrs.frozen
class PluginFolder:
    """A folder that is ours alone. `hooks_file`: path below it of the file with the hook entries, in the form of the host's settings; core writes it.

    `files`: the other files, path below it -> JSON bytes, always the same.
    """

    folder: Path
    hooks_file: str
    files: Mapping[str, bytes]


@runtime_checkable
class InstallsAsPlugin(Protocol):
    """An adapter that also has this can be connected through a folder; never through both."""

    def plugin_folder(self, place: HostPlace) -> PluginFolder:
        """The folder for a host at `place`. Reads nothing, writes nothing."""
        ...
