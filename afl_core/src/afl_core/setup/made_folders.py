"""Directories that an install had to make for a file of somebody else's: noted before they are made, and removed again once nothing is in them."""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Collection, Iterable

from afl_core.files.private import DIR_MODE, ensure_private_dir, write_private_file
from afl_core.model.codec import loads
from afl_core.model.errors import AflError
from afl_core.settings.paths import Paths
from afl_core.setup.pack_files import look
from afl_core.setup.render import as_json

_NAME = "made-folders.json"
_KEPT = {errno.ENOTEMPTY, errno.EEXIST, errno.EBUSY, errno.EACCES, errno.EPERM, errno.EROFS}
"""Why a directory may stay: something is in it, or it cannot be removed now."""


def notes_path(paths: Paths) -> str:
    """Where the notes lie."""
    return os.path.join(paths.data, _NAME)


def made_folders(paths: Paths) -> tuple[str, ...]:
    """The directories that were made and not removed, outermost first. Notes that cannot be read are none: then a directory stays, which harms nobody."""
    raw = look(notes_path(paths))
    try:
        noted = [] if raw is None else loads(raw, notes_path(paths))
    except AflError:
        return ()
    return tuple(path for path in noted if isinstance(path, str) and os.path.isabs(path)) if isinstance(noted, list) else ()


def make_folders(folder: str, paths: Paths) -> None:
    """Make a directory and those above it that are missing; noted first, so that a process killed in between leaves none unknown. Raises `OSError`."""
    if missing := _missing(folder):
        _note(paths, {*made_folders(paths), *missing})
        for path in missing:
            with contextlib.suppress(FileExistsError):  # somebody made it in this moment; a file there is refused by whoever writes into it
                os.mkdir(path, DIR_MODE)


def remove_made_folders(paths: Paths) -> None:
    """Remove those that are empty, the innermost first; one that holds anything stays and stays noted."""
    noted = made_folders(paths)
    kept = [path for path in sorted(noted, key=_depth, reverse=True) if not _gone(path)]
    if len(kept) != len(noted):
        _note(paths, kept)


def forget_made_folders(paths: Paths) -> None:
    """What still stands belongs to whoever put something into it."""
    if os.path.lexists(notes_path(paths)):
        _note(paths, ())


def emptied_folders(paths: Paths, leaving: Collection[str], arriving: Collection[str] = ()) -> tuple[str, ...]:
    """Those that will be empty once the files and directories in `leaving` are gone and those in `arriving` are there, the innermost first.

    What is in a directory of `leaving` goes with it and is not named.
    """
    going = set(leaving)
    found = []
    for path in sorted(made_folders(paths), key=_depth, reverse=True):
        stands = os.path.isdir(path) and not os.path.islink(path)
        named = any((path + os.sep).startswith(one + os.sep) for one in leaving)
        filled = any(one.startswith(path + os.sep) for one in arriving)
        if stands and not named and not filled and _holds_only(path, going):
            found.append(path)
            going.add(path)
    return tuple(found)


def _holds_only(path: str, going: Collection[str]) -> bool:
    """Whether nothing else is in a directory; False for one that cannot be looked into, which stays."""
    try:
        return all(os.path.join(path, name) in going for name in os.listdir(path))
    except OSError:
        return False


def _missing(folder: str) -> list[str]:
    """What has to be made, outermost first."""
    found: list[str] = []
    current = os.path.abspath(folder)
    while not os.path.lexists(current):
        found.insert(0, current)
        current = os.path.dirname(current)
    return found


def _gone(path: str) -> bool:
    try:
        os.rmdir(path)
    except OSError as bad:
        return bad.errno not in _KEPT  # not there any more, or no directory: nothing of ours
    return True


def _note(paths: Paths, folders: Iterable[str]) -> None:
    if noted := sorted(folders, key=_depth):
        ensure_private_dir(paths.data, paths.home)
        write_private_file(notes_path(paths), as_json(noted))
    else:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(notes_path(paths))


def _depth(path: str) -> tuple[int, str]:
    return path.count(os.sep), path
