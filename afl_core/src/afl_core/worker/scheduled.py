"""One pass of the daemon: `afl reconcile` as a process of its own group, waited for, and ended when it takes too long. Imported when there is something to do."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import NamedTuple

from afl_core.model.errors import AflError
from afl_core.processes.environment import DEFAULT_PATH
from afl_core.processes.run import run
from afl_core.spec.reviewer import ProcessResult
from afl_core.worker.environment import PREFIX, for_child

AT_MOST_S = 600
"""After this long a scheduled pass starts nothing more; what is left is left to the next one."""

SLACK_S = 120
"""What a pass may take longer than that, besides the review it runs: a stretch of a transcript, house-keeping. Then it hangs, and is ended."""


class Done(NamedTuple):
    """How a pass ended. `ok`: it ended by itself; `said`: a line for the log: counts and codes, never bodies."""

    ok: bool
    said: str


def run_pass(constants: ModuleType, environ: Mapping[str, str], *, reviewer_ms: int, grace_ms: int, on_tick: Callable[[], None]) -> Done:
    """Run it to its end. What `on_tick` raises ends it too, and is raised here."""
    command = [
        constants.PYTHON,
        "-I",
        "-m",
        "afl_core.cli.main",
        "--home",
        constants.HOME,
        "--json",
        "reconcile",
        "--at-most",
        str(AT_MOST_S),
    ]
    try:
        result = run(
            command,
            environment=environment(constants, environ),
            cwd="/",
            deadline_seconds=AT_MOST_S + SLACK_S + reviewer_ms / 1000,
            grace_seconds=grace_ms / 1000,
            on_tick=on_tick,
        )
    except AflError as bad:
        return Done(ok=False, said=f"a pass could not be started: {bad.code}: {bad.sentence}")
    return _told(result)


def environment(constants: ModuleType, environ: Mapping[str, str]) -> dict[str, str]:
    """What a pass gets: the base names, our own variables, those that say where hosts are, and those the person allowed by name."""
    named = {*constants.ALLOW, *(name for names in constants.FORWARD.values() for name in names)}
    chosen = {name: value for name, value in environ.items() if name in named or name.startswith(PREFIX)}
    return {"PATH": DEFAULT_PATH, "HOME": constants.HOME, **for_child(environ), **chosen, "AFL_DATA_ROOT": constants.DATA}


def _told(result: ProcessResult) -> Done:
    took = f"in {result.seconds:.1f} s"
    if result.timed_out:
        return Done(ok=False, said=f"a pass hung and was ended {took}")
    try:
        body = json.loads(result.stdout)
        if body.get("status") == "skipped":
            return Done(ok=True, said=f"a pass was left to another process: {body['reason']}")
        counts = f"{body['filesScanned']} transcripts, {body['eventsCaptured']} events, {len(body['reviews'])} reviews"
        codes = sorted({str(one["code"]) for one in body["errors"]})
        return Done(ok=True, said=f"a pass {body['status']} {took}: {counts}" + (f"; {', '.join(codes)}" if codes else ""))
    except (ValueError, KeyError, TypeError):
        return Done(ok=False, said=f"a pass failed {took} with status {result.returncode}: {_error(result.stdout)}")


def _error(stdout: bytes) -> str:
    try:
        return str(json.loads(stdout)["error"]["code"])
    except (ValueError, KeyError, TypeError):
        return "it said nothing"
