"""macOS: a LaunchAgent that is kept alive, and no more often started than needed."""

from __future__ import annotations

import os
import plistlib
import time
from collections.abc import Callable, Mapping

import attrs

from afl_core.model.errors import SetupError
from afl_core.setup.schedule.job import RESTART_SECONDS, STOP_SECONDS, Job, State, attempted, checked, required

LABEL = "dev.agent-feedback-loop.reconcile"

BOOTSTRAP_TRIES = 5
"""A job that was just unloaded cannot be loaded again at once."""

BOOTSTRAP_PAUSE_MS = 100
BOOTSTRAP_PAUSE_MAX_MS = 800
NICE = 10
UMASK = 0o077


@attrs.frozen
class Launchd:
    """`folder`: the person's LaunchAgents."""

    environ: Mapping[str, str]
    folder: str
    pause: Callable[[float], None] = time.sleep

    @property
    def name(self) -> str:
        """The manager's name."""
        return "launchd"

    def refusal(self) -> str:
        """A login over the network has no session that agents run in."""
        found = attempted(["launchctl", "print", f"gui/{os.getuid()}"], self.environ)
        if found is None:
            return "launchctl is not there"
        return "" if found.returncode == 0 or found.overflowed else "nobody is logged in at the screen"

    def place(self, job: Job) -> str:
        """`~/Library/LaunchAgents/<label>.plist`."""
        return os.path.join(self.folder, label_of(job) + ".plist")

    def render(self, job: Job) -> bytes:
        """The property list."""
        return render(job)

    def start(self, job: Job) -> None:
        """Unload what is loaded, load the file, run it now."""
        attempted(["launchctl", "bootout", self._target(job)], self.environ)
        for number in range(BOOTSTRAP_TRIES):
            try:
                required(["launchctl", "bootstrap", f"gui/{os.getuid()}", self.place(job)], self.environ)
                break
            except SetupError:
                if number == BOOTSTRAP_TRIES - 1:
                    raise
                self.pause(min(BOOTSTRAP_PAUSE_MS * 2**number, BOOTSTRAP_PAUSE_MAX_MS) / 1000)
        required(["launchctl", "kickstart", "-k", self._target(job)], self.environ)

    def stop(self, job: Job) -> None:
        """Unload it; one that is not loaded is no error."""
        attempted(["launchctl", "bootout", self._target(job)], self.environ)

    def forget(self, job: Job) -> None:
        """Launchd keeps nothing of an unloaded job."""

    def state(self, job: Job) -> State:
        """What `launchctl print` says."""
        found = attempted(["launchctl", "print", self._target(job)], self.environ)
        if found is None:
            return State.UNKNOWN
        if found.returncode != 0:
            return State.UNLOADED
        return State.RUNNING if b"state = running" in found.stdout else State.IDLE

    def _target(self, job: Job) -> str:
        return f"gui/{os.getuid()}/{label_of(job)}"


def label_of(job: Job) -> str:
    """The job's name."""
    return f"{LABEL}.{job.suffix}" if job.suffix else LABEL


def render(job: Job) -> bytes:
    """The property list, as XML."""
    body = {
        "Label": label_of(job),
        "ProgramArguments": [checked(word) for word in job.command],
        "WorkingDirectory": "/",
        "RunAtLoad": True,
        "KeepAlive": True,
        "ThrottleInterval": RESTART_SECONDS,
        "ExitTimeOut": STOP_SECONDS,
        "ProcessType": "Background",
        "LowPriorityIO": True,
        "Nice": NICE,
        "Umask": UMASK,
        "EnvironmentVariables": {"HOME": checked(job.home), "PATH": checked(job.search)},
        "StandardOutPath": checked(job.log),
        "StandardErrorPath": checked(job.log),
    }
    return plistlib.dumps(body, sort_keys=True)
