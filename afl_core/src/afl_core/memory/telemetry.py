"""What recalls leave behind, off the caller's path: a ring in memory that a thread of its own empties into the sidecar."""

from __future__ import annotations

import sqlite3
import threading
from collections import deque
from collections.abc import Callable, Iterable
from typing import TypeVar

import attrs

from afl_core.model.errors import ModelError
from afl_core.store import telemetry as rows
from afl_core.store.cover import PLAIN, Cover
from afl_core.store.telemetry import Recalled

RING = 8_192
"""Recalls that wait; the oldest are dropped."""
EVERY_S = 2.0
"""Seconds between two looks of the thread."""
PRUNE_EVERY = 32
"""Flushes between two prunings."""
MODES = {"off": "off", "none": "off", "": "off", "aggregate": "aggregate", "agg": "aggregate", "on": "aggregate", "full": "full"}
_PART = "\x01"
T = TypeVar("T")


def mode_of(given: str) -> str:
    """off, aggregate or full; raises `ModelError` for any other word."""
    mode = MODES.get(given.strip().casefold())
    if mode is None:
        raise ModelError(f"telemetry is {given!r}; it is off, aggregate or full", code="AFL-MODEL-005")
    return mode


class Telemetry:
    """The sidecar of one memory file, in one process. Safe for many threads."""

    def __init__(self, path: str, mode: str, clock: Callable[[], int], cover: Cover = PLAIN) -> None:
        self.path, self.mode = path, mode
        self._clock, self._cover = clock, cover
        self._recalls: deque[Recalled] = deque(maxlen=RING)
        self._budgets: deque[tuple[int, bool]] = deque(maxlen=RING)
        self._lock = threading.Lock()
        self._db: sqlite3.Connection | None = None
        self._thread: threading.Thread | None = None
        self._stop = threading.Event()
        self._flushes = 0

    def recalled(self, one: Recalled) -> None:
        """Note a recall; returns at once."""
        if self.mode != "off":
            self._recalls.append(one)
            if self._thread is None:
                self._start()

    def budget(self, *, overflow: bool) -> None:
        """Note whether everything fitted a budget."""
        if self.mode != "off":
            self._budgets.append((self._clock(), overflow))
            if self._thread is None:
                self._start()

    def flush(self) -> None:
        """Write what waits."""
        if self.mode == "off":
            return
        with self._lock:
            recalls, budgets = _taken(self._recalls), _taken(self._budgets)
            if recalls or budgets:
                covered = [(self._covered(one), self._key(one)) for one in recalls]
                rows.write(self._open(), covered, budgets, log=self.mode == "full")
                self._flushes += 1
                if self._flushes % PRUNE_EVERY == 0:
                    rows.prune(self._open(), self._clock())

    def scrub(self, hashes: Iterable[str], texts: Iterable[str]) -> None:
        """Remove whatever names these grains or texts, also what waits. Where texts are sealed, questions go altogether."""
        if self.mode == "off":
            return
        hashes, texts = list(hashes), [text for text in texts if text]
        self.flush()
        with self._lock:
            rows.scrub(self._open(), [self._cover.name(hash) for hash in hashes], texts if self._cover is PLAIN else [""] if texts else [])

    def read(self) -> sqlite3.Connection:
        """The sidecar with everything written."""
        self.flush()
        with self._lock:
            return self._open()

    def close(self) -> None:
        """Write what waits and end the thread."""
        self._stop.set()
        self.flush()
        with self._lock:
            if self._db is not None:
                self._db.close()
                self._db = None

    def _open(self) -> sqlite3.Connection:
        if self._db is None:
            self._db = rows.connect(self.path)
        return self._db

    def _start(self) -> None:
        with self._lock:
            if self._thread is None and not self._stop.is_set():
                self._thread = threading.Thread(target=self._run, name="afl-telemetry", daemon=True)
                self._thread.start()

    def _run(self) -> None:
        while not self._stop.wait(EVERY_S):
            self.flush()

    def _covered(self, one: Recalled) -> Recalled:
        if self._cover is PLAIN:
            return one
        return attrs.evolve(
            one,
            subject=None if one.subject is None else self._cover.name(one.subject),
            query=None if one.query is None else self._cover.name(one.query),
            hashes=tuple(self._cover.name(hash) for hash in one.hashes),
        )

    def _key(self, one: Recalled) -> str | None:
        if one.query is None or not one.query.strip():
            return None
        key = _PART.join((one.ns, one.subject or "", one.relation or "", one.query.strip().lower()))
        return self._cover.name(key)


def _taken(ring: deque[T]) -> list[T]:
    taken = []
    while ring:
        taken.append(ring.popleft())
    return taken
