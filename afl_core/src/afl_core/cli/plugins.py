"""`afl plugins list|retry`."""

from __future__ import annotations

import click

from afl_core.cli.options import Answer, HelpfulGroup, common, table


@click.group(cls=HelpfulGroup, help="Show the plug-ins and how they are doing.")
def plugins(**_options: object) -> None:
    """Group."""


@plugins.command("list", help="Every plug-in with what it registers and its problems.")
@common
def list_(answer: Answer) -> None:
    """List."""
    from afl_core.api import plugins as api
    from afl_core.api.home import Home

    with Home(answer.home) as home:
        found = api.listed(home)
    rows = [(one["name"], f"{one['distribution']} {one['version']}", ", ".join(one["kinds"]) or "-", _state(one)) for one in found]
    answer.give({"plugins": found}, table(rows, ("plug-in", "distribution", "registers", "state")))


def _state(one: dict[str, object]) -> str:
    if one["problem"]:
        return str(one["problem"])
    if one["quarantined"]:
        return f"in quarantine: {one['last_error']}"
    return f"{one['failures']} failures: {one['last_error']}" if one["failures"] else "ok"


@plugins.command("retry", help="Forget a plug-in's failures, so that it is called again at once (after it was repaired).")
@click.argument("plugin")
@common
def retry(answer: Answer, plugin: str) -> None:
    """Lift the quarantine."""
    from afl_core.api import plugins as api
    from afl_core.api.home import Home

    with Home(answer.home) as home:
        calls = api.retried(home, plugin)
    said = f"{plugin}: forgot its failures in {', '.join(calls)}" if calls else f"{plugin}: nothing was held against it"
    answer.give({"plugin": plugin, "forgotten": calls}, [said])
