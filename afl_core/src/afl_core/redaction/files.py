"""The files that are looked through for secrets, and what is left out of them and why. Reads names and beginnings; judges nothing."""

from __future__ import annotations

import codecs
import enum
import io
import os
import stat
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet

import attrs

MAX_FILE_BYTES = 67_108_864
"""A larger file is named and not read."""

PEEK_BYTES = 8_192
"""Of its beginning, which says whether a file is text."""

LEFT_OUT = frozenset(
    {
        *(".git", ".hg", ".svn", "node_modules", "bower_components", ".venv", "venv", "site-packages", "__pycache__"),
        *(".tox", ".nox", ".mypy_cache", ".ruff_cache", ".pytest_cache", ".gradle"),
    }
)
"""Names of folders that hold what others wrote, or what is made anew; one that is named by the person is read."""

_MARKS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))


class Skip(enum.Enum):
    """Why something is left out."""

    BINARY = "binary"
    FOLDER = "folder"
    SYMLINK = "symlink"
    SPECIAL = "special"
    HUGE = "huge"


@attrs.frozen
class Entry:
    """One path. `skip`: why it is left out; `problem`: why it cannot be read, ''; `named`: the person named it."""

    path: str
    skip: Skip | None = None
    problem: str = ""
    named: bool = False


def entries(paths: Sequence[str]) -> Iterator[Entry]:
    """Every file of these paths, folders from top to bottom, names in order. What the person named is read even where its name is left out below.

    What several of the paths lead to comes once.
    """
    named = {_place(path) for path in paths}
    done: set[str] = set()
    for path in dict.fromkeys(paths):
        try:
            found = os.stat(path)
        except OSError as bad:
            yield Entry(path, problem=bad.strerror or type(bad).__name__)
            continue
        if _place(path) in done:
            continue
        if stat.S_ISDIR(found.st_mode):
            yield from _below(path, named, done)
        else:
            done.add(_place(path))
            yield attrs.evolve(_file(path, found), named=True)


def _place(path: str) -> str:
    return os.path.realpath(path)


def _below(root: str, named: AbstractSet[str], done: set[str]) -> Iterator[Entry]:
    """The files of a folder; of `named` places those that stand in it are in `done` afterwards, as are the folders looked into."""
    place = _place(root)
    waiting = [root]
    while waiting:
        folder = waiting.pop()
        here = os.path.normpath(os.path.join(place, os.path.relpath(folder, root)))
        if here in done:
            continue
        done.add(here)
        try:
            with os.scandir(folder) as listing:
                inside = sorted(listing, key=lambda one: one.name)
        except OSError as bad:
            yield Entry(folder, problem=bad.strerror or type(bad).__name__)
            continue
        folders: list[str] = []
        for one in inside:
            there = os.path.join(here, one.name)
            if there in named and not one.is_symlink() and not one.is_dir(follow_symlinks=False):
                if there not in done:
                    done.add(there)
                    yield attrs.evolve(_listed(one), named=True)
            elif one.is_symlink():
                yield Entry(one.path, Skip.SYMLINK)
            elif one.is_dir(follow_symlinks=False):
                if one.name in LEFT_OUT:
                    yield Entry(one.path, Skip.FOLDER)
                else:
                    folders.append(one.path)
            else:
                yield _listed(one)
        waiting += reversed(folders)


def _listed(one: os.DirEntry[str]) -> Entry:
    try:
        return _file(one.path, one.stat(follow_symlinks=False))
    except OSError as bad:
        return Entry(one.path, problem=bad.strerror or type(bad).__name__)


def _file(path: str, found: os.stat_result) -> Entry:
    if not stat.S_ISREG(found.st_mode):
        return Entry(path, Skip.SPECIAL)
    return Entry(path, Skip.HUGE if found.st_size > MAX_FILE_BYTES else None)


def opened(path: str) -> io.TextIOWrapper | None:
    """The file as text, its line breaks as they are; None when it is none. Raises `OSError`. What is no UTF-8 in it becomes replacement characters."""
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0))
    raw = os.fdopen(descriptor, "rb")
    try:
        begin = raw.read(PEEK_BYTES)
        encoding = next((name for mark, name in _MARKS if begin.startswith(mark)), "utf-8")
        if encoding != "utf-16" and b"\0" in begin:
            raw.close()
            return None
        raw.seek(0)
        return io.TextIOWrapper(raw, encoding=encoding, errors="replace", newline="")
    except BaseException:
        raw.close()
        raise
