"""The plug-ins of a home and how they are doing."""

from __future__ import annotations

from typing import Any

import attrs

from afl_core.api.home import Home
from afl_core.model.errors import PluginError
from afl_core.plugins.isolation import quarantined


def retried(home: Home, plugin: str) -> list[str]:
    """Forget what the ledger holds against a plug-in, so that it is called again at once; returns the calls that were counted."""
    ledger = home.registry.guard.ledger
    calls = [entry.call for entry in ledger.all() if entry.plugin == plugin]
    if not calls and plugin not in {one.name for one in home.registry.plugins()}:
        raise PluginError(f"no plug-in is called {plugin!r}", code="AFL-PLUGIN-006", hint="run: afl plugins list")
    for call in calls:
        ledger.clear(plugin, call)
    return calls


def listed(home: Home) -> list[dict[str, Any]]:
    """Every plug-in with what it registers, its problem, and what the ledger holds against it."""
    registry = home.registry
    (
        registry.hosts(),
        registry.reviewers(),
        registry.redactors(),
        registry.selectors(),
        registry.commands(),
        registry.keystores(home.paths.keys),
    )
    entries = registry.guard.ledger.all()
    now = home.clock()
    return [
        {
            **attrs.asdict(one),
            "kinds": list(one.kinds),
            "failures": sum(entry.failures for entry in entries if entry.plugin == one.name),
            "quarantined": [entry.call for entry in entries if entry.plugin == one.name and quarantined(entry, now)],
            "last_error": next((entry.last_error for entry in entries if entry.plugin == one.name), ""),
        }
        for one in registry.plugins()
    ]
