"""Windows: a task that runs a pass every minute while the person is logged in. There is no daemon: its light half needs POSIX."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from xml.sax.saxutils import escape

import attrs

from afl_core.setup.schedule.job import DESCRIPTION, Job, State, attempted, checked, required

TASK = "Agent Feedback Loop\\reconcile"
EVERY_MINUTES = 1
LIMIT_MINUTES = 15
"""How long a pass may take before the scheduler ends it."""

BUDGET_SECONDS = 600
"""After this long a pass begins nothing more."""


@attrs.frozen
class WindowsTask:
    """`folder`: where the task's file stands; the scheduler keeps its own copy."""

    environ: Mapping[str, str]
    folder: str

    @property
    def name(self) -> str:
        """The manager's name."""
        return "windows"

    def refusal(self) -> str:
        """Whether the scheduler's command runs here."""
        found = attempted(["schtasks", "/Query", "/FO", "CSV", "/NH"], self.environ)
        if found is None:
            return "schtasks cannot be run"
        return "" if found.returncode == 0 else "the task scheduler does not answer"

    def place(self, job: Job) -> str:
        """The file the task is made from."""
        return os.path.join(self.folder, f"reconcile-task{'-' if job.suffix else ''}{job.suffix}.xml")

    def render(self, job: Job) -> bytes:
        """The task."""
        return render(job)

    def start(self, job: Job) -> None:
        """Make the task, or replace it, and run it."""
        required(["schtasks", "/Create", "/TN", task_of(job), "/XML", self.place(job), "/F"], self.environ)
        required(["schtasks", "/Run", "/TN", task_of(job)], self.environ)

    def stop(self, job: Job) -> None:
        """End and delete it; one that is not there is no error."""
        for words in (["/End"], ["/Delete", "/F"]):
            attempted(["schtasks", words[0], "/TN", task_of(job), *words[1:]], self.environ)

    def forget(self, job: Job) -> None:
        """The scheduler keeps nothing of a deleted task."""

    def state(self, job: Job) -> State:
        """Whether the task is there."""
        found = attempted(["schtasks", "/Query", "/TN", task_of(job), "/FO", "CSV", "/NH"], self.environ)
        if found is None:
            return State.UNKNOWN
        return State.UNLOADED if found.returncode != 0 else State.RUNNING if b"Running" in found.stdout else State.IDLE


def task_of(job: Job) -> str:
    """The task's name."""
    return f"{TASK}-{job.suffix}" if job.suffix else TASK


def render(job: Job) -> bytes:
    """The task as the scheduler reads it: XML in UTF-16."""
    arguments = ["-I", "-m", "afl_core.cli.main", "--home", job.home, "reconcile", "--at-most", str(BUDGET_SECONDS)]
    text = f"""<?xml version="1.0" encoding="UTF-16"?>
<Task version="1.2" xmlns="http://schemas.microsoft.com/windows/2004/02/mit/task">
  <RegistrationInfo><Description>{escape(DESCRIPTION)}</Description></RegistrationInfo>
  <Triggers>
    <LogonTrigger><Enabled>true</Enabled><Repetition><Interval>PT{EVERY_MINUTES}M</Interval></Repetition></LogonTrigger>
  </Triggers>
  <Principals><Principal id="Author"><LogonType>InteractiveToken</LogonType><RunLevel>LeastPrivilege</RunLevel></Principal></Principals>
  <Settings>
    <MultipleInstancesPolicy>IgnoreNew</MultipleInstancesPolicy>
    <DisallowStartIfOnBatteries>false</DisallowStartIfOnBatteries>
    <StopIfGoingOnBatteries>false</StopIfGoingOnBatteries>
    <StartWhenAvailable>true</StartWhenAvailable>
    <Hidden>true</Hidden>
    <ExecutionTimeLimit>PT{LIMIT_MINUTES}M</ExecutionTimeLimit>
    <Priority>8</Priority>
  </Settings>
  <Actions Context="Author">
    <Exec>
      <Command>{escape(checked(job.command[0]))}</Command>
      <Arguments>{escape(subprocess.list2cmdline([checked(word) for word in arguments]))}</Arguments>
    </Exec>
  </Actions>
</Task>
"""
    return text.replace("\n", "\r\n").encode("utf-16")
