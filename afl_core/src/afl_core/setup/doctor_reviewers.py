"""The doctor on reviewers: for each host, what would review its sessions, and why nothing can. Starts nothing."""

from __future__ import annotations

import os
from typing import Any

from afl_core.api.home import Home
from afl_core.model.errors import AflError
from afl_core.plugins.registry import Registry
from afl_core.review import operator

ISOLATED = "isolated_cli_process"
OPERATOR = "operator_command"
"""How a review runs: as the host's own command line, or as the command a person named in the settings. Core runs both the same way."""

ASSURED = "process_lifecycle_isolated"
UNAVAILABLE = "unavailable"


def examine_reviewers(home: Home, registry: Registry) -> dict[str, dict[str, Any]]:
    """`reviewers`: by host, the one that would be used; where none can, the first one's name and everyone's reasons."""
    found = {
        host: _reviewer_of(home, registry, host)
        for host in sorted({*registry.hosts(), *(one.host for one in registry.reviewers().values())})
    }
    return {host: {**body, "assurance": ASSURED if body["available"] else UNAVAILABLE} for host, body in found.items()}


def _reviewer_of(home: Home, registry: Registry, host: str) -> dict[str, Any]:
    if command := home.settings.reviewer_command:
        there = os.access(command, os.X_OK)
        body = {"cli": host, "name": operator.NAME, "label": f"the command {command}", "mode": OPERATOR}
        return {**body, "available": there, "command": command if there else None, "reason": "" if there else f"{command} cannot be run"}
    ours = [one for one in registry.reviewers().values() if one.host == host]
    reasons = []
    for reviewer in ours:
        try:
            viability = registry.guard.call(reviewer.name, "viable", lambda reviewer=reviewer: reviewer.viable(home.reviewer_environ))  # type: ignore[misc]
        except AflError as bad:
            reasons.append(bad.sentence)
            continue
        if viability.ok:
            body = {"cli": host, "name": reviewer.name, "label": reviewer.label, "mode": ISOLATED}
            return {**body, "available": True, "command": viability.reason or reviewer.name, "reason": ""}
        reasons.append(viability.reason)
    name, label, mode = (ours[0].name, ours[0].label, ISOLATED) if ours else (None, None, None)
    reason = "; ".join(reasons) or f"no reviewer for {host} is installed"
    return {"cli": host, "name": name, "label": label, "mode": mode, "available": False, "command": None, "reason": reason}
