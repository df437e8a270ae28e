"""Starting and looking at processes: how long one took on the wall and on the processor, and how much memory one holds. Linux's /proc only."""

from __future__ import annotations

import contextlib
import os
import pathlib
import time
from collections.abc import Mapping
from typing import NamedTuple


class Cost(NamedTuple):
    """Milliseconds of one process, from before its start to after its end."""

    wall: float
    cpu: float


class Memory(NamedTuple):
    """Megabytes a process holds now, and the most it ever held."""

    now: float
    peak: float


def timed(arguments: list[str], environ: Mapping[str, str], data: bytes = b"", answer: pathlib.Path | None = None) -> Cost:
    """Run one process to its end. Its standard input is a pipe as a host's is; what it prints goes to `answer` or nowhere."""
    read_end, write_end = os.pipe()
    out = os.open(answer or os.devnull, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    null = os.open(os.devnull, os.O_WRONLY)
    actions = [(os.POSIX_SPAWN_DUP2, read_end, 0), (os.POSIX_SPAWN_DUP2, out, 1), (os.POSIX_SPAWN_DUP2, null, 2)]
    began = time.perf_counter()
    pid = os.posix_spawn(arguments[0], arguments, environ, file_actions=actions)
    os.close(read_end)
    with contextlib.suppress(BrokenPipeError):
        os.write(write_end, data)
    os.close(write_end)
    _, status, used = os.wait4(pid, 0)
    wall = time.perf_counter() - began
    os.close(out)
    os.close(null)
    if status:
        raise SystemExit(f"{' '.join(arguments)} ended with status {os.waitstatus_to_exitcode(status)}")
    return Cost(wall * 1000, (used.ru_utime + used.ru_stime) * 1000)


def memory(pid: int) -> Memory | None:
    """What a process holds; None when it is gone."""
    try:
        status = pathlib.Path(f"/proc/{pid}/status").read_text("utf-8")
        return Memory(*(int(status.split(f"{name}:")[1].split()[0]) / 1024 for name in ("VmRSS", "VmHWM")))
    except (OSError, IndexError):  # gone, or dead and not yet collected
        return None


def cpu_seconds(pid: int) -> float:
    """Processor time of a process so far; 0.0 when it is gone."""
    try:
        fields = pathlib.Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    except (OSError, IndexError):
        return 0.0


def children(pid: int) -> list[int]:
    """Process ids of the children of a process."""
    try:
        return [int(one) for one in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text("ascii").split()]
    except OSError:
        return []


def load() -> tuple[float, int]:
    """What else the machine does: the one-minute load and the number of processors."""
    return os.getloadavg()[0], os.cpu_count() or 1


def forget_peak(pid: int) -> None:
    """Let the kernel count a process's peak anew from what it holds now."""
    pathlib.Path(f"/proc/{pid}/clear_refs").write_text("5", "ascii")
