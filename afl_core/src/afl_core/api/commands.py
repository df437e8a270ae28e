"""Commands that plug-ins add to `afl`. A broken plug-in costs its own commands only."""

from __future__ import annotations

import os

from afl_core.api.home import paths_of
from afl_core.plugins.discovery import discover
from afl_core.plugins.registry import Registry


def plugin_commands(home: str | None) -> dict[str, tuple[str, str]]:
    """Name -> (target, one line of help)."""
    found = discover(paths_of(home, os.environ).plugin_cache)
    return {spec.name: (spec.target, spec.help) for spec in Registry(found).commands()}
