"""Keeping a broken plug-in away from everybody else: failures are named and counted, repeated ones lead to quarantine, a hang ends the process and is named by the next one."""

from __future__ import annotations

import contextlib
import mmap
import os
import signal
from collections.abc import Callable, Iterator
from typing import Protocol, TypeVar

import attrs

from afl_core.model.clock import Clock, now_ms
from afl_core.model.errors import AflError, PluginError

T = TypeVar("T")

FAILURES_TO_QUARANTINE = 3
"""Failures in a row after which a call of a plug-in is not made any more."""

QUARANTINE_MS = 60 * 60 * 1000
"""How long; then it is tried once more."""

CLEAN_MS = 1_000
"""How long a process relies on having seen that a call never failed: a call is made for every text, and looking each time costs as much as some."""

ERROR_CHARS = 300


@attrs.frozen
class LedgerEntry:
    """What is known of one plug-in's one call."""

    plugin: str
    call: str
    failures: int
    last_error: str
    last_ms: int
    quarantined_until_ms: int | None


class Ledger(Protocol):
    """Where failures are counted (the store's table, or memory)."""

    def read(self, plugin: str, call: str) -> LedgerEntry | None:
        """The entry, or None when it never failed."""
        ...

    def write(self, entry: LedgerEntry) -> None:
        """Keep the entry."""
        ...

    def clear(self, plugin: str, call: str) -> None:
        """Forget it: the call worked."""
        ...

    def all(self) -> list[LedgerEntry]:
        """Every entry."""
        ...


class MemoryLedger:
    """A ledger that lasts as long as the process: the CLI before there is a store, tests."""

    def __init__(self) -> None:
        self._entries: dict[tuple[str, str], LedgerEntry] = {}

    def read(self, plugin: str, call: str) -> LedgerEntry | None:
        """The entry, or None."""
        return self._entries.get((plugin, call))

    def write(self, entry: LedgerEntry) -> None:
        """Keep the entry."""
        self._entries[(entry.plugin, entry.call)] = entry

    def clear(self, plugin: str, call: str) -> None:
        """Forget it."""
        self._entries.pop((plugin, call), None)

    def all(self) -> list[LedgerEntry]:
        """Every entry."""
        return list(self._entries.values())


def after_failure(entry: LedgerEntry | None, plugin: str, call: str, error: str, now: int) -> LedgerEntry:
    """The ledger's next entry (pure): one more failure, and quarantine when there were enough."""
    failures = (entry.failures if entry else 0) + 1
    until = now + QUARANTINE_MS if failures >= FAILURES_TO_QUARANTINE else None
    return LedgerEntry(plugin=plugin, call=call, failures=failures, last_error=error[:ERROR_CHARS], last_ms=now, quarantined_until_ms=until)


def quarantined(entry: LedgerEntry | None, now: int) -> bool:
    """Whether the call must not be made now. A clock that jumped back does not keep a plug-in away for longer than the quarantine."""
    return entry is not None and entry.quarantined_until_ms is not None and now < entry.quarantined_until_ms <= now + QUARANTINE_MS


class Mark:
    """A small mapped file that says which plug-in is being called; it outlives a killed process, so the next one can name the culprit."""

    SIZE = 512

    def __init__(self, path: str) -> None:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
        try:
            os.ftruncate(descriptor, self.SIZE)
            self._map = mmap.mmap(descriptor, self.SIZE)
        finally:
            os.close(descriptor)

    def left(self) -> tuple[str, str] | None:
        """(plug-in, call) that was running when the last process died, or None."""
        text = self._map[:].rstrip(b"\0").decode("utf-8", "replace")
        plugin, _, call = text.partition("\n")
        return (plugin, call) if plugin else None

    def set(self, plugin: str, call: str) -> None:
        """Say that this call runs now."""
        data = f"{plugin}\n{call}".encode()[: self.SIZE]
        self._map[:] = data.ljust(self.SIZE, b"\0")

    def clear(self) -> None:
        """Say that none runs."""
        self._map[:1] = b"\0"
        self._map[:] = bytes(self.SIZE)


def describe(bad: BaseException, *, verbatim: bool) -> str:
    """An error for the ledger: our own sentence, or the kind of a foreign error with its words or, where they may quote evidence, its place."""
    if isinstance(bad, AflError):
        return bad.sentence
    if verbatim:
        return f"{type(bad).__name__}: {bad}"
    trace = bad.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    where = f" at {os.path.basename(trace.tb_frame.f_code.co_filename)}:{trace.tb_lineno}" if trace else ""
    return type(bad).__name__ + where


class Guard:
    """Makes one call of one plug-in. `mark` and `seconds` bound it by a kernel timer: only where the process may be killed (jobs)."""

    def __init__(self, ledger: Ledger, *, clock: Clock = now_ms, mark: Mark | None = None) -> None:
        self.ledger = ledger
        self._clock = clock
        self._mark = mark
        self._clean: dict[tuple[str, str], int] = {}
        if mark is not None and (left := mark.left()) is not None:
            self._failed(*left, f"did not return in time, or ended its process, in {left[1]}")
            mark.clear()

    def call(self, plugin: str, call: str, function: Callable[[], T], *, seconds: float = 0.0, verbatim: bool = False) -> T:
        """The function's result; raise `PluginError` when it raised or is in quarantine. The cause is chained.

        What a foreign error says may quote the text the plug-in was given, so only its type and place are kept; `verbatim` keeps its words
        too, for calls that are given nothing of a person's (importing, registering).
        """
        entry = self._entry(plugin, call)
        if entry is not None and quarantined(entry, self._clock()):
            raise PluginError(
                f"plug-in {plugin!r} is in quarantine after {entry.failures} failures in {call}: {entry.last_error}",
                code="AFL-PLUGIN-004",
                hint=f"when it is repaired, run: afl plugins retry {plugin}",
            )
        try:
            if self._mark is None or seconds <= 0:
                result = function()
            else:
                with _bounded(self._mark, plugin, call, seconds):
                    result = function()
        except (Exception, SystemExit) as bad:
            error = describe(bad, verbatim=verbatim)
            self._failed(plugin, call, error)
            raise PluginError(
                f"plug-in {plugin!r} failed in {call}: {error[:ERROR_CHARS]}", code="AFL-PLUGIN-003", hint="run: afl plugins list"
            ) from bad
        if entry is not None:
            self.ledger.clear(plugin, call)
        return result

    def _entry(self, plugin: str, call: str) -> LedgerEntry | None:
        now, seen = self._clock(), self._clean.get((plugin, call))
        if seen is not None and seen <= now < seen + CLEAN_MS:
            return None
        entry = self.ledger.read(plugin, call)
        if entry is None:
            self._clean[plugin, call] = now
        return entry

    def _failed(self, plugin: str, call: str, error: str) -> None:
        self._clean.pop((plugin, call), None)
        self.ledger.write(after_failure(self.ledger.read(plugin, call), plugin, call, error, self._clock()))


@contextlib.contextmanager
def _bounded(mark: Mark, plugin: str, call: str, seconds: float) -> Iterator[None]:
    mark.set(plugin, call)
    signal.setitimer(signal.ITIMER_REAL, seconds)  # nobody handles SIGALRM: the kernel ends the process even inside a C loop
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        mark.clear()
