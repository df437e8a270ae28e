"""What is scheduled, and what every service manager does with it. Values and a contract; no manager is named here."""

from __future__ import annotations

import enum
import hashlib
import os
from collections.abc import Mapping
from typing import Protocol

import attrs

from afl_core.model.errors import ProcessError, SetupError
from afl_core.processes.environment import child_environment
from afl_core.processes.run import detail, run
from afl_core.settings.paths import Paths
from afl_core.spec.reviewer import ProcessResult
from afl_core.worker.daemon_start import daemon_command

MANAGER_SECONDS = 20.0
"""How long a service manager may take to answer."""

RESTART_SECONDS = 30
"""How long a service manager waits before it starts the daemon again after it ended."""

STOP_SECONDS = 20
"""How long the daemon may take to end together with its pass; then the service manager kills it."""

SESSION_NAMES = ("XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS", "XDG_CONFIG_HOME", "USER", "LOGNAME")
"""Variables by which a service manager of the person's session is reached."""

DESCRIPTION = "Agent Feedback Loop: reads what hooks missed and runs what is due"


@attrs.frozen
class Job:
    """One home's schedule. `suffix` keeps homes apart, '' for the person's own; `search`: the PATH the daemon gets, on which reviewers are found."""

    home: str
    suffix: str
    command: tuple[str, ...]
    log: str
    search: str

    @property
    def script(self) -> str:
        """The file without which there is nothing to run."""
        return self.command[-1]


class State(enum.Enum):
    """What a service manager says of the job."""

    RUNNING = "running"
    IDLE = "loaded_idle"
    UNLOADED = "unloaded"
    UNKNOWN = "unknown"


class Manager(Protocol):
    """One service manager. What it cannot do it says with `SetupError`."""

    @property
    def name(self) -> str:
        """What it is called in the pointer file and to a person."""
        ...

    def refusal(self) -> str:
        """Why it cannot be used here, in words; '' when it can."""
        ...

    def place(self, job: Job) -> str:
        """Where the job's file stands."""
        ...

    def render(self, job: Job) -> bytes:
        """The job's file. Raises `SetupError` for a path that it cannot hold."""
        ...

    def start(self, job: Job) -> None:
        """Load the file as it is now, for every login from now on, and run it."""
        ...

    def stop(self, job: Job) -> None:
        """End it and forget it; a job that is not there is no error. The file still stands."""
        ...

    def forget(self, job: Job) -> None:
        """Called when the file is gone."""
        ...

    def state(self, job: Job) -> State:
        """What it does now."""
        ...


def job_of(paths: Paths, python: str, search: str, *, is_own: bool) -> Job:
    """The job of a home; `is_own`: it is the home of whoever runs this."""
    suffix = "" if is_own else hashlib.sha256(os.fsencode(paths.home)).hexdigest()[:8]
    return Job(paths.home, suffix, tuple(daemon_command(paths, python)), paths.reconcile_log, search)


def checked(text: str) -> str:
    """A path that a service file can hold. Raises `SetupError` for control characters and bytes that are no text."""
    if any(
        ord(char) < 0x20 or 0x7F <= ord(char) < 0xA0 or "\ud800" <= char <= "\udfff" or char in "\u2028\u2029\ufffe\uffff" for char in text
    ):
        raise SetupError(
            f"{text!r} holds characters that no service file can hold", code="AFL-SETUP-040", hint="use a home with a plain path"
        )
    return text


def call(argv: list[str], environ: Mapping[str, str]) -> ProcessResult:
    """Run a command of a service manager. Raises `ProcessError` when it is not there."""
    return run(argv, environment=child_environment(environ, SESSION_NAMES), cwd="/", deadline_seconds=MANAGER_SECONDS)


def required(argv: list[str], environ: Mapping[str, str]) -> None:
    """Run one that must succeed. Raises `SetupError` that says what it said."""
    try:
        result = call(argv, environ)
    except ProcessError as bad:
        raise SetupError(bad.sentence, code="AFL-SETUP-041", hint=bad.hint) from bad
    if result.returncode != 0 or result.timed_out:
        said = detail(result).rpartition("\n")[2] or f"status {result.returncode}"
        raise SetupError(f"{' '.join(argv[:3])} failed: {said}", code="AFL-SETUP-041", hint="run: afl doctor")


def attempted(argv: list[str], environ: Mapping[str, str]) -> ProcessResult | None:
    """Run one whose failure means that there was nothing to do; None when the command is not there."""
    try:
        return call(argv, environ)
    except ProcessError:
        return None
