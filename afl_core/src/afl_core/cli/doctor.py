"""`afl doctor`."""

from __future__ import annotations

from typing import Any

import click

from afl_core.cli.options import Answer, common
from afl_core.spec.health import Health

SIGNS = {"ok": "ok  ", "warn": "warn", "fail": "FAIL", "absent": "-   "}


@click.command(help="Check that everything works, by running each configured hook command.")
@click.option("--live", is_flag=True, help="Also store, read back and remove a synthetic prompt through each command.")
@common
def doctor(answer: Answer, live: bool) -> int:
    """Exit 0 when healthy, degraded or not, and 1 when unhealthy."""
    from afl_core.api.home import Home
    from afl_core.setup.doctor import doctor as examine

    with Home(answer.home) as home:
        report = examine(home, live=live)
    body = report.as_json()
    lines = [f"{_verdict(report)}{_why(report)}"]
    for line in report.lines:
        lines.append(f"  {SIGNS[line.health.value]}  {line.name}: {line.sentence}")
        if line.hint and line.health.value in ("warn", "fail"):
            lines.append(f"        next: {line.hint}")
    answer.give(body, lines)
    return 0 if report.healthy else 1


def _verdict(report: Any) -> str:
    return "unhealthy" if not report.healthy else "healthy, but degraded" if report.degraded else "healthy"


def _why(report: Any) -> str:
    """The first thing that is wrong, worst first; the lines below say all of it."""
    ranked = sorted(report.reasons, key=lambda one: one.health is not Health.FAIL)
    return f": {_named(ranked[0])}" + (f" (and {len(ranked) - 1} more)" if len(ranked) > 1 else "") if ranked else ""


def _named(reason: Any) -> str:
    return reason.sentence if reason.about in ("parts", "hosts", "installed") else f"{reason.about}: {reason.sentence}"
