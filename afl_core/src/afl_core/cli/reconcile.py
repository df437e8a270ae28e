"""`afl reconcile`."""

from __future__ import annotations

import click

from afl_core.cli.options import Answer, common


@click.command(help="Read what hooks missed, evaluate what is due and run the reviews that may start, now.")
@click.option("--dry-run", is_flag=True, help="Only say what would be read and which reviews would start.")
@click.option("--no-review", is_flag=True, help="Start no review.")
@common
def reconcile(answer: Answer, dry_run: bool, no_review: bool) -> int:
    """Run one bounded pass."""
    from afl_core.api.home import Home
    from afl_core.worker.reconcile import plan, run

    with Home(answer.home) as home:
        if dry_run:
            body = plan(home)
            answer.give(
                body,
                [f"would read {one['unread']} bytes of {one['path']}" for one in body["transcripts"]]
                + [f"would start review {review}" for review in body["reviews"]]
                or ["nothing to do"],
            )
            return 0
        body = run(home, review=not no_review, progress=answer.progress)
    lines = [
        f"{body['status']}: {body['filesScanned']} transcripts read, {body['eventsCaptured']} events, {body['immediateSignals']} signals, {body['spoolDrained']} from the spool",
        *(f"review {one['review_id'][:12]}: {one['outcome']}" for one in body["reviews"]),
        *(f"problem: {one['path']}: {one['message']}" for one in body["errors"]),
    ]
    answer.give(body, lines)
    return 1 if body["errors"] else 0
