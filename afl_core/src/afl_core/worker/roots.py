"""The newest transcripts below the directories hosts keep them in, found by the times of directories: a tick lists only what changed. Opens no file.

The daemon runs through this file: standard library only.
"""

from __future__ import annotations

import fnmatch
import os
import stat
from collections.abc import Iterable, Iterator
from typing import NamedTuple

FOLDERS = 4_096
"""Directories below all roots that are looked at; those whose names sort last come first (dates do)."""

FILES = 256
"""Of the transcripts below a root, so many are named, the newest."""


class Root(NamedTuple):
    """A directory, and the pattern of paths below it: one component a level."""

    folder: str
    pattern: str


class Listing(NamedTuple):
    """A directory as it was: its time, what is in it, and when files were changed last (ns).

    `settled`: it was listed twice with the same time. A change right after the first listing need not have altered the time.
    """

    stamp: tuple[int, int]
    settled: bool
    folders: tuple[str, ...]
    files: tuple[tuple[str, int], ...]


class Roots:
    """Remembers listings from tick to tick."""

    def __init__(self) -> None:
        self._held: dict[str, Listing] = {}

    def newest(self, roots: Iterable[Root], oldest_ns: int) -> list[str]:
        """Paths of at most `FILES` transcripts a root, changed since `oldest_ns` (ns since the epoch) when their directory was listed."""
        before, self._held = self._held, {}
        found: list[str] = []
        for root in roots:
            parts = root.pattern.split("/")
            files = [
                (changed, os.path.join(folder, name))
                for folder, listing in self._walk(root.folder, parts, before)
                for name, changed in listing.files
                if changed >= oldest_ns and fnmatch.fnmatchcase(name, parts[-1])
            ]
            found += [path for _changed, path in sorted(files, reverse=True)[:FILES]]
        return found

    def _walk(self, folder: str, parts: list[str], before: dict[str, Listing]) -> Iterator[tuple[str, Listing]]:
        """The directories that may hold transcripts, with what is in them."""
        listing = self._listing(folder, before)
        if listing is None:
            return
        if len(parts) == 1:
            yield folder, listing
            return
        for name in listing.folders:
            if fnmatch.fnmatchcase(name, parts[0]):
                yield from self._walk(os.path.join(folder, name), parts[1:], before)

    def _listing(self, folder: str, before: dict[str, Listing]) -> Listing | None:
        if folder in self._held:
            return self._held[folder]
        if len(self._held) >= FOLDERS:
            return None
        try:
            seen = os.lstat(folder)
            stamp, known = (seen.st_mtime_ns, seen.st_ino), before.get(folder)
            is_same = known is not None and known.stamp == stamp
            if known is None or not is_same or not known.settled:
                known = _listed(folder, stamp, settled=is_same) if stat.S_ISDIR(seen.st_mode) else None
        except OSError:  # gone, or not ours to read: the pass says so where it matters
            return None
        if known is not None:
            self._held[folder] = known
        return known


def _listed(folder: str, stamp: tuple[int, int], *, settled: bool) -> Listing:
    folders, files = [], []
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                folders.append(entry.name)
            elif entry.is_file(follow_symlinks=False):
                files.append((entry.name, entry.stat(follow_symlinks=False).st_mtime_ns))
    return Listing(stamp, settled, tuple(sorted(folders, reverse=True)), tuple(files))
