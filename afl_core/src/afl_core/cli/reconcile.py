"""`afl reconcile` and `afl reconcile-daemon`."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import click

from afl_core.cli.options import Answer, common, moment

SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}


class Ago(click.ParamType):  # type: ignore[type-arg]  # generic since click 8.2 only
    """A time span such as `90s`, `15m`, `12h` or `30d`; gives seconds. A bare number is seconds."""

    name = "ago"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Refuses anything else, and more than 30 days."""
        from afl_core.worker.todo import LOOK_BACK_MS

        text = str(value)
        number, unit = (text[:-1], text[-1:]) if text[-1:] in SECONDS else (text, "s")
        if not (number.isascii() and number.isdigit()) or not 0 < (seconds := int(number[:12]) * SECONDS[unit]) <= LOOK_BACK_MS // 1000:
            self.fail(f"{text!r} is not a time span of at most 30 days, such as 15m, 12h or 7d", param, ctx)
        return seconds


@click.command(help="Read what hooks missed, evaluate what is due and run the reviews that may start, now.")
@click.option("--dry-run", is_flag=True, help="Only say what would be read and which reviews would start.")
@click.option("--no-review", is_flag=True, help="Start no review.")
@click.option("--since", type=Ago(), metavar="AGO", help="Look at transcripts that changed since so long ago: 90s, 15m, 12h, 30d at most.")
@click.option("--at-most", type=click.IntRange(1), metavar="SECONDS", help="Begin nothing more after this long; the next pass goes on.")
@common
def reconcile(answer: Answer, dry_run: bool, no_review: bool, since: int | None, at_most: int | None) -> int:
    """Run one bounded pass."""
    from afl_core.api.home import Home
    from afl_core.worker.heap import hold_loaded
    from afl_core.worker.reconcile import plan, run

    with Home(answer.home) as home:
        since_ms = None if since is None else home.clock() - since * 1000
        if dry_run:
            body = plan(home, review=not no_review, since_ms=since_ms)
            answer.give(body, [*_planned(body)] or ["nothing to do"])
            return 0
        hold_loaded(home)
        body = run(home, review=not no_review, since_ms=since_ms, at_most_s=at_most or math.inf, progress=answer.progress)
    if body["status"] == "skipped":
        answer.give(body, [f"skipped: another process reads, until {moment(body['leaseUntil'])} UTC at the latest"])
        return 0
    lines = [
        f"{body['status']}: {body['filesScanned']} transcripts read, {body['eventsCaptured']} events, {body['immediateSignals']} signals, {body['spoolDrained']} from the spool",
        *(f"review {one['handle']}: {one['outcome']}" for one in body["reviews"]),
        *_waiting(body),
        *_gaps(body),
        *(f"problem: {one['path']}: {one['message']}" for one in body["errors"]),
    ]
    answer.give(body, lines)
    return 1 if body["errors"] else 0


@click.command("reconcile-daemon", help="Stay in the foreground and run a pass whenever something waits. What the installed schedule runs.")
@click.option(
    "--interval", type=click.IntRange(30, 86_400), metavar="SECONDS", help="How often to look; default: the setting reconcile_interval."
)
@common
def reconcile_daemon(answer: Answer, interval: int | None) -> None:
    """Become the daemon."""
    import os

    from afl_core.api.remember import paths_of
    from afl_core.worker.daemon_start import become_daemon

    become_daemon(paths_of(answer.home, os.environ), os.environ, interval)


def _planned(body: dict[str, Any]) -> Iterator[str]:
    if body["spool"]:
        yield f"would take {body['spool']} records from the spool"
    for one in body["transcripts"]:
        yield f"would read {one['unread']} bytes of {one['path']}"
    for session in body["hooks"]:
        yield f"would look at what hooks saw of session {session}"
    for one in body["unreadable"]:
        yield f"cannot read {one['path']}"
    yield from _gaps(body)
    for one in body["reviews"]:
        yield f"would start review {one['handle']}"
    for one in body["newReviews"]:
        stop = one["stopped_by"]
        what = f"would make a review of {one['messages']} messages said to {one['host']} in {one['root']}"
        yield f"{what}, which waits{_until(stop)}: {stop['sentence']}" if stop else f"{what}, and start it"
    yield from _waiting(body)
    if body["spool"] or body["transcripts"] or body["hooks"]:
        yield "what is read may make more reviews due"


def _gaps(body: dict[str, Any]) -> Iterator[str]:
    from afl_core.worker.gaps import sentence_of

    for gap in body["coverageGaps"]:
        said = sentence_of(gap["kind"], gap.get("message", ""))
        yield f"gap: {gap['path'] or 'more files'}: {gap['kind']} ({gap['count']}): {said}"


def _waiting(body: dict[str, Any]) -> Iterator[str]:
    for one in body["waiting"]:
        detail = f" ({one['detail']})" if one["detail"] else ""
        yield f"review {one['handle']} waits{_until(one)}: {one['sentence']}{detail}"
        if one["next_step"]:
            yield f"  next: {one['next_step']}"


def _until(one: dict[str, Any]) -> str:
    return "" if one["until_ms"] is None else f" until {moment(one['until_ms'])} UTC"
