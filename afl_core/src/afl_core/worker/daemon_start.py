"""Becoming the daemon of a home: what `afl reconcile-daemon` does before it is replaced by the light process that stays."""

from __future__ import annotations

import os
from collections.abc import Mapping

from afl_core.api.remember import recalled
from afl_core.model.errors import WorkerError
from afl_core.settings.paths import Paths
from afl_core.worker.rhythm import PREFIX
from afl_core.worker.todo import is_held

SCRIPT = "schedule.py"
"""The file of the hook's folder that is the daemon."""


def daemon_command(paths: Paths, python: str) -> list[str]:
    """What runs as the daemon, here and under a service manager."""
    return [python, "-I", "-S", os.path.join(paths.hook_dir, SCRIPT)]


def become_daemon(paths: Paths, environ: Mapping[str, str], interval: int | None) -> None:
    """Replace this process. `interval`: seconds; None takes the setting. Raises `WorkerError` where there is nothing to run, or one runs already."""
    body = recalled(paths).body
    python = body.get("python")
    if not isinstance(python, str) or not os.path.exists(os.path.join(paths.hook_dir, SCRIPT)):
        raise WorkerError(f"nothing is installed in {paths.home}", code="AFL-WORKER-020", hint="run: afl install")
    if not os.path.isdir(paths.data):  # the light process would end without a word, as a service manager wants it
        raise WorkerError(f"{paths.data} is missing", code="AFL-WORKER-020", hint="run: afl install")
    if is_served(paths):
        raise WorkerError(
            f"another reconcile daemon serves {paths.home}", code="AFL-WORKER-021", hint="nothing to do: see afl doctor for the schedule"
        )
    named = {} if interval is None else {PREFIX + "RECONCILE_INTERVAL": str(interval)}
    try:
        os.execve(python, daemon_command(paths, python), {**environ, **named})  # noqa: S606 - no shell, on purpose
    except OSError as bad:
        raise WorkerError(f"{python} cannot be run: {bad.strerror}", code="AFL-WORKER-020", hint="run: afl install") from bad


def is_served(paths: Paths) -> bool:
    """Whether a daemon holds the lock of this home."""
    return is_held(paths.reconcile_lock)
