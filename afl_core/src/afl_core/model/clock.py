"""The one clock. Everything that needs the time takes a `Clock`; only this file asks the system."""

from __future__ import annotations

import os
import time
from collections.abc import Callable

from afl_core.model.errors import ModelError

Clock = Callable[[], int]
"""A function that returns milliseconds since the Unix epoch."""

DAY_MS = 86_400_000
"""One day in milliseconds."""


def now_ms() -> int:
    """Milliseconds since the Unix epoch; `AFL_NOW_MS` freezes it (tests, replays)."""
    frozen = os.environ.get("AFL_NOW_MS")
    if not frozen:
        return _running()
    try:
        return int(frozen)
    except ValueError as bad:
        raise ModelError(f"AFL_NOW_MS is {frozen!r}, not a number of milliseconds", code="AFL-MODEL-004", hint="unset AFL_NOW_MS") from bad


def steady() -> Clock:
    """A clock for something that asks often: what `AFL_NOW_MS` says is looked up once, here."""
    if not os.environ.get("AFL_NOW_MS"):
        return _running
    frozen = now_ms()
    return lambda: frozen


def _running() -> int:
    return time.time_ns() // 1_000_000
