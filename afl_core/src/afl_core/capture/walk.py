"""Looking through the directories where hosts keep transcripts: names and one `stat` each, bounded, no link followed, nothing opened."""

from __future__ import annotations

import os
import re
import stat
import time
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import attrs

from afl_core.spec.transcripts import TranscriptRoot
from afl_core.store.transcripts import Stamp, stamp_of

MAX_DIRECTORIES = 20_000
"""Directories of one host looked into."""

MAX_FILES = 100_000
"""Files of one host looked at."""

WALK_S = 5.0
"""How long looking through one host's directories may take."""


class Seen(NamedTuple):
    """One file of the right name. `fault`: why it is never opened (symlink, not_a_file, foreign_owner, name_not_text), '' for a regular file of ours."""

    path: str
    stamp: Stamp
    root: str
    fault: str


@attrs.define
class Walk:
    """What was seen. `cut`: the roots that were not looked through to their end, each with why (directories, files, time, or the system's words)."""

    files: list[Seen] = attrs.field(factory=list)
    cut: dict[str, str] = attrs.field(factory=dict)


class _EnoughError(Exception):
    """A bound is met."""


@attrs.define
class _Bounds:
    end: float
    directories: int = 0
    files: int = 0

    def directory(self) -> None:
        self.directories += 1
        if self.directories > MAX_DIRECTORIES:
            raise _EnoughError("directories")
        if time.monotonic() > self.end:
            raise _EnoughError("time")

    def file(self) -> None:
        self.files += 1
        if self.files > MAX_FILES:
            raise _EnoughError("files")


def walk(roots: Sequence[TranscriptRoot], *, seconds: float = WALK_S) -> Walk:
    """Every file below the roots whose path fits their patterns. Directories in reverse order of their names: where those are dates, the newest first."""
    done = Walk()
    bounds = _Bounds(time.monotonic() + seconds)
    for root in roots:
        folder = os.fspath(root.folder)
        parts = [_matcher(part) for part in root.pattern.split("/") if part]
        try:
            done.files.extend(_files(folder, folder, parts, bounds, done))
        except _EnoughError as bad:
            done.cut[folder] = str(bad)
    return done


def _files(root: str, folder: str, parts: Sequence[re.Pattern[str]], bounds: _Bounds, done: Walk) -> Iterator[Seen]:
    bounds.directory()
    deeper: list[str] = []
    wanted, is_last = parts[0].fullmatch, len(parts) == 1
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if not wanted(entry.name):
                    continue
                if is_last:
                    bounds.file()
                    seen = _look(entry, root)
                    if seen is not None:
                        yield seen
                elif entry.is_dir(follow_symlinks=False):
                    deeper.append(entry.path)
    except FileNotFoundError:
        return  # the host was never used, or the directory is just being removed
    except OSError as bad:
        done.cut[folder] = bad.strerror or type(bad).__name__
        return
    for below in sorted(deeper, reverse=True):
        yield from _files(root, below, parts[1:], bounds, done)


def _look(entry: os.DirEntry[str], root: str) -> Seen | None:
    try:
        found = entry.stat(follow_symlinks=False)
    except OSError:  # gone meanwhile
        return None
    fault = ""
    if stat.S_ISLNK(found.st_mode):
        fault = "symlink"
    elif not stat.S_ISREG(found.st_mode):
        fault = "not_a_file"
    elif not _is_ours(found):
        fault = "foreign_owner"
    path = entry.path
    try:
        path.encode("utf-8")
    except UnicodeEncodeError:  # neither the store nor a terminal can hold it
        path, fault = path.encode("utf-8", "replace").decode("utf-8"), "name_not_text"
    return Seen(path, stamp_of(found), root, fault)


def _is_ours(found: os.stat_result) -> bool:
    return found.st_uid == os.getuid()


def _matcher(part: str) -> re.Pattern[str]:
    """`*` and `?` as in a shell: neither matches a leading dot."""
    body = re.escape(part).replace(r"\*", ".*").replace(r"\?", ".")
    return re.compile(("" if part.startswith(".") else r"(?!\.)") + body, re.DOTALL)
