"""A guard looks into the ledger for failures, and not for every call."""

from __future__ import annotations

import pytest

from afl_core.model.errors import PluginError
from afl_core.plugins.isolation import CLEAN_MS, FAILURES_TO_QUARANTINE, QUARANTINE_MS, Guard, LedgerEntry, MemoryLedger, after_failure


class Counting(MemoryLedger):
    """Counts how often it is read."""

    reads = 0

    def read(self, plugin: str, call: str) -> LedgerEntry | None:
        self.reads += 1
        return super().read(plugin, call)


class Hands:
    """A clock that is set by hand."""

    now = 1_000_000

    def __call__(self) -> int:
        return self.now


def fail() -> None:
    raise ValueError("broken")


def quarantine(ledger: MemoryLedger, now: int) -> None:
    """As another process does it."""
    for _ in range(FAILURES_TO_QUARANTINE):
        ledger.write(after_failure(ledger.read("plugin", "redact"), "plugin", "redact", "broken", now))


def test_a_call_that_never_failed_is_looked_up_once_in_a_while() -> None:
    ledger, clock = Counting(), Hands()
    guard = Guard(ledger, clock=clock)
    for _ in range(100):
        assert guard.call("plugin", "redact", lambda: 1) == 1
    assert ledger.reads == 1
    clock.now += CLEAN_MS
    guard.call("plugin", "redact", lambda: 1)
    assert ledger.reads == 2


def test_a_quarantine_from_another_process_is_seen_soon() -> None:
    ledger, clock = Counting(), Hands()
    guard = Guard(ledger, clock=clock)
    guard.call("plugin", "redact", lambda: 1)
    quarantine(ledger, clock.now)
    clock.now += CLEAN_MS
    with pytest.raises(PluginError, match="quarantine after 3 failures"):
        guard.call("plugin", "redact", lambda: 1)
    clock.now += QUARANTINE_MS
    assert guard.call("plugin", "redact", lambda: 1) == 1


def test_a_clock_that_jumped_back_means_looking_again() -> None:
    ledger, clock = Counting(), Hands()
    guard = Guard(ledger, clock=clock)
    guard.call("plugin", "redact", lambda: 1)
    clock.now -= QUARANTINE_MS
    guard.call("plugin", "redact", lambda: 1)
    assert ledger.reads == 2


def test_failures_of_this_process_count_at_once() -> None:
    guard = Guard(MemoryLedger(), clock=Hands())
    guard.call("plugin", "redact", lambda: 1)
    for _ in range(FAILURES_TO_QUARANTINE):
        with pytest.raises(PluginError, match="failed in redact"):
            guard.call("plugin", "redact", fail)
    with pytest.raises(PluginError, match="quarantine"):
        guard.call("plugin", "redact", lambda: 1)
