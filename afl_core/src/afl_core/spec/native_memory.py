"""The optional part of a host adapter whose host keeps a memory of its own: where its notes are and what one of them says."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Protocol, runtime_checkable

import attrs

from afl_core.spec.host import HostPlace


@attrs.frozen
class NativeNote:
    """One note of the host's memory. `is_feedback`: guidance a person gave, as the host's agent wrote it down. Raw text."""

    name: str
    description: str
    text: str
    is_feedback: bool


@runtime_checkable
class KeepsMemory(Protocol):
    """An adapter that also has these can have its host's memory imported. Core lists, opens and bounds; the adapter only describes."""

    def memory_folder(self, place: HostPlace, project: Path) -> Path:
        """The directory that holds the notes of sessions in `project` (an absolute directory). Reads nothing."""
        ...

    def parse_note(self, name: str, data: bytes) -> NativeNote | None:
        """The note in a file of that name; None for a file that is no note (an index, another format). Never raises."""
        ...


@runtime_checkable
class HidesMemory(Protocol):
    """An adapter with a memory that its host can be told not to use. What is hidden from the host's agents is given them by us."""

    def hides_memory(self, place: HostPlace, environ: Mapping[str, str]) -> bool:
        """Whether the host's agents are not shown its memory. Reads at most the host's settings; never raises."""
        ...
