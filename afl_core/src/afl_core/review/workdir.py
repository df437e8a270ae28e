"""What a provider wants beside its command: files written before, files read back after. All of them in the review's own directory, gone with it."""

from __future__ import annotations

import os
import stat
from pathlib import PurePosixPath

from afl_core.files.private import ensure_private_dir, write_private_file
from afl_core.model.errors import ReviewError
from afl_core.spec.reviewer import ReviewerCommand

OUTPUT_LIMIT = 512 * 1024
"""Bytes read of one output; as much as of standard output."""


def prepare(workdir: str, command: ReviewerCommand) -> str:
    """Write the command's files and make its folder; gives the directory to run in. Raises `ReviewError` for a path that leaves `workdir`."""
    for name, content in command.files.items():
        path = _inside(workdir, name)
        ensure_private_dir(os.path.dirname(path), workdir)
        write_private_file(path, content)
    if not command.folder:
        return workdir
    folder = _inside(workdir, command.folder)
    ensure_private_dir(folder, workdir)
    return folder


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
