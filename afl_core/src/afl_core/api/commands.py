"""Commands that plug-ins add to `afl`. A broken plug-in costs its own commands only."""

from __future__ import annotations

import os

from afl_core.api.home import paths_of
from afl_core.model.errors import PathError
from afl_core.plugins.discovery import discover
from afl_core.plugins.registry import Registry


def plugin_commands(home: str | None) -> dict[str, tuple[str, str]]:
    """Name -> (target, one line of help)."""
    try:
        found = discover(paths_of(home, os.environ).plugin_cache)
    except PathError:  # the command itself says what is wrong with the home; help must be had all the same
        found = discover(None)
    return {spec.name: (spec.target, spec.help) for spec in Registry(found).commands()}
