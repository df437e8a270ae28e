"""What a forked child inherits and must not touch: SQLite forbids to use, and even to close, a connection of the parent."""

from __future__ import annotations

import os
import sqlite3
import threading
import time
import weakref
from collections.abc import Callable, Iterable
from typing import Any, Final, TypeVar

Owner = TypeVar("Owner")

_KEPT: Final[list[sqlite3.Connection]] = []
"""Connections of parents: held until the process ends, so that nothing closes them."""

_LOCKS: Final[weakref.WeakKeyDictionary[Any, int]] = weakref.WeakKeyDictionary()
_FORKING = threading.local()
"""What a thread took before it forks, one list for each fork: two threads may fork at once, and a signal may fork in the middle of a fork."""
WAIT_S = 5.0
"""Seconds that a fork waits for the transaction, and for the calls, of other threads."""

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
    _forks().append(taken)
    taken += (lock for lock in sorted(living, key=lambda one: _LOCKS.get(one, 0)) if lock.acquire(timeout=WAIT_S))


def _release() -> None:
    for lock in reversed(_forks().pop()):
        lock.release()


def _forks() -> list[list[Any]]:
    forks: list[list[Any]] | None = getattr(_FORKING, "forks", None)
    if forks is None:
        forks = _FORKING.forks = []
    return forks


def after_fork(owner: Owner, tell: Callable[[Owner], None]) -> None:
    """Call a function with an object in every child this process forks, as long as the object lives."""
    _TOLD[owner] = tell


def _tell() -> None:
    _FORKING.forks = []  # the locks of the parent's threads; every object makes its own
    for owner, tell in list(_TOLD.items()):
        tell(owner)


class _Calls:
    """The calls into SQLite that are under way. A thread that forks waits for those of the others, and none begins meanwhile: a child that is
    forked while another thread is in the middle of one would wait for good for what that thread held of SQLite's own memory.
    """

    def __init__(self) -> None:
        self._begin({})

    def _begin(self, under_way: dict[int, int]) -> None:
        self._turn = threading.RLock()
        self._shut = 0  # how many forks, one inside of another
        self._opened = threading.Event()
        self._under_way = under_way  # thread -> how many, one inside of another

    def enter(self) -> None:
        """A call of this thread begins. Says so before it looks whether somebody forks, as who forks shuts before he looks for calls."""
        me = threading.get_ident()
        inside = self._under_way.get(me, 0)
        self._under_way[me] = inside + 1
        while self._shut and not inside:  # one inside of another goes on to its end
            self._under_way[me] = 0
            self._opened.wait(WAIT_S)
            self._under_way[me] = 1

    def leave(self) -> None:
        """It has ended."""
        me = threading.get_ident()
        self._under_way[me] = max(0, self._under_way.get(me, 0) - 1)

    def __enter__(self) -> None:
        self.enter()

    def __exit__(self, *_bad: object) -> None:
        self.leave()

    def acquire(self, timeout: float) -> bool:
        """Wait for the calls of other threads; False, and calls go on, when they take too long."""
        if not self._turn.acquire(timeout=timeout):
            return False
        self._opened.clear()
        self._shut += 1
        until = time.monotonic() + timeout
        me = threading.get_ident()
        while any(many for thread, many in list(self._under_way.items()) if thread != me):
            if time.monotonic() > until:
                self.release()
                return False
            time.sleep(_LOOK_S)
        return True

    def release(self) -> None:
        """Let calls begin again."""
        self._shut -= 1
        if not self._shut:
            self._opened.set()
        self._turn.release()

    def after_fork(self) -> None:
        """In a child only the thread that forked is left."""
        me = threading.get_ident()
        self._begin({me: self._under_way.get(me, 0)})


_LOOK_S = 0.0005
"""Seconds between two looks for calls."""
CALLS: Final = _Calls()
held_at_fork(CALLS, turn=-1)  # who is in a call may wait for any of the locks
after_fork(CALLS, _Calls.after_fork)

if hasattr(os, "register_at_fork"):  # there is no fork on Windows
    os.register_at_fork(before=_take, after_in_parent=_release, after_in_child=_tell)
