"""Private directories and files: made 0700 and 0600, refused when they are links, of the wrong kind or another person's.

What is checked is every component from the home down: a link in the middle would move everything somewhere else.
"""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile
from pathlib import Path

from afl_core.model.errors import PathError

DIR_MODE = 0o700
FILE_MODE = 0o600


def check_components(path: str, base: str) -> None:
    """Refuse a link, a non-directory or a foreign directory anywhere between `base` (itself trusted) and `path`; missing ones are fine."""
    base, path = os.path.abspath(base), os.path.abspath(path)
    if os.path.commonpath([base, path]) != base:
        base = os.path.dirname(path)
    current = base
    for part in os.path.relpath(path, base).split(os.sep):
        current = os.path.join(current, part)
        try:
            found = os.lstat(current)
        except FileNotFoundError:
            return
        _check_directory(current, found)


def _check_directory(path: str, found: os.stat_result) -> None:
    if stat.S_ISLNK(found.st_mode):
        raise PathError(
            f"{path} is a symbolic link; a private directory is needed",
            code="AFL-PATH-002",
            hint=f"replace the link {path} by a directory, or set AFL_DATA_ROOT",
        )
    if not stat.S_ISDIR(found.st_mode):
        raise PathError(f"{path} is not a directory", code="AFL-PATH-003", hint=f"move {path} away")
    if found.st_uid != os.getuid():
        raise PathError(
            f"{path} belongs to user {found.st_uid}, not to you ({os.getuid()})",
            code="AFL-PATH-004",
            hint=f"change the owner of {path}, or use another --home",
        )


def ensure_private_dir(path: str, base: str) -> None:
    """Make `path` (and its parents below `base`) as 0700 directories; tighten a loose mode of `path`; raise `PathError` when that cannot be."""
    check_components(path, base)
    try:
        missing: list[str] = []
        current = os.path.abspath(path)
        while not os.path.isdir(current):
            missing.append(current)
            current = os.path.dirname(current)
        for folder in reversed(missing):
            with contextlib.suppress(FileExistsError):
                os.mkdir(folder, DIR_MODE)
        found = os.lstat(path)
        _check_directory(path, found)
        if stat.S_IMODE(found.st_mode) != DIR_MODE:
            os.chmod(path, DIR_MODE)
    except OSError as bad:
        raise PathError(
            f"{path} cannot be made a private directory: {bad.strerror}",
            code="AFL-PATH-005",
            hint=f"make {os.path.dirname(path)} writable, or use another --home or AFL_DATA_ROOT",
        ) from bad


def check_private_file(path: str) -> bool:
    """False when the file is missing; True when it is a regular file of ours; otherwise raise. A mode that lets others read is tightened."""
    try:
        found = os.lstat(path)
    except FileNotFoundError:
        return False
    if stat.S_ISLNK(found.st_mode):
        raise PathError(f"{path} is a link, and links are not followed", code="AFL-PATH-006", hint="name what it leads to, or move it away")
    if not stat.S_ISREG(found.st_mode):
        raise PathError(f"{path} is not a regular file", code="AFL-PATH-006", hint="name another file, or move it away")
    if found.st_uid != os.getuid():
        raise PathError(
            f"{path} belongs to user {found.st_uid}, not to you ({os.getuid()})", code="AFL-PATH-004", hint=f"change the owner of {path}"
        )
    if stat.S_IMODE(found.st_mode) & 0o077:
        os.chmod(path, stat.S_IMODE(found.st_mode) & 0o700)
    return True


def read_private_file(path: str) -> bytes | None:
    """The bytes of a private file, or None when there is none."""
    return Path(path).read_bytes() if check_private_file(path) else None


def write_private_file(path: str, data: bytes, *, replace: bool = True) -> None:
    """Write a 0600 file so that a reader sees the old bytes or the new ones, never a part; `replace=False` refuses an existing file."""
    folder = os.path.dirname(path)
    descriptor, temporary = tempfile.mkstemp(prefix=".", suffix=".tmp", dir=folder)
    try:
        with os.fdopen(descriptor, "wb") as handle:
            handle.write(data)
            handle.flush()
            os.fsync(handle.fileno())
        if replace:
            os.replace(temporary, path)
        else:
            os.link(temporary, path)
    except FileExistsError as bad:
        raise PathError(f"{path} is already there", code="AFL-PATH-007", hint=f"move {path} away") from bad
    except OSError as bad:
        raise PathError(
            f"{path} cannot be written: {bad.strerror}", code="AFL-PATH-005", hint=f"make {folder} writable and check the free space"
        ) from bad
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)
    sync_dir(folder)


def sync_dir(folder: str) -> None:
    """Make a rename in `folder` durable."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
