"""`afl doctor`."""

from __future__ import annotations

import click

from afl_core.cli.options import Answer, common

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
    lines = [report.headline()]
    for line in report.lines:
        lines.append(f"  {SIGNS[line.health.value]}  {line.name}: {line.sentence}")
        if line.hint and line.health.value in ("warn", "fail"):
            lines.append(f"        next: {line.hint}")
    answer.give(body, lines)
    return 0 if report.healthy else 1
