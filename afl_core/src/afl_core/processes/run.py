"""The one way to run a child process to its end: own session and group, deadline, capped output, nothing of it left behind.

It knows nothing of reviewers; a dialogue with a child that waits to be asked is `dialogue.py`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence

from afl_core.processes.child import GRACE_SECONDS, Child
from afl_core.spec.reviewer import ProcessResult

STDOUT_LIMIT = 512 * 1024
"""Bytes a child may print; more ends it."""

DETAIL_LIMIT = 4096
"""Bytes of diagnostics worth showing: the end of them."""


def run(
    argv: Sequence[str],
    *,
    environment: Mapping[str, str],
    cwd: str,
    deadline_seconds: float,
    stdin: bytes = b"",
    stdout_limit: int = STDOUT_LIMIT,
    on_tick: Callable[[], None] | None = None,
    grace_seconds: float = GRACE_SECONDS,
) -> ProcessResult:
    """Run `argv` and wait for it. A command without a slash is looked up on the PATH of `environment`.

    At the deadline (seconds of wall time), or when stdout grows over its limit, the group gets TERM and after `grace_seconds` KILL; the result
    says which. `on_tick` is called about ten times a second while the child runs; what it raises ends the child and is raised here.
    Whatever the child started in its group is killed when the child ends. The child does not outlive this process (see `tether.py`);
    one that moves itself to another session escapes both. Raises `ProcessError` when the command cannot be started.
    """
    started = time.monotonic()
    child = Child(argv, environment, cwd, grace_seconds)
    try:
        child.feed(stdin)
        outcome = child.follow(started + deadline_seconds, stdout_limit, on_tick)
    finally:
        child.end()
    return ProcessResult(
        returncode=child.returncode,
        stdout=bytes(child.stdout[:stdout_limit]),
        stderr=bytes(child.stderr),
        timed_out=outcome == "deadline",
        overflowed=outcome == "overflow",
        seconds=time.monotonic() - started,
    )


def detail(result: ProcessResult) -> str:
    """The end of the diagnostics as text, for a reason's detail. Not redacted."""
    return result.stderr[-DETAIL_LIMIT:].decode("utf-8", "replace").strip()
