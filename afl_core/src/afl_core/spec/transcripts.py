"""The optional part of a host adapter that finds transcripts whose hooks were all missed. Core walks, opens and bounds; the adapter only describes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Protocol, runtime_checkable

import attrs

from afl_core.spec.host import HostPlace

HEAD_LIMIT_BYTES = 64 * 1024
"""How much of a transcript's beginning `identify` is given at most (decompressed where the file is compressed)."""

BESIDE_LIMIT_BYTES = 64 * 1024
"""How much of a file beside a transcript `identify` may read."""


@attrs.frozen
class TranscriptRoot:
    """A directory that holds transcripts, and the pattern of their paths below it: one component a level, `*` and `?` as in a shell, no `**`."""

    folder: Path
    pattern: str


@attrs.frozen
class TranscriptIdentity:
    """Whose transcript a file is. `cwd` None: the host does not say. `by_person` False: a subagent's or a machine's, never read.

    `started_ms`: when the file (not the session) was begun, in ms since the epoch; it orders the files of one session. None: their names do.
    `earlier`: the session was in another file before this one, and files of this session are called so (`*` and `?` as in a shell).
    """

    native_id: str
    cwd: str | None
    by_person: bool = True
    started_ms: int | None = None
    earlier: str | None = None


@runtime_checkable
class FindsTranscripts(Protocol):
    """An adapter that also has these can reconcile sessions that no hook told of."""

    def transcript_roots(self, place: HostPlace) -> tuple[TranscriptRoot, ...]:
        """Where this host keeps transcripts, archived and compressed ones included. Reads nothing."""
        ...

    def identify(self, path: Path, head: bytes, beside: Callable[[str], bytes | None]) -> TranscriptIdentity | None:
        """Whose it is, from its first bytes; `beside("../name")` gives a small file near it, None when there is none. None: not (yet) a transcript."""
        ...
