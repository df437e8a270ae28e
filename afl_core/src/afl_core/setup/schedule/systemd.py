"""Linux: a service of the person's own systemd, for as long as they are logged in (or for good, where lingering is on)."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping

import attrs

from afl_core.setup.schedule.job import DESCRIPTION, RESTART_SECONDS, STOP_SECONDS, Job, State, attempted, checked, required

UNIT = "agent-feedback-loop-reconcile"
NICE = 10
WANTED_BY = "default.target"


@attrs.frozen
class Systemd:
    """`folder`: where the person's units stand."""

    environ: Mapping[str, str]
    folder: str

    @property
    def name(self) -> str:
        """The manager's name."""
        return "systemd"

    def refusal(self) -> str:
        """Containers, and logins without a session, have no user manager."""
        found = attempted(["systemctl", "--user", "show", "--property=Version"], self.environ)
        if found is None:
            return "systemctl is not there"
        return "" if found.returncode == 0 and not found.timed_out else "systemd's user manager cannot be reached from here"

    def place(self, job: Job) -> str:
        """`<configuration>/systemd/user/<unit>`."""
        return os.path.join(self.folder, unit_of(job))

    def render(self, job: Job) -> bytes:
        """The unit."""
        return render(job)

    def start(self, job: Job) -> None:
        """Read the unit anew, enable it, and run it as it is now."""
        for words in (["daemon-reload"], ["enable", unit_of(job)], ["restart", unit_of(job)]):
            required(["systemctl", "--user", *words], self.environ)

    def stop(self, job: Job) -> None:
        """Stop and disable it; where nobody can be asked, the link that enables it is removed by hand."""
        attempted(["systemctl", "--user", "disable", "--now", unit_of(job)], self.environ)
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            os.unlink(os.path.join(self.folder, f"{WANTED_BY}.wants", unit_of(job)))

    def forget(self, job: Job) -> None:
        """Let the manager notice that the unit is gone, and forget that it ever failed."""
        for words in (["daemon-reload"], ["reset-failed", unit_of(job)]):
            attempted(["systemctl", "--user", *words], self.environ)

    def state(self, job: Job) -> State:
        """What `systemctl show` says."""
        found = attempted(["systemctl", "--user", "show", "--property=LoadState,ActiveState", unit_of(job)], self.environ)
        if found is None or found.returncode != 0:
            return State.UNKNOWN
        said = dict(line.split("=", 1) for line in found.stdout.decode("utf-8", "replace").splitlines() if "=" in line)
        if said.get("LoadState") != "loaded":
            return State.UNLOADED
        return State.RUNNING if said.get("ActiveState") in ("active", "reloading") else State.IDLE


def unit_of(job: Job) -> str:
    """The unit's name."""
    return f"{UNIT}-{job.suffix}.service" if job.suffix else f"{UNIT}.service"


def render(job: Job) -> bytes:
    """The unit file.

    What would need a file system of its own (ProtectSystem, PrivateTmp) is left out: user managers may not make one everywhere. A reviewer's
    runtime makes machine code and sandboxes, so neither is forbidden.
    """
    # Through a shell that only hands over: systemd refuses a program whose own path holds a quote or a backslash.
    command = ["/bin/sh", "-c", 'exec "$0" "$@"', *job.command]
    lines = [
        "# Written by `afl install`, which replaces this file; `afl uninstall` removes it.",
        "[Unit]",
        f"Description={DESCRIPTION}",
        f"ConditionPathExists={_percent(checked(job.script))}",
        "StartLimitIntervalSec=0",
        "",
        "[Service]",
        "Type=exec",
        f"ExecStart={' '.join(quoted(word, dollar=True) for word in command)}",
        f"Environment={quoted('HOME=' + job.home)} {quoted('PATH=' + job.search)}",
        "Restart=always",
        f"RestartSec={RESTART_SECONDS}",
        f"TimeoutStopSec={STOP_SECONDS}",
        "KillMode=mixed",
        "UMask=0077",
        f"Nice={NICE}",
        "IOSchedulingClass=idle",
        "NoNewPrivileges=yes",
        "LockPersonality=yes",
        "RestrictRealtime=yes",
        "RestrictSUIDSGID=yes",
        "",
        "[Install]",
        f"WantedBy={WANTED_BY}",
    ]
    return ("\n".join(lines) + "\n").encode()


def quoted(text: str, *, dollar: bool = False) -> str:
    """One word of a unit file: double quotes, C escapes, `%%` for specifiers; `dollar`: also `$$`, where variables are replaced."""
    escaped = _percent(checked(text).replace("\\", "\\\\").replace('"', '\\"'))
    return f'"{escaped.replace("$", "$$") if dollar else escaped}"'


def _percent(text: str) -> str:
    return text.replace("%", "%%")
