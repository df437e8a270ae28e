"""The doctor on the disk: whether it takes anything more, what hooks left on it, and what they could not leave. Writes one row of the store, to see that it can."""

from __future__ import annotations

import os
import sqlite3

from afl_core.api.home import Home
from afl_core.model.clock import DAY_MS
from afl_core.model.errors import AflError
from afl_core.setup.doctor_report import Part, ago, counted, fail, ok, warn
from afl_core.spec.health import HealthLine
from afl_core.store import status
from afl_core.store.connection import writing

FREE_WARN_BYTES = 64 << 20
FREE_FAIL_BYTES = 4 << 20
"""Less room than this is as good as none: a checkpoint of the database needs more."""

PROBE = "doctor_probe"
"""The status row that is written."""

REFUSALS = {
    "disk": ("the disk took no more", "free some space"),
    "no_spool_key": ("there was no key to seal them with", "run: afl install"),
    "spool_full": ("too many were waiting already", "run: afl reconcile"),
}
"""Reasons for which the hook dropped an event, in words, and what to do."""


def examine_disk(home: Home, db: sqlite3.Connection | None) -> Part:
    """Room and a write that is really made; sealed records that wait; failures that hooks counted."""
    now = home.clock()
    lines = [*room(home.paths.data), *([probe(home, db)] if db is not None else [])]
    waiting = len([name for name in _names(home.paths.spool) if name.endswith(".rec")])
    if waiting:
        said = f"{counted(waiting, 'sealed event')} {'waits' if waiting == 1 else 'wait'} for the worker"
        lines.append(warn("spool", said, "run: afl reconcile"))
    counts = read_counts(home.paths.counts)
    recent = {reason: (count, last) for reason, (count, last) in counts.items() if now - last < DAY_MS}
    for reason, (count, last) in sorted(recent.items()):
        if reason in REFUSALS:
            why, next_step = REFUSALS[reason]
            said = f"{counted(count, 'event')} dropped by hooks because {why} ({reason}), the last {ago(last, now)}"
            lines.append(warn("events dropped", said, f"{next_step}; what the host's transcript holds is still read"))
    others = {reason: entry for reason, entry in recent.items() if reason not in REFUSALS}
    if others:
        said = ", ".join(f"{reason} {counted(count, 'time')}, last {ago(last, now)}" for reason, (count, last) in sorted(others.items()))
        lines.append(warn("hook failures", said, f"{home.paths.runtime_log} says more; nothing was lost that the host's transcript holds"))
    return Part({"spool": waiting, "hookFailures": counts}, tuple(lines))


def room(folder: str) -> list[HealthLine]:
    """What is wrong with the free space of the disk that holds a directory; nothing when there is enough, or nobody can say."""
    try:
        found = os.statvfs(folder)
    except OSError:
        return []  # said by the examination of the directories
    free = found.f_bavail * found.f_frsize
    if free < FREE_FAIL_BYTES or (found.f_files and not found.f_favail):
        what = f"{free // 1024} KiB are free" if free < FREE_FAIL_BYTES else "no new file can be made"
        return [
            fail(
                "disk",
                f"the disk that holds {folder} is full: {what}",
                "free some space; what hooks see meanwhile is lost unless a transcript holds it",
            )
        ]
    if free < FREE_WARN_BYTES:
        return [warn("disk", f"the disk that holds {folder} is nearly full: {free >> 20} MiB are free", "free some space")]
    return []


def probe(home: Home, db: sqlite3.Connection) -> HealthLine:
    """Write a row of the store and wait until it is on the disk."""
    try:
        with writing(db, durable=True):
            status.put(db, PROBE, {}, home.clock())
    except AflError as bad:
        return fail("store", bad.sentence, bad.hint)
    except sqlite3.Error as bad:
        return fail("store", f"{home.paths.database} cannot be written: {bad}", f"see {home.paths.runtime_log}")
    return ok("store", "a row was written to it")


def read_counts(path: str) -> dict[str, tuple[int, int]]:
    """The hook's counts by reason: how often, and when last (ms since the epoch). Lines of another shape are left out."""
    found: dict[str, tuple[int, int]] = {}
    try:
        with open(path, encoding="ascii", errors="replace") as handle:
            for line in handle:
                fields = line.split()
                if len(fields) == 3 and fields[1].isdecimal() and fields[2].isdecimal():
                    found[fields[0]] = (int(fields[1]), int(fields[2]))
    except OSError:
        return {}
    return found


def _names(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []
