"""What recalls leave behind, off the caller's path: a ring in memory that a thread of its own empties into the sidecar.

The sidecar may be deleted and may fail: a recall never notices, `failures` counts it and says what was wrong.
"""

from __future__ import annotations

import contextlib
import functools
import os
import sqlite3
import threading
import weakref
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import TypeVar

from afl_core.memory import terms
from afl_core.model.errors import AflError, ModelError, StoreError
from afl_core.store import inherited
from afl_core.store import telemetry as rows
from afl_core.store.cover import PLAIN, Cover
from afl_core.store.telemetry import Recalled, Row, Text

RING = 8_192
"""Recalls that wait; the oldest are dropped."""
EVERY_S = 2.0
"""Seconds between two looks of the thread."""
PRUNE_EVERY = 32
"""Flushes of one process between two prunings; the first flush of a day prunes too."""
TELLING = 4
"""Letters of a forgotten word that is looked for inside of longer ones too; of scripts with more letters, two."""
CLOSE_S = 5.0
"""Seconds that closing waits for the thread."""
MODES = {"off": "off", "none": "off", "": "off", "aggregate": "aggregate", "agg": "aggregate", "on": "aggregate", "full": "full"}
TEXT, ADDRESS = "telemetry:text", "telemetry:address"
"""What a sealed text of the sidecar is bound to."""
_PART = "\x01"
T = TypeVar("T")


def mode_of(given: object) -> str:
    """off, aggregate or full; raises `ModelError` for any other word."""
    mode = MODES.get(given.strip().casefold()) if isinstance(given, str) else None
    if mode is None:
        raise ModelError(
            f"telemetry is {given!r}; it is off, aggregate or full", code="AFL-MODEL-005", hint="open it with off, aggregate or full"
        )
    return mode


