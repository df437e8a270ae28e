"""End the front of a home: find it by its own word or by its lock, make sure that it is one, ask it to leave and wait until its lock is free."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import signal
import time
from pathlib import Path

from afl_core.model.errors import WorkerError
from afl_core.processes.environment import child_environment
from afl_core.processes.run import run
from afl_core.settings.paths import Paths
from afl_core.worker.client import ask
from afl_core.worker.frames import HEALTH

ASK_SECONDS = 1.0
LEAVE_SECONDS = 10.0
"""How long a front that was asked to leave may take: it answers who waits and closes the store."""

POLL_SECONDS = 0.02
PS_SECONDS = 5.0
LOCK_TABLE = "/proc/locks"


def front_pid(paths: Paths) -> int | None:
    """The process id of the front; None when none runs. Raises `WorkerError` when one holds the lock and cannot be identified."""
    if is_free(paths):
        return None
    pid = _by_word(paths) or _by_lock(paths)
    if pid is None:
        if is_free(paths):  # it left while it was looked for
            return None
        raise WorkerError(
            f"a process holds {paths.front_lock}, but it does not answer",
            code="AFL-WORKER-004",
            hint="look for a process that runs feedback-loop/hook/worker.py and end it",
        )
    return pid


def stop_front(paths: Paths) -> str:
    """Ask the front to leave; returns what happened, '' when none runs. Its jobs finish what they do and end with it."""
    pid = front_pid(paths)
    if pid is None:
        return ""
    if not _is_front(pid, paths):
        raise WorkerError(
            f"process {pid} holds {paths.front_lock}, but it is not the worker of this home",
            code="AFL-WORKER-004",
            hint=f"see what process {pid} is; it was left alone",
        )
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGTERM)
    until = time.monotonic() + LEAVE_SECONDS
    while not is_free(paths):
        if time.monotonic() > until:
            raise WorkerError(
                f"the worker (process {pid}) was asked to leave and did not",
                code="AFL-WORKER-004",
                hint=f"end process {pid}, then run the same command again",
            )
        time.sleep(POLL_SECONDS)
    return f"stopped the worker (process {pid})"


def is_free(paths: Paths) -> bool:
    """Whether nobody holds the front's lock."""
    try:
        handle = os.open(paths.front_lock, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
    except FileNotFoundError:
        return True
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    finally:
        os.close(handle)
    return True


def _by_word(paths: Paths) -> int | None:
    with contextlib.suppress(ValueError, KeyError, TypeError):
        return int(json.loads(ask(paths, "-", HEALTH, b"", ASK_SECONDS) or b"")["pid"])
    return None


def _by_lock(paths: Paths) -> int | None:
    """Linux says which process holds a lock on which inode."""
    with contextlib.suppress(OSError):
        inode = str(os.stat(paths.front_lock).st_ino)
        for line in Path(LOCK_TABLE).read_text("ascii").splitlines():
            fields = line.split()
            if len(fields) > 5 and fields[1] == "FLOCK" and fields[5].rpartition(":")[2] == inode and int(fields[4]) > 0:
                return int(fields[4])
    return None


def _is_front(pid: int, paths: Paths) -> bool:
    """Whether the process runs this home's worker script."""
    script = os.path.join(paths.hook_dir, "worker.py")
    if os.path.isdir("/proc/self"):
        try:
            return os.fsencode(script) in Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
        except OSError:
            return False
    listed = run(["ps", "-o", "command=", "-p", str(pid)], environment=child_environment(os.environ), cwd="/", deadline_seconds=PS_SECONDS)
    return os.fsencode(script) in listed.stdout
