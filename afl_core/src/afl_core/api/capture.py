"""The switch of evidence: off keeps nothing new; giving cards back is another switch and goes on."""

from __future__ import annotations

from typing import Any

from afl_core.api.home import Home
from afl_core.store import status
from afl_core.store.connection import writing


def read(home: Home) -> dict[str, Any]:
    """Whether evidence is kept, and since when."""
    return {
        "enabled": status.meta(home.db, "capture_enabled", "1") == "1",
        "revision": int(status.meta(home.db, "capture_policy_revision", "1")),
        "memory_enabled": home.settings.memory_enabled,
    }


def switch(home: Home, enabled: bool) -> dict[str, Any]:
    """Switch it; the revision is the moment of the change in ms."""
    with writing(home.db, durable=True):
        if (status.meta(home.db, "capture_enabled", "1") == "1") != enabled:
            status.set_meta(home.db, "capture_enabled", "1" if enabled else "0")
            status.set_meta(home.db, "capture_policy_revision", str(home.clock()))
    return read(home)
