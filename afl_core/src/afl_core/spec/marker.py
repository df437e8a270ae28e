"""The hook marker a plug-in puts on its functions, and the version of the contracts."""

from __future__ import annotations

import pluggy

API_VERSION = 1
"""Contracts only grow: new arguments and methods have defaults. A plug-in module states the version it was written for as `AFL_API_VERSION`."""

PROJECT = "afl"
ENTRY_POINT_GROUP = "afl.plugins"

hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)
