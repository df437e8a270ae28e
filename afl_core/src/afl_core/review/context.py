"""The files of a running review: the hand-off and the prompt, readable by their owner alone, gone when the review ends. Knows no content.

The process that works with them holds a lock on the hand-off file; what nobody holds was left by a process that was killed.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
from collections.abc import Iterator

import attrs

from afl_core.model.errors import PathError
from afl_core.settings.paths import Paths

try:
    import fcntl
except ImportError:  # Windows: no review runs there, so nothing is left behind either
    fcntl = None  # type: ignore[assignment]


@attrs.frozen
class ReviewFiles:
    """`context`: the hand-off; `prompt`: the instructions; `workdir`: an empty directory of the child's own. All absolute paths."""

    context: str
    prompt: str
    workdir: str


@contextlib.contextmanager
def review_files(paths: Paths, review_id: str, fence: int, evidence_json: str, instructions: str) -> Iterator[ReviewFiles]:
    """Write the files of one lease, new and with mode 0600, and remove them whatever happens.

    Raises `PathError` for an unsafe directory and `OSError` for what the disk refuses.
    """
    _own_directory(paths.contexts)
    base = os.path.join(paths.contexts, f"{review_id}.{fence}")
    private = f"{base}.work"
    files = ReviewFiles(f"{base}.json", os.path.join(private, "prompt.md"), os.path.join(private, "empty"))
    if os.path.lexists(files.context):  # of a store that was put back from a copy: the same lease again
        _sweep_one(files.context)
    held = _create(files.context)
    try:
        if fcntl is not None:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        _write(held, evidence_json)
        os.mkdir(private, 0o700)
        os.mkdir(files.workdir, 0o700)
        prompt = _create(files.prompt)
        try:
            _write(prompt, instructions)
        finally:
            os.close(prompt)
        yield files
    finally:
        shutil.rmtree(private, ignore_errors=True)
        with contextlib.suppress(OSError):  # what cannot be removed now is swept later; an answer must not be lost for it
            os.unlink(files.context)
        os.close(held)


def sweep(paths: Paths) -> int:
    """Remove what killed processes left in the directory; what a living one still works with stays. Gives how many reviews were swept."""
    try:
        names = sorted(os.listdir(paths.contexts))
    except FileNotFoundError:
        return 0
    swept = 0
    for name in names:
        path = os.path.join(paths.contexts, name)
        if name.endswith(".json"):
            swept += _sweep_one(path)
        elif name.endswith(".work") and f"{name.removesuffix('.work')}.json" not in names:
            shutil.rmtree(path, ignore_errors=True)
            swept += 1
    return swept


def _sweep_one(path: str) -> bool:
    if os.path.islink(path):  # never one of ours
        os.unlink(path)
        return True
    try:
        descriptor = os.open(path, os.O_RDWR | getattr(os, "O_NOFOLLOW", 0))
    except FileNotFoundError:  # its own process was quicker
        return False
    try:
        if fcntl is not None:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return False
        shutil.rmtree(f"{path.removesuffix('.json')}.work", ignore_errors=True)
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)
        return True
    finally:
        os.close(descriptor)


def _own_directory(path: str) -> None:
    with contextlib.suppress(FileExistsError):  # said below, with what to do
        os.makedirs(path, 0o700, exist_ok=True)
    found = os.lstat(path)
    if not stat.S_ISDIR(found.st_mode) or (hasattr(os, "getuid") and found.st_uid != os.getuid()):
        raise PathError(f"{path} is not a directory of yours", hint=f"move {path} away")
    if os.name == "posix" and stat.S_IMODE(found.st_mode) & 0o077:
        os.chmod(path, 0o700)


def _create(path: str) -> int:
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0), 0o600)


def _write(descriptor: int, text: str) -> None:
    data = memoryview(text.encode("utf-8", "replace"))
    while data:
        data = data[os.write(descriptor, data) :]
