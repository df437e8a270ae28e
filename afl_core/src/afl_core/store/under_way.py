"""Whether somebody is forgetting right now, so that who opens the file meanwhile does not take that for a forget that broke off.

A lock on a file beside the database says so; it ends with its process, however that ends, and the file goes with the last who holds it. Several may
forget at once. Where files cannot be locked nobody is seen to forget, and an opening does what another process is about to do itself.
"""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Iterator

if sys.platform != "win32":
    import fcntl

END = ".forgetting"
"""Ending of that file's name."""
_ATTEMPTS, _PAUSE_S = 50, 0.01
"""Who looks holds the lock for a moment himself, which is waited for."""


@contextlib.contextmanager
def forgetting(database: str) -> Iterator[None]:
    """Let it be seen that a forget is under way."""
    handle = _begin(database + END)
    try:
        yield
    finally:
        if handle is not None:
            _end(database + END, handle)


def is_under_way(database: str) -> bool:
    """Whether a living process, or another handle of this one, forgets something of this database."""
    if sys.platform == "win32":
        return False
    try:
        handle = os.open(database + END, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:  # mostly: it is not there
        return False
    try:
        return not _locked(handle, fcntl.LOCK_EX)
    finally:
        os.close(handle)


def _begin(path: str) -> int | None:
    if sys.platform == "win32":
        return None
    for _ in range(_ATTEMPTS):
        try:
            handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        except OSError:  # the database says what is wrong with the directory
            return None
        if _locked(handle, fcntl.LOCK_SH) and os.fstat(handle).st_nlink:
            return handle
        os.close(handle)  # somebody looks, or removed it just now
        time.sleep(_PAUSE_S)
    return None


def _end(path: str, handle: int) -> None:
    try:
        if _locked(handle, fcntl.LOCK_EX):  # nobody else forgets
            with contextlib.suppress(FileNotFoundError):
                os.unlink(path)
        fcntl.flock(handle, fcntl.LOCK_UN)  # a child that was forked meanwhile holds it no longer either
    finally:
        os.close(handle)


def _locked(handle: int, how: int) -> bool:
    try:
        fcntl.flock(handle, how | fcntl.LOCK_NB)
    except OSError:  # held by another, or a file system without locks
        return False
    return True
