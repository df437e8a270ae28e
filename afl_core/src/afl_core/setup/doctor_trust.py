"""The doctor on trust: whether a host that runs only trusted hooks would run ours, as its own server says now."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from afl_core.api.home import Home
from afl_core.setup.doctor_report import counted, fail, ok, warn
from afl_core.setup.selection import Selected
from afl_core.setup.trust import ask_host, asks_trust, looking, wanted_hooks
from afl_core.setup.trust_steps import troubles
from afl_core.spec.health import HealthLine
from afl_core.spec.trust import TrustReport, TrustState

INSPECTED = "spawned_app_server"
"""What was asked: a server of our own, not the one that a running session or desktop application has."""


@attrs.frozen
class TrustExam:
    """`states`: by event, as the host told; `facts`: who was asked; `lines`: what a person must know."""

    states: Mapping[str, str] = attrs.field(factory=dict)
    facts: Mapping[str, Any] = attrs.field(factory=dict)
    lines: tuple[HealthLine, ...] = ()


def trust_of(home: Home, one: Selected, python: str) -> TrustExam:
    """Ask the host; nothing to say of one that runs whatever is configured."""
    if asks_trust(one) is None:
        return TrustExam()
    wanted = wanted_hooks(one, home, python)
    asked = ask_host(home, one, wanted, looking)
    lines = _lines(one, asked.report)
    if not lines:
        lines.append(ok(f"trust {one.name}", f"{one.manifest.label} trusts our {counted(len(wanted), 'hook')}"))
    facts = {
        "hostAvailable": bool(asked.command),
        "hostCommand": asked.command or None,
        "inspectionScope": INSPECTED,
        "reason": asked.report.reason,
        "changed": asked.report.changed,
    }
    return TrustExam({finding.event: finding.state.value for finding in asked.report.findings}, facts, tuple(lines))


def _lines(one: Selected, report: TrustReport) -> list[HealthLine]:
    return [
        (warn if state is TrustState.UNAVAILABLE else fail)(f"trust {one.name}", sentence, after)
        for state, sentence, after in troubles(one, report)
    ]
