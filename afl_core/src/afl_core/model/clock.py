"""The one clock. Everything that needs the time takes a `Clock`; only this file asks the system."""

from __future__ import annotations

import os
import time
from collections.abc import Callable

Clock = Callable[[], int]
"""A function that returns milliseconds since the Unix epoch."""

DAY_MS = 86_400_000
"""One day in milliseconds."""


def now_ms() -> int:
    """Milliseconds since the Unix epoch; `AFL_NOW_MS` freezes it (tests, replays)."""
    frozen = os.environ.get("AFL_NOW_MS")
    return int(frozen) if frozen else time.time_ns() // 1_000_000
