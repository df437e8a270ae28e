"""`afl paths`."""

from __future__ import annotations

import click

from afl_core.cli.options import Answer, common


@click.command(help="Show where things lie.")
@common
def paths(answer: Answer) -> None:
    """Print every path of the home."""
    import os

    from afl_core.api.home import paths_of

    found = paths_of(answer.home, os.environ).as_dict()
    answer.give(found, (f"{name:<20} {path}" for name, path in found.items()))
