"""The files of a host's own memory: which there are, and the bytes of one. Bounded, and nothing is followed out of the folder."""

from __future__ import annotations

import os
import stat
from pathlib import Path

NOTE_BYTES = 64 * 1024
"""A larger file is no note."""

NOTES = 500
"""Files of one memory that are looked at; the rest is reported."""


def top(root: str) -> Path:
    """The directory a project's sessions are started in, of a project's root: a repository's root is its git directory."""
    path = Path(root)
    return path.parent if path.name == ".git" else path


def files(folder: Path) -> list[Path]:
    """The first files of a memory by name; none when there is no such folder."""
    return [folder / name for name in _listed(folder)[:NOTES]]


def is_cut(folder: Path) -> bool:
    """Whether a memory has more files than are looked at."""
    return len(_listed(folder)) > NOTES


def _listed(folder: Path) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except (FileNotFoundError, NotADirectoryError):
        return []


def read(path: Path) -> bytes | str:
    """The bytes of a small regular file of the person's own, or why not."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as bad:
        return f"cannot be opened: {bad.strerror}"
    try:
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode) or found.st_uid != os.geteuid():
            return "no file of yours"
        with open(handle, "rb", closefd=False) as file:
            data = file.read(NOTE_BYTES + 1)
    finally:
        os.close(handle)
    return data if len(data) <= NOTE_BYTES else f"larger than {NOTE_BYTES} bytes"
