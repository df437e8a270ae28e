"""Connections of one file for many threads: each thread has its own, and one lock lets writers of this process take turns instead of waiting on the file.

A connection is never closed while another thread is using it, for that ends the process: a call that is under way when the file is closed goes on to
its end, and its thread closes then. So every call stands between `enter` and `leave`, or holds the lock of the writers, which closing takes too.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import threading
import weakref
from collections.abc import Callable, Iterator
from typing import Concatenate, NamedTuple, ParamSpec, TypeVar

from afl_core.model.errors import StoreError
from afl_core.store import inherited
from afl_core.store.connection import connect, writing
from afl_core.store.telemetry import SIDECAR

Done = TypeVar("Done")
Given = ParamSpec("Given")


class _Held(NamedTuple):
    """A thread's connection. `uses`: how many calls of this thread are under way, one number."""

    thread: threading.Thread
    db: sqlite3.Connection
    uses: list[int]


_ENDS = ("", "-wal", "-shm", "-journal", SIDECAR, f"{SIDECAR}-wal", f"{SIDECAR}-shm")
_LIVING: weakref.WeakSet[Connections] = weakref.WeakSet()


def is_open_here(path: str) -> bool:
    """Whether a file is one of a memory that this process has open: closing it after reading it as any file would give up SQLite's locks."""
    named = {path, *(path.removesuffix(end) for end in _ENDS)}  # what stands beside a link to it, too
    return any(_is_same(name, one.path + end) for one in list(_LIVING) if not one.is_closed for end in _ENDS for name in named)


def _is_same(path: str, other: str) -> bool:
    try:
        return os.path.realpath(path) == os.path.realpath(other) or os.path.samefile(path, other)
    except (OSError, ValueError):  # one of them is not there, or cannot be a path: not the same
        return False


class Connections:
    """Open until `close`. A forked child opens its own."""

    _local: threading.local
    _all: list[_Held]
    _lock: contextlib.AbstractContextManager[bool]

    def __init__(self, path: str) -> None:
        self.path = path
        self._closed = False
        self._begin()
        _LIVING.add(self)
        inherited.after_fork(self, Connections._after_fork)

    @property
    def is_closed(self) -> bool:
        """Whether it was closed; a call that is under way may go on."""
        return self._closed

    def reader(self) -> sqlite3.Connection:
        """This thread's connection."""
        db: sqlite3.Connection | None = getattr(self._local, "db", None)
        if self._closed:
            raise StoreError(f"{self.path} was closed", code="AFL-STORE-033", hint="open the memory again")
        if db is None:
            db = self._local.db = connect(self.path, threads=True)
            with self._lock:
                self._close_of_ended_threads()
                self._all.append(_Held(threading.current_thread(), db, self._uses()))
        return db

    def enter(self) -> None:
        """A call of this thread begins. Says so before it looks whether the file was closed, as `close` says that before it looks for calls."""
        inherited.CALLS.enter()
        self._uses()[0] += 1

    def leave(self) -> None:
        """It has ended."""
        uses = self._uses()
        uses[0] = max(0, uses[0] - 1)  # a child may have been forked inside of it
        inherited.CALLS.leave()
        if self._closed and not uses[0]:
            self._close_unused()

    def read(self, look: Callable[[sqlite3.Connection], Done]) -> Done:
        """What something reads, as a call of its own."""
        self.enter()
        try:
            return look(self.reader())
        finally:
            self.leave()

    @contextlib.contextmanager
    def writer(self, *, durable: bool = False) -> Iterator[sqlite3.Connection]:
        """One write transaction; writers of other threads wait here, those of other processes at the file."""
        with self._lock, writing(self.reader(), durable=durable) as db:
            yield db

    def in_turn(self, write: Callable[Concatenate[sqlite3.Connection, Given], Done], *given: Given.args, **named: Given.kwargs) -> Done:
        """Let something write that is a transaction of its own; writers of other threads wait here."""
        with self._lock:
            return write(self.reader(), *given, **named)

    def close(self) -> None:
        """Close every thread's connection, those in use when they are not any more."""
        self._closed = True
        self._close_unused()

    def _close_unused(self) -> None:
        with self._lock:
            for held in self._all:
                if not held.uses[0]:
                    held.db.close()
            self._all = [held for held in self._all if held.uses[0]]

    def _close_of_ended_threads(self) -> None:
        for held in self._all:
            if not held.thread.is_alive():
                held.db.close()
        self._all = [held for held in self._all if held.thread.is_alive()]

    def _uses(self) -> list[int]:
        uses: list[int] | None = getattr(self._local, "uses", None)
        if uses is None:
            uses = self._local.uses = [0]
        return uses

    def _begin(self) -> None:
        self._local = threading.local()
        self._all = []
        self._lock = threading.RLock()
        inherited.held_at_fork(self._lock, turn=1)

    def _after_fork(self) -> None:
        inherited.keep(held.db for held in self._all)
        self._begin()
