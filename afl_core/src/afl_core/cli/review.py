"""`afl review list|show|trends|retry`."""

from __future__ import annotations

from typing import Any

import click

from afl_core.cli.options import Answer, HelpfulGroup, common, moment, table


@click.group(cls=HelpfulGroup, help="Show reviews and what they found.")
def review(**_options: object) -> None:
    """Group."""


@review.command("list", help="The newest reviews (default: of all projects).")
@click.argument("directory", required=False, type=click.Path(exists=True, file_okay=False))
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
            one["handle"],
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
        table(rows, ("review", "status", "kind", "messages", "attempt", "made (UTC)", "reason")) or ["no review yet"],
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
        f"review {one['review_id']} · {one['status']} · {one['event_count']} messages · attempt {one['attempt']} · made {moment(one['created_ms'])} (times in UTC)"
    ]
    if one["reason"]:
        lines.append(f"  why: {one['reason']}: {one['reason_sentence']}")
    if one["detail"]:
        lines.append(f"  detail: {one['detail']}" + (f" ({one['detail_sentence']})" if one["detail_sentence"] else ""))
    if one["next_step"]:
        lines.append(f"  next: {one['next_step']}")
    if one["status"] == "pending" and one["next_wake_ms"]:
        lines.append(f"  waits until: {moment(one['next_wake_ms'])}")
    for run in one["runs"]:
        cost = "" if run["cost_usd"] is None else f", {run['cost_usd']:.4f} USD"
        model = f" ({run['model']})" if run["model"] else ""
        said = "" if not run["sentence"] else f": {run['sentence']}"
        lines.append(
            f"  run {moment(run['started_ms'])} by {run['reviewer']}{model}: {run['outcome'] or 'running'}{said}, {run['input_tokens']}+{run['output_tokens']} tokens{cost}"
        )
        if run.get("detail"):
            lines.append(f"    {run['detail']}")
    if one["report"]:
        lines += ["", one["report"]]
    return lines


@review.command("trends", help="Small proven faults of a project by family: how often, first and last.")
@click.argument("directory", required=False, type=click.Path(exists=True, file_okay=False))
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
    head = (
        tuple(name.removesuffix("_ms").replace("_", " ") + (" (UTC)" if name == "first_ms" else "") for name in found[0]) if found else ()
    )
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
    answer.give({"command": "review", "action": "retry", **done}, _retry_lines(done))


def _retry_lines(done: dict[str, Any]) -> list[str]:
    stop = done["stopped_by"]
    again = f"review {done['handle']} starts again with {done['events']} messages"
    if stop is None:
        return [f"{again}; run: afl reconcile"]
    if stop["until_ms"] is not None:
        return [f"{again}, but not before {moment(stop['until_ms'])} UTC: {stop['sentence']}"]
    return [f"{again} when it may: {stop['sentence']}", f"  next: {stop['next_step']}"]
