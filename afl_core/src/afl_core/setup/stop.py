"""End the worker of a home: find its front and jobs, make sure that they are ours, ask them to leave, and end what does not."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

from afl_core.model.errors import WorkerError
from afl_core.review.context import sweep
from afl_core.settings.paths import Paths
from afl_core.setup.process_table import Process, processes
from afl_core.worker.client import ask
from afl_core.worker.daemon_start import SCRIPT
from afl_core.worker.frames import HEALTH
from afl_core.worker.todo import is_held

ASK_SECONDS = 1.0
LEAVE_SECONDS = 10.0
"""How long a front that was asked to leave may take: it answers who waits and closes the store."""

FINISH_SECONDS = 3.0
"""How long jobs whose front is gone may go on: enough for a transcript, not for a review."""

GRACE_SECONDS = 2.0
"""Between asking jobs, or a reviewer, to end (TERM) and ending them (KILL)."""

POLL_SECONDS = 0.02
LOCK_TABLE = "/proc/locks"
DAEMON_SECONDS = 10.0
"""How long the daemon may take to end together with its pass (TERM), before it is ended (KILL)."""

JOBS = "afl_core.worker.jobs"
"""The module that jobs processes run; the home is their last argument."""


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


def fronts_of(paths: Paths) -> list[Process]:
    """Processes that were started as the front of this home is started, whether they hold its lock or not."""
    script = os.path.join(paths.hook_dir, "worker.py")
    return [one for one in processes() if one.has("-S") and one.command.rstrip(b"\0\n").endswith(os.fsencode(script))]


def jobs_of(paths: Paths) -> list[Process]:
    """The jobs processes of this home; more than one where an elder one still finishes a review."""
    return [one for one in processes() if one.has(JOBS) and _is_of_home(one, paths)]


def daemons_of(paths: Paths) -> list[Process]:
    """Processes that run the scheduled reconcile of this home, started by a service manager or by hand."""
    script = os.path.join(paths.hook_dir, SCRIPT)
    return [one for one in processes() if one.has("-S") and one.command.rstrip(b"\0\n").endswith(os.fsencode(script))]


def stop_daemon(paths: Paths) -> list[str]:
    """End the daemon of the scheduled reconcile; it ends its pass. Gives a line for each."""
    pids = sorted(one.pid for one in daemons_of(paths))
    _end(lambda: daemons_of(paths), grace=DAEMON_SECONDS)
    return [f"stopped the reconcile daemon (process {pid})" for pid in pids]


def stop_worker(paths: Paths) -> list[str]:
    """End the front, the jobs and the reviewer they run; returns a line for each thing that was ended. A review that was cut off stays pending."""
    said = [line for line in (stop_front(paths), *stop_jobs(paths)) if line]
    while rest := fronts_of(paths):  # one that was just starting when the other one left
        pids = {one.pid for one in rest}
        _end(lambda pids=pids: [one for one in fronts_of(paths) if one.pid in pids])  # type: ignore[misc]
        said += [*(f"stopped the worker (process {pid})" for pid in sorted(pids)), *stop_jobs(paths)]
    return said


def stop_front(paths: Paths) -> str:
    """Ask the front to leave; returns what happened, '' when none runs. Its jobs are told to finish what they do."""
    pid = front_pid(paths)
    if pid is None:
        return ""
    if pid not in {one.pid for one in fronts_of(paths)}:
        if _until(lambda: is_free(paths), ASK_SECONDS):  # a front of another build leaves as soon as it was asked how it is
            return f"stopped the worker (process {pid})"
        raise WorkerError(
            f"process {pid} holds {paths.front_lock}, but it is not the worker of this home",
            code="AFL-WORKER-004",
            hint=f"see what process {pid} is; it was left alone",
        )
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGTERM)
    if not _until(lambda: is_free(paths), LEAVE_SECONDS):
        raise WorkerError(
            f"the worker (process {pid}) was asked to leave and did not",
            code="AFL-WORKER-004",
            hint=f"end process {pid}, then run the same command again",
        )
    return f"stopped the worker (process {pid})"


def stop_jobs(paths: Paths) -> list[str]:
    """Let jobs finish for a moment, then end them and the reviewer they run, and remove its hand-off."""
    if not jobs_of(paths) or _until(lambda: not jobs_of(paths), FINISH_SECONDS):
        return []
    jobs = {one.pid for one in jobs_of(paths)}
    reviewers = {one.group for one in processes() if one.parent in jobs and one.group not in jobs}
    ended = _end(lambda: [one for one in jobs_of(paths) if one.pid in jobs])
    ended += _end(lambda: [one for one in processes() if one.group in jobs])
    # A reviewer's watcher kills its group as soon as the jobs process is gone; until then the group's number cannot be another's.
    ended += _end(lambda: [one for one in processes() if one.group in reviewers], patience=GRACE_SECONDS)
    sweep(paths)
    if reviewers:
        return ["ended a running review; it stays pending and is tried again when the worker runs again"]
    return [f"ended the worker's jobs (process {', '.join(map(str, sorted(jobs)))})"] if ended else []


def is_free(paths: Paths) -> bool:
    """Whether nobody holds the front's lock."""
    return not is_held(paths.front_lock)


def _end(found: Callable[[], list[Process]], *, patience: float = 0.0, grace: float = GRACE_SECONDS) -> int:
    """Ask what `found` finds to end, and end what is left after a grace; looked for anew before each signal, so that it is still the same one."""
    if patience and _until(lambda: not found(), patience):
        return 0
    count = len(found())
    for number in (signal.SIGTERM, signal.SIGKILL):
        for one in found():
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(one.pid, number) if one.group == one.pid else os.kill(one.pid, number)
        if _until(lambda: not found(), grace):
            return count
    left = ", ".join(str(one.pid) for one in found())
    raise WorkerError(f"a process of ours could not be ended: {left}", code="AFL-WORKER-004", hint=f"end process {left} by hand")


def _until(come_true: Callable[[], bool], seconds: float) -> bool:
    end = time.monotonic() + seconds
    while not come_true():
        if time.monotonic() > end:
            return False
        time.sleep(POLL_SECONDS)
    return True


def _is_of_home(one: Process, paths: Paths) -> bool:
    if b"\0" not in one.command:
        return one.command.rstrip().endswith(os.fsencode(paths.home))
    last = one.command.rstrip(b"\0").rpartition(b"\0")[2]
    return os.path.realpath(last) == os.fsencode(os.path.realpath(paths.home))


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
