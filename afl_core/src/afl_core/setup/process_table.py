"""The processes of this machine as far as they can be seen: who they are, whose child, in which group. Signals nobody."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import NamedTuple

from afl_core.processes.environment import child_environment
from afl_core.processes.run import run

PS_SECONDS = 5.0
"""How long listing processes may take."""


class Process(NamedTuple):
    """One living process; `command` is its arguments joined by spaces where they cannot be told apart, else by NUL.

    `user`: the id of whom it belongs to, None where that is not known.
    """

    pid: int
    parent: int
    group: int
    command: bytes
    user: int | None = None

    def has(self, word: str) -> bool:
        """Whether this is one of its arguments, or stands in its command line where arguments cannot be told apart."""
        wanted = os.fsencode(word)
        return wanted in self.command.split(b"\0") if b"\0" in self.command else wanted in self.command


def processes() -> list[Process]:
    """Every living process; one that ended and was not waited for is not."""
    if os.path.isdir("/proc/self"):
        return [found for name in os.listdir("/proc") if name.isdecimal() and (found := _of_proc(name)) is not None]
    listed = run(
        ["ps", "-axo", "pid=,ppid=,pgid=,stat=,command="],
        environment=child_environment(os.environ),
        cwd="/",
        deadline_seconds=PS_SECONDS,
        stdout_limit=16 << 20,
    )
    return [found for line in listed.stdout.splitlines() if (found := _of_ps(line)) is not None]


def _of_proc(name: str) -> Process | None:
    with contextlib.suppress(OSError, ValueError, IndexError):  # it ended meanwhile
        state, parent, group = Path(f"/proc/{name}/stat").read_bytes().rpartition(b")")[2].split()[:3]
        if state not in (b"Z", b"X"):
            command, user = Path(f"/proc/{name}/cmdline").read_bytes(), os.stat(f"/proc/{name}").st_uid
            return Process(int(name), int(parent), int(group), command, user)
    return None


def _of_ps(line: bytes) -> Process | None:
    fields = line.split(None, 4)
    if len(fields) < 5 or fields[3].startswith(b"Z"):
        return None
    return Process(int(fields[0]), int(fields[1]), int(fields[2]), fields[4])
