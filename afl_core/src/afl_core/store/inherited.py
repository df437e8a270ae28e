"""What a forked child inherits and must not touch: SQLite forbids to use, and even to close, a connection of the parent."""

from __future__ import annotations

import os
import sqlite3
import threading
import weakref
from collections.abc import Callable, Iterable
from typing import Any, Final, TypeVar

Owner = TypeVar("Owner")

_KEPT: Final[list[sqlite3.Connection]] = []
"""Connections of parents: held until the process ends, so that nothing closes them."""

_LOCKS: Final[weakref.WeakKeyDictionary[Any, int]] = weakref.WeakKeyDictionary()
_FORKING = threading.local()
"""What a thread took before it forks: two may fork at once, and each gives back its own."""
WAIT_S = 5.0
"""Seconds that a fork waits for the transaction of another thread."""

_TOLD: Final[weakref.WeakKeyDictionary[Any, Callable[[Any], None]]] = weakref.WeakKeyDictionary()
"""Objects that live, and what each does in a child."""


def keep(connections: Iterable[sqlite3.Connection]) -> None:
    """Never use or close these again."""
    _KEPT.extend(connections)


def held_at_fork(lock: Any, turn: int = 0) -> None:
    """Take a lock whenever this process forks, as long as the lock lives: who forks in the middle of another thread's transaction would give its
    child a file that looks locked for good, for SQLite remembers in the process's memory who holds what.

    `turn`: those of a lower one are taken first; a thread that holds one of these may wait for one of a higher turn.
    """
    _LOCKS[lock] = turn


def _take() -> None:
    """Waits for transactions to end, and goes on without a lock that does not come free: two threads may wait for each other's."""
    living = [lock for reference in _LOCKS.keyrefs() if (lock := reference()) is not None]  # a list made at once: other threads open files
    taken: list[Any] = []
    _FORKING.taken = taken
    taken += (lock for lock in sorted(living, key=lambda one: _LOCKS.get(one, 0)) if lock.acquire(timeout=WAIT_S))


def _release() -> None:
    while _FORKING.taken:
        _FORKING.taken.pop().release()


def after_fork(owner: Owner, tell: Callable[[Owner], None]) -> None:
    """Call a function with an object in every child this process forks, as long as the object lives."""
    _TOLD[owner] = tell


def _tell() -> None:
    _FORKING.taken = []  # the locks of the parent's threads; every object makes its own
    for owner, tell in list(_TOLD.items()):
        tell(owner)


if hasattr(os, "register_at_fork"):  # there is no fork on Windows
    os.register_at_fork(before=_take, after_in_parent=_release, after_in_child=_tell)
