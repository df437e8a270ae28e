"""`afl review list|show|trends|retry`."""

from __future__ import annotations

from typing import Any

import click

from afl_core.cli.options import Answer, HelpfulGroup, common, moment, table


@click.group(cls=HelpfulGroup, help="Show reviews and what they found.")
def review(**_options: object) -> None:
    """Group."""


@review.command("list", help="The newest reviews (default: of all projects).")
@click.argument("directory", required=False, type=click.Path(file_okay=False))
@click.option("--limit", type=click.IntRange(1, 1000), default=20, show_default=True)
@common
def list_(answer: Answer, directory: str | None, limit: int) -> None:
    """List."""
    from afl_core.api import reviews as api
    from afl_core.api.home import Home
    from afl_core.api.lessons import project_of

    with Home(answer.home) as home:
        found = api.listed(home, project_of(directory) if directory else None, limit)
    rows = [
        (
            one["review_id"][:12],
            one["status"],
            "at once" if one["immediate"] else "batch",
            str(one["event_count"]),
            str(one["attempt"]),
            moment(one["created_ms"]),
            one["reason"] or "",
        )
        for one in found
    ]
    answer.give(
        {"command": "review", "action": "list", "reviews": found},
        table(rows, ("review", "status", "kind", "words", "attempt", "made", "reason")) or ["no review yet"],
    )


@review.command("show", help="One review in full: its report, its runs and what went wrong.")
@click.argument("review_id")
@common
def show(answer: Answer, review_id: str) -> None:
    """Show."""
    from afl_core.api import reviews as api
    from afl_core.api.home import Home

    with Home(answer.home) as home:
        one = api.shown(home, review_id)
    answer.give({"command": "review", "action": "show", "review": one}, _lines(one))


def _lines(one: dict[str, Any]) -> list[str]:
    lines = [
        f"review {one['review_id']} · {one['status']} · {one['event_count']} messages · attempt {one['attempt']} · made {moment(one['created_ms'])}"
    ]
    if one["reason"]:
        lines.append(f"  {one['reason']}: {one['reason_sentence'] or one['detail'] or ''}")
        if one["next_step"]:
            lines.append(f"  next: {one['next_step']}")
    for run in one["runs"]:
        cost = "" if run["cost_usd"] is None else f", {run['cost_usd']:.4f} USD"
        lines.append(
            f"  run {moment(run['started_ms'])} by {run['reviewer']} {run['model'] or ''}: {run['outcome'] or 'running'}, {run['input_tokens']}+{run['output_tokens']} tokens{cost}"
        )
    if one["report"]:
        lines += ["", one["report"]]
    return lines


@review.command("trends", help="Small proven faults of a project by family: how often, first and last.")
@click.argument("directory", required=False, type=click.Path(file_okay=False))
@common
def trends(answer: Answer, directory: str | None) -> None:
    """Trends."""
    import os

    from afl_core.api import reviews as api
    from afl_core.api.home import Home
    from afl_core.api.lessons import project_of

    with Home(answer.home) as home:
        found = api.trends(home, project_of(directory or os.getcwd()))
    rows = [tuple(moment(value) if name.endswith("_ms") else str(value) for name, value in one.items()) for one in found]
    head = tuple(name.removesuffix("_ms").replace("_", " ") for name in found[0]) if found else ()
    answer.give({"command": "review", "action": "trends", "trends": found}, table(rows, head) or ["no small fault was found here yet"])


@review.command("retry", help="Start a failed or waiting review again, with all its attempts.")
@click.argument("review_id")
@common
def retry(answer: Answer, review_id: str) -> None:
    """Retry."""
    from afl_core.api import reviews as api
    from afl_core.api.home import Home

    with Home(answer.home) as home:
        done = api.retried(home, review_id)
    answer.give(
        {"command": "review", "action": "retry", **done},
        [f"review {done['review_id'][:12]} starts again with {done['events']} messages; run: afl reconcile"],
    )
