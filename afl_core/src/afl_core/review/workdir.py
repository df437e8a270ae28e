"""What a provider wants beside its command: files written before, files read back after. All of them in the review's own directory, gone with it, or in a folder
that keeps its path and is empty between reviews.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
from collections.abc import Iterator
from pathlib import PurePosixPath

from afl_core.files.private import ensure_private_dir, write_private_file
from afl_core.model.errors import ReviewError
from afl_core.spec.reviewer import ReviewerCommand

try:
    import fcntl
except ImportError:  # Windows: no review runs there
    fcntl = None  # type: ignore[assignment]

OUTPUT_LIMIT = 512 * 1024
"""Bytes read of one output; as much as of standard output."""


@contextlib.contextmanager
def opened(workdir: str, command: ReviewerCommand, lasting: str) -> Iterator[str]:
    """Write the command's files and make its folder; gives the directory to run in. `lasting`: where this provider's lasting folder may be.

    Raises `ReviewError` for a path that leaves its directory and `PathError` for an unsafe one.
    """
    with contextlib.ExitStack() as held:
        place = ""
        if command.lasting and command.folder:
            place = _inside(lasting, command.folder)
            if not held.enter_context(_alone_in(place, os.path.dirname(os.path.dirname(lasting)))):
                place = ""
        for name, content in command.files.items():
            root, path = workdir, _inside(workdir, name)
            if place and path.startswith(f"{_inside(workdir, command.folder)}{os.sep}"):
                root, path = place, os.path.join(place, os.path.relpath(path, _inside(workdir, command.folder)))
            ensure_private_dir(os.path.dirname(path), root)
            write_private_file(path, content)
        if not place and command.folder:
            place = _inside(workdir, command.folder)
            ensure_private_dir(place, workdir)
        yield place or workdir


@contextlib.contextmanager
def _alone_in(folder: str, base: str) -> Iterator[bool]:
    """Have an empty lasting folder for oneself; gives False when another review is in it."""
    ensure_private_dir(folder, base)
    lock = os.open(f"{folder}.lock", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
            return
        _empty(folder)  # of what a killed process left
        try:
            yield True
        finally:
            _empty(folder)
    finally:
        os.close(lock)


def _empty(folder: str) -> None:
    """What cannot be removed is tried again before the next review; an answer must not be lost for it."""
    for entry in os.scandir(folder):
        if entry.is_dir(follow_symlinks=False):
            shutil.rmtree(entry.path, ignore_errors=True)
        else:
            with contextlib.suppress(OSError):
                os.unlink(entry.path)


def outputs(workdir: str, command: ReviewerCommand) -> dict[str, bytes]:
    """What the command wrote of its outputs; one that is missing, a link or no regular file is left out, a longer one is cut."""
    found = {}
    for name in command.outputs:
        try:
            descriptor = os.open(_inside(workdir, name), os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
        except OSError:  # not written: the provider says what that means
            continue
        try:
            if stat.S_ISREG(os.fstat(descriptor).st_mode):
                found[name] = os.read(descriptor, OUTPUT_LIMIT)
        finally:
            os.close(descriptor)
    return found


def _inside(workdir: str, name: str) -> str:
    path = PurePosixPath(name)
    if not name or path.is_absolute() or ".." in path.parts:
        raise ReviewError(f"the reviewer names a file outside of its own directory: {name!r}", reason="reviewer_broken")
    return os.path.join(workdir, *path.parts)
