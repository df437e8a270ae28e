"""Files of ours on disk, compared with what they shall be, and put in place as one set. Decides nothing about their content."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Sequence
from pathlib import Path

import attrs

from afl_core.model.errors import PathError
from afl_core.setup.edit_write import put_in_place, sweep_leftovers, sync_directory, write_beside

FILE_MODE = 0o600


@attrs.frozen
class PackFile:
    """One file as it shall be; `step` is the line a person is shown, '' for a file that goes without saying."""

    path: str
    data: bytes = attrs.field(repr=False)
    step: str


def look(path: str) -> bytes | None:
    """The bytes of a private file, None when there is none. Raises `PathError` for a link, another kind or another owner. Changes nothing."""
    try:
        found = os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    if not stat.S_ISREG(found.st_mode):
        raise PathError(f"{path} is not a regular file", code="AFL-PATH-006", hint=f"move {path} away")
    if found.st_uid != os.getuid():
        raise PathError(
            f"{path} belongs to user {found.st_uid}, not to you ({os.getuid()})", code="AFL-PATH-004", hint=f"change the owner of {path}"
        )
    return Path(path).read_bytes()


def is_in_place(file: PackFile) -> bool:
    """Whether the file holds these bytes and nobody else may read or write it."""
    return look(file.path) == file.data and stat.S_IMODE(os.lstat(file.path).st_mode) == FILE_MODE


def put_set(files: Sequence[PackFile], checkpoint: Callable[[str], None]) -> None:
    """Write every file beside its place and sync it, then rename one after the other in the order given, with nothing slow in between.

    A process killed at any moment leaves each file old or new, and the next run finishes. `checkpoint` is told `ready`, then each name.
    """
    for file in files:
        sweep_leftovers(Path(file.path).parent, os.path.basename(file.path))
    prepared: list[tuple[Path, Path]] = []
    try:
        for file in files:
            temporary = write_beside(Path(file.path), file.data, mode=FILE_MODE, uid=os.getuid(), gid=os.getgid())
            prepared.append((temporary, Path(file.path)))
        checkpoint("ready")
        for temporary, path in prepared:
            put_in_place(temporary, path)
            checkpoint(path.name)
        for folder in dict.fromkeys(path.parent for _, path in prepared):
            sync_directory(folder)
    except OSError as bad:
        raise PathError(
            f"{bad.filename or 'a file of the pack'} cannot be written: {bad.strerror}",
            code="AFL-PATH-005",
            hint="make room and check the permissions there, then run the same command again",
        ) from bad
    finally:
        for temporary, _path in prepared:
            temporary.unlink(missing_ok=True)
