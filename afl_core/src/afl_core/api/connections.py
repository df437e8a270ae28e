"""Connections of one file for many threads: each thread has its own, and one lock lets writers of this process take turns instead of waiting on the file."""

from __future__ import annotations

import contextlib
import sqlite3
import threading
from collections.abc import Callable, Iterator
from typing import TypeVar

from afl_core.model.errors import StoreError
from afl_core.store import inherited
from afl_core.store.connection import connect, writing

Done = TypeVar("Done")


class Connections:
    """Open until `close`. A forked child opens its own."""

    _local: threading.local
    _all: list[tuple[threading.Thread, sqlite3.Connection]]
    _lock: contextlib.AbstractContextManager[bool]

    def __init__(self, path: str) -> None:
        self.path = path
        self._closed = False
        self._begin()
        inherited.after_fork(self, Connections._after_fork)

    def reader(self) -> sqlite3.Connection:
        """This thread's connection."""
        db: sqlite3.Connection | None = getattr(self._local, "db", None)
        if self._closed:
            raise StoreError(f"{self.path} was closed", code="AFL-STORE-033", hint="open the memory again")
        if db is None:
            db = self._local.db = connect(self.path, threads=True)
            with self._lock:
                self._close_of_ended_threads()
                self._all.append((threading.current_thread(), db))
        return db

    @contextlib.contextmanager
    def writer(self, *, durable: bool = False) -> Iterator[sqlite3.Connection]:
        """One write transaction; writers of other threads wait here, those of other processes at the file."""
        db = self.reader()
        with self._lock, writing(db, durable=durable):
            yield db

    def in_turn(self, write: Callable[[sqlite3.Connection], Done]) -> Done:
        """Let something write that is a transaction of its own; writers of other threads wait here."""
        db = self.reader()
        with self._lock:
            return write(db)

    def close(self) -> None:
        """Close every thread's connection."""
        with self._lock:
            self._closed = True
            for _, db in self._all:
                db.close()
            self._all.clear()

    def _close_of_ended_threads(self) -> None:
        for thread, db in self._all:
            if not thread.is_alive():
                db.close()
        self._all = [(thread, db) for thread, db in self._all if thread.is_alive()]

    def _begin(self) -> None:
        self._local = threading.local()
        self._all = []
        self._lock = threading.RLock()

    def _after_fork(self) -> None:
        inherited.keep(db for _, db in self._all)
        self._begin()