class Telemetry:
    """The sidecar of one memory file, in one process. Safe for many threads; a forked child begins with an empty ring.

    `forgets` gives the number of the last forget, None where it cannot be known now: of what began before that forget nothing is written any more, for
    it may name what was forgotten.
    """

    _recalls: deque[Recalled]
    _budgets: deque[tuple[int, bool]]
    _lock: contextlib.AbstractContextManager[bool]
    _db: sqlite3.Connection | None
    _thread: threading.Thread | None

    def __init__(
        self, path: str, mode: str, clock: Callable[[], int], cover: Cover = PLAIN, forgets: Callable[[], int | None] = lambda: 0
    ) -> None:
        self.path, self.mode = path, mode
        self.failures, self.dropped, self.last_error = 0, 0, ""
        self._clock, self._cover, self._forgets = clock, cover, forgets
        self._stop = threading.Event()
        self._flushes = 0
        self._begin()
        inherited.after_fork(self, Telemetry._after_fork)

    def recalled(self, one: Recalled) -> None:
        """Note a recall; returns at once."""
        if self.mode != "off":
            if len(self._recalls) >= RING:
                self.dropped += 1
            self._recalls.append(one)
            if self._thread is None:
                self._start()

    def budget(self, *, overflow: bool) -> None:
        """Note whether everything fitted a budget."""
        if self.mode != "off":
            self._budgets.append((self._clock(), overflow))
            if self._thread is None:
                self._start()

    def flush(self) -> bool:
        """Write what waits; from inside of a reading of the memory it waits on. False when that failed: what waited is lost, and counted."""
        if self.mode == "off":
            return True
        with self._lock:
            recalls, budgets = _taken(self._recalls), _taken(self._budgets)
            if not recalls and not budgets:
                return True
            try:
                if not self._write(recalls, budgets):
                    self._recalls.extendleft(reversed(recalls))
                    self._budgets.extendleft(reversed(budgets))
            except (sqlite3.Error, OSError, AflError) as bad:
                self._failed(bad)
                return False
            return True

    def scrub(
        self,
        addresses: Collection[str],
        texts: Collection[str],
        words: Collection[str] = (),
        *,
        questions: bool = False,
        busy_ms: int = rows.BUSY_MS,
    ) -> None:
        """Remove whatever names these grains, holds one of these texts or terms, or (`questions`) was asked at all; also in a mode that is off.

        A term that is long enough to tell something goes with every word that holds it. `busy_ms`: how long a reader in the way is waited for. A
        damaged sidecar is deleted. Raises `StoreError` (AFL-STORE-032) when one cannot be written: the next forget, sweep or opening ends it.
        """
        if not os.path.exists(self.path):
            return
        gone = frozenset(words)
        signs = (word for word in gone if word and not any(letter.isalnum() for letter in word))
        folded = [*(text.casefold() for text in texts if text.strip()), *signs]
        tells = functools.cache(lambda term: _holds(term, gone))

        def says(stored: Text | None) -> bool:
            if stored is None or questions:
                return questions
            if self._cover is not PLAIN and isinstance(stored, str):
                return False  # a keyed hash
            try:
                text = self._cover.open(TEXT, stored)
            except AflError:
                return True  # of another key: nobody can read it, and it goes
            held = text.casefold()
            return any(one in held for one in folded) or any(tells(term) for term in terms.terms(text))

        with self._lock:
            try:
                rows.scrub(self._open(), [self._cover.name(address) for address in addresses], says, busy_ms)
            except (sqlite3.OperationalError, OSError) as bad:
                raise StoreError(
                    f"the grains are deleted, but {self.path} cannot be scrubbed of them: {bad}",
                    code="AFL-STORE-032",
                    hint="close other readers, then run: afl sweep (or call sweep()); the next forget and the next opening do the same",
                ) from bad
            except sqlite3.DatabaseError as bad:
                self._failed(bad)
                self._delete()

    @contextlib.contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """The sidecar with everything written, while nobody else of this process uses it. Raises `StoreError` (AFL-STORE-037) when it is unusable."""
        self.flush()
        with self._lock:
            try:
                yield self._open()
            except (sqlite3.Error, OSError) as bad:
                self._failed(bad)
                raise StoreError(
                    f"{self.path} cannot be read: {bad}", code="AFL-STORE-037", hint="delete it: it only holds counts, and is made again"
                ) from bad

    def question(self, stored: Text) -> str:
        """A question as it was asked."""
        return self._cover.open(TEXT, stored)

    def address(self, name: str, sealed: bytes | None) -> str:
        """The address of a grain that was recalled."""
        return name if sealed is None else self._cover.open(ADDRESS, sealed)

    def state(self) -> dict[str, object]:
        """`{"mode", "waiting", "dropped", "failures", "last_error"}`."""
        return {
            "mode": self.mode,
            "waiting": len(self._recalls) + len(self._budgets),
            "dropped": self.dropped,
            "failures": self.failures,
            "last_error": self.last_error,
        }

    def close(self) -> None:
        """Write what waits and end the thread. May be called again."""
        self._stop.set()
        thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            thread.join(CLOSE_S)
        self.flush()
        with self._lock:
            if self._db is not None:
                self._db.close()
                self._db = None

    # --------------------------------------------------------------------------------------------------------------------------------- inside

    def _write(self, recalls: Iterable[Recalled], budgets: Iterable[tuple[int, bool]]) -> bool:
        """False, and nothing is written, where it cannot be known now what was forgotten."""
        db = self._open()
        with rows.writing(db):
            # Looked up inside: whoever forgets afterwards scrubs what is written here, whoever did before is seen.
            last = self._forgets()
            if last is None:
                return False
            fresh = (self._row(one) for one in recalls if one.forgets >= last)
            rows.write(db, fresh, budgets, log=self.mode == "full")
            self._flushes += 1
            rows.prune(db, self._clock(), again=self._flushes % PRUNE_EVERY == 0)
        return True

    def _open(self) -> sqlite3.Connection:
        if self._db is None:
            self._db = rows.connect(self.path)
        return self._db

    def _failed(self, bad: Exception) -> None:
        self.failures += 1
        self.last_error = f"{type(bad).__name__}: {bad}"
        if self._db is not None:
            self._db.close()
            self._db = None

    def _delete(self) -> None:
        for end in ("", "-wal", "-shm"):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(self.path + end)

    def _start(self) -> None:
        with self._lock:
            if self._thread is None and not self._stop.is_set():
                self._thread = threading.Thread(target=_run, args=(weakref.ref(self), self._stop), name="afl-telemetry", daemon=True)
                self._thread.start()

    def _begin(self) -> None:
        self._recalls = deque(maxlen=RING)
        self._budgets = deque(maxlen=RING)
        self._lock = threading.RLock()
        inherited.held_at_fork(self._lock)  # before the memory's own: what is written here looks into the memory
        self._db = None
        self._thread = None

    def _after_fork(self) -> None:
        inherited.keep([self._db] if self._db is not None else [])
        self._begin()

    def _row(self, one: Recalled) -> Row:
        cover = self._cover
        query = one.query.strip() if one.query is not None and one.query.strip() else None
        key = None if query is None else _PART.join((one.ns, one.subject or "", one.relation or "", query.lower()))
        return Row(
            at_ms=one.at_ms,
            ns=one.ns,
            key=None if key is None else cover.name(key),
            subject=None if one.subject is None else cover.seal(TEXT, one.subject),
            query=None if query is None else cover.seal(TEXT, query),
            addresses=tuple((cover.name(address), _bytes(cover.seal(ADDRESS, address))) for address in one.hashes),
            latency_us=one.latency_us,
            run_id=one.run_id,
        )


def _run(owner: weakref.ref[Telemetry], stop: threading.Event) -> None:
    """Ends with its telemetry, also where nobody closed it."""
    while not stop.wait(EVERY_S):
        telemetry = owner()
        if telemetry is None:
            return
        telemetry.flush()
        del telemetry


def _holds(term: str, words: Collection[str]) -> bool:
    """Whether a term is one of these words, or holds one that is long enough to tell something."""
    least = TELLING if term.isascii() else 2
    return term in words or any(term[at:end] in words for at in range(len(term)) for end in range(at + least, len(term) + 1))


def _bytes(sealed: Text) -> bytes | None:
    """An address beside its keyed hash; in clear it needs no second place."""
    return sealed if isinstance(sealed, bytes) else None


def _taken(ring: deque[T]) -> list[T]:
    taken = []
    while True:
        try:
            taken.append(ring.popleft())
        except IndexError:
            return taken
