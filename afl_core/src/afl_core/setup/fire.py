"""Run a configured hook command exactly as a host would: the very string, through the shell the host uses, with a payload on standard input.

A health question travels in the environment (`AFL_HEALTH=1`), because anything else would not be the configured command: another last word is
another string, which proves nothing about the first, and an ordinary event would be evidence of something nobody said.
"""

from __future__ import annotations

import contextlib
import json
import os
import shlex
from collections.abc import Mapping
from typing import Any

import attrs

from afl_core.model.errors import ProcessError
from afl_core.processes.environment import child_environment
from afl_core.processes.run import run
from afl_core.settings.paths import Paths
from afl_core.setup.stop import is_free
from afl_core.spec.host import HostManifest

HEALTH_VARIABLE = "AFL_HEALTH"
"""Set to 1: the hook asks the front how it is instead of handing over an event, and waits for one that has to be started."""

SECONDS = 10.0
"""No hook takes longer: it gives itself three seconds."""

SHELL = "/bin/sh"

NO_WORKER = "the hook ran, but no worker answered it"

WOKEN = "woken"
"""The hook's mark in the run directory that a front was started and is not ready yet."""


@attrs.frozen
class Fired:
    """How a command ended. `health` is the front's answer; None when something else, or nothing, was printed."""

    ok: bool
    health: dict[str, Any] | None
    problem: str


def forget_failed_start(paths: Paths) -> None:
    """Remove the mark of a start that led to no front, so that the next hook tries again at once: what stood in the way may be mended."""
    if is_free(paths):
        with contextlib.suppress(OSError):
            os.unlink(os.path.join(paths.run, WOKEN))


def shell_of(manifest: HostManifest, environ: Mapping[str, str]) -> str:
    """The shell a host runs commands in: the person's own where the host says so, else `/bin/sh`."""
    own = environ.get("SHELL", "")
    return own if manifest.own_shell and os.path.isabs(own) and os.access(own, os.X_OK) else SHELL


def fire_health(command: str, environ: Mapping[str, str], home: str, shell: str = SHELL) -> Fired:
    """Ask through the command. `problem` says in words why there is no answer."""
    printed, problem = run_command(command, environ, home, b"{}", health=True, shell=shell)
    if problem:
        return Fired(ok=False, health=None, problem=problem)
    try:
        body = json.loads(printed)
    except ValueError:
        body = None
    if isinstance(body, dict) and isinstance(body.get("build"), str):
        return Fired(ok=True, health=body, problem="")
    return Fired(ok=False, health=None, problem=broken_part(command) or NO_WORKER)


def run_command(
    command: str, environ: Mapping[str, str], home: str, payload: bytes, *, health: bool = False, shell: str = SHELL
) -> tuple[bytes, str]:
    """What the command printed, and what went wrong in words ('' when nothing did)."""
    extra = {"HOME": home, **({HEALTH_VARIABLE: "1"} if health else {})}
    try:
        result = run(
            [shell, "-c", command], environment=child_environment(environ, (), extra), cwd=home, deadline_seconds=SECONDS, stdin=payload
        )
    except ProcessError as bad:
        return b"", bad.sentence
    if result.timed_out:
        return b"", f"it did not end within {SECONDS:.0f} s"
    if result.returncode != 0:
        return b"", f"it ended with status {result.returncode}: {result.stderr[-200:].decode('utf-8', 'replace').strip()}"
    return result.stdout, ""


def broken_part(command: str) -> str:
    """What a command of ours names that is not there; '' when all of it is."""
    try:
        words = shlex.split(command)
    except ValueError:
        return "its quoting is broken"
    if len(words) == 3 and words[1] == "-c":  # the whole as one argument of a shell
        return broken_part(words[2])
    if words[:2] != ["test", "-r"] or "&&" not in words[:-1]:
        return "it is not the command that install writes"
    hook, python = words[2], words[words.index("&&") + 1]
    if not os.access(hook, os.R_OK):
        return f"the hook file {hook} is missing"
    if not os.access(python, os.X_OK):
        return f"the Python {python} is missing"
    return ""
