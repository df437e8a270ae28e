"""Whether somebody is forgetting right now, so that who opens the file meanwhile does not take that for a forget that broke off.

A lock on a file beside the database says so; it ends with its process, however that ends, and the file goes with the last who holds it. Several may
forget at once. Where files cannot be locked nobody is seen to forget, and an opening does what another process is about to do itself.
"""

from __future__ import annotations

import contextlib
import functools
import os
import sys
import time
from collections.abc import Callable, Iterator

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


@contextlib.contextmanager
def alone(database: str) -> Iterator[Callable[[], object] | None]:
    """Hold others off who want to forget, for a moment: None when somebody is at it. What is given lets them begin, and is seen as one of them."""
    if sys.platform == "win32":
        yield _nothing
        return
    handle = _open(database + END)
    if handle is None:  # the database says what is wrong with the directory
        yield _nothing
        return
    taken = _locked(handle, fcntl.LOCK_EX) and os.fstat(handle).st_nlink > 0
    try:
        yield functools.partial(_shared, handle) if taken else None
    finally:
        _end(database + END, handle)


def _nothing() -> None:
    """Where nobody can be held off."""


def _begin(path: str) -> int | None:
    if sys.platform == "win32":
        return None
    for _ in range(_ATTEMPTS):
        handle = _open(path)
        if handle is None:
            return None
        if _locked(handle, fcntl.LOCK_SH) and os.fstat(handle).st_nlink:
            return handle
        _close(handle)  # somebody holds others off, or removed it just now
        time.sleep(_PAUSE_S)
    return None


def _end(path: str, handle: int) -> None:
    """Let go. The last one removes the file: as long as it is locked alone nobody else can have it. Not in a child that was forked in between."""
    if handle not in _HELD:
        return
    if _locked(handle, fcntl.LOCK_EX) and os.fstat(handle).st_nlink:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)
    _close(handle)


_HELD: set[int] = set()
"""Descriptors that a forked child has too and must not keep: the lock would last as long as the child."""


def _open(path: str) -> int | None:
    try:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    except OSError:
        return None
    _HELD.add(handle)
    return handle


def _close(handle: int) -> None:
    _HELD.discard(handle)
    os.close(handle)


def _shared(handle: int) -> None:
    """From alone to one of several. In between somebody may hold it for a look."""
    for _ in range(_ATTEMPTS):
        if _locked(handle, fcntl.LOCK_SH):
            return
        time.sleep(_PAUSE_S)


def _after_fork() -> None:
    for handle in list(_HELD):
        _close(handle)


if hasattr(os, "register_at_fork"):  # there is no fork on Windows
    os.register_at_fork(after_in_child=_after_fork)


def _locked(handle: int, how: int) -> bool:
    try:
        fcntl.flock(handle, how | fcntl.LOCK_NB)
    except OSError:  # held by another, or a file system without locks
        return False
    return True
