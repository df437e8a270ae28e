"""Who holds the lock on a database: the process, by its name and number, where the system tells it; else the command that does.

Imported when a lock was met, and imports `os` and `sys` alone: the front may meet one.
"""

from __future__ import annotations

import os
import sys

_WRITE_BYTE = 120
"""Of the `-shm` file: whoever writes holds this one locked (SQLite's format of the WAL index)."""
LOCKS = "/proc/locks"
PROCESSES = "/proc"
_NAMED = 3
"""Holders that are named."""
_THIS = "this process"


def holders(database: str) -> list[str]:
    """Who has the database locked against writers, such as `python3 (process 4321)`; [] where that cannot be known."""
    try:
        with open(LOCKS, encoding="ascii", errors="replace") as file:
            lines = file.read().splitlines()
    except OSError:
        return []  # not Linux, or hidden
    found = [*_pids(lines, database + "-shm", _WRITE_BYTE), *_pids(lines, database, None)]
    return [_told(pid) for pid in dict.fromkeys(found)][:_NAMED]


def advice(held: list[str]) -> str:
    """The next step for who waits for these."""
    if all(one.startswith(_THIS) for one in held):
        return "try again; commit or close the other connection"
    return "try again; end that process if it hangs"


def command(database: str) -> str:
    """What tells it on this system."""
    if sys.platform == "darwin":
        return f"`lsof {database}` names who holds it"
    if sys.platform == "win32":
        return f"`handle64.exe {database}` (Sysinternals) names who holds it"
    return f"`fuser {database}` names who holds it"


def _pids(lines: list[str], path: str, byte: int | None) -> list[int]:
    """Processes with a write lock on a file, or on one byte of it: the lines read `1: POSIX  ADVISORY  WRITE 4321 fe:00:131 120 120`."""
    try:
        there = os.stat(path)
    except OSError:
        return []
    found = []
    for line in lines:
        parts = line.split()
        if len(parts) != 8 or parts[3] != "WRITE":  # somebody who waits has an arrow more
            continue
        pid, (major, minor, inode), begin, end = parts[4], parts[5].split(":"), parts[6], parts[7]
        if inode != str(there.st_ino) or not pid.isdigit() or pid == "0":
            continue
        if byte is not None and not (int(begin) <= byte and (end == "EOF" or byte <= int(end))):
            continue
        same_device = (int(major, 16), int(minor, 16)) == (os.major(there.st_dev), os.minor(there.st_dev))
        if same_device or _has_open(pid, path):
            found.append(int(pid))
    return found


def _has_open(pid: str, path: str) -> bool:
    """Some file systems tell programs another device than the list of locks has."""
    folder = os.path.join(PROCESSES, pid, "fd")
    try:
        return any(os.path.realpath(os.path.join(folder, one)) == os.path.realpath(path) for one in os.listdir(folder))
    except OSError:
        return False


def _told(pid: int) -> str:
    """A process by its name. Never its arguments: they may hold anything."""
    if pid == os.getpid():
        return f"{_THIS} ({pid}), by another connection"
    try:
        with open(os.path.join(PROCESSES, str(pid), "cmdline"), "rb") as file:
            called, _, more = file.read(4_096).partition(b"\0")
    except OSError:
        return f"process {pid}"
    if not more.strip(b"\0"):
        called = called.partition(b" ")[0]  # it was called with nothing, or wrote a title of its own, where arguments may stand too
    name = "".join(char for char in os.path.basename(called.decode("utf-8", "replace")) if char.isprintable())[:64]
    return f"{name} (process {pid})" if name else f"process {pid}"
