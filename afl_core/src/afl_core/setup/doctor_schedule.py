"""The doctor's look at the scheduled reconcile: whether one is installed, whether it runs, and how long ago it looked. Changes nothing."""

from __future__ import annotations

import os
import sqlite3
from typing import Any

import attrs

from afl_core.api.home import Home
from afl_core.model.errors import AflError
from afl_core.setup.doctor_report import Part, absent, ago, fail, ok, warn
from afl_core.setup.pack_files import PackFile, is_in_place
from afl_core.setup.schedule.choose import is_own_home, manager_of
from afl_core.setup.schedule.job import Job, Manager, State, job_of
from afl_core.setup.schedule.plan import KEY, MEANING
from afl_core.spec.health import HealthLine
from afl_core.store import status
from afl_core.worker.daemon_start import is_served

FRESH_MS = 300_000
"""How long ago a schedule may have looked last; where its interval is longer, three intervals."""

INTERVALS = 3


@attrs.frozen
class Seen:
    """What there is. `looked_ms`, `ended_ms`: when the daemon looked last and a pass ended last; None for never. `is_late`: longer ago than it may be."""

    required: bool
    configured: bool
    active: bool
    state: State
    refusal: str
    manager: str
    looked_ms: int | None
    ended_ms: int | None
    outcome: str
    is_late: bool


def not_examined() -> dict[str, Any]:
    """The scheduler's fields where nothing is installed."""
    return {"supported": False, "configured": False, "active": False, "state": None, "reason": "nothing_installed", "required": False}


def examine_schedule(home: Home, current: dict[str, Any], db: sqlite3.Connection | None) -> Part:
    """Look at the service manager's file, at the manager, at the daemon's lock and at the last pass."""
    kept = current.get(KEY)
    kept = kept if isinstance(kept, dict) else {}
    manager = manager_of(home.paths, home.environ)
    now = home.clock()
    last = status.get(db, "reconcile") if db is not None else None
    ended = int(last["updated_ms"]) if last is not None else None
    looked = _looked_ms(home.paths.reconcile_lock)
    newest = max((moment for moment in (looked, ended) if moment is not None), default=None)
    limit = max(FRESH_MS, INTERVALS * home.settings.reconcile_interval * 1000)
    refusal = "this system has no known service manager" if manager is None else manager.refusal()
    job = job_of(home.paths, str(current.get("python", "")), str(kept.get("path", "")), is_own=is_own_home(home.paths.home))
    seen = Seen(
        required=bool(kept.get("file")),
        configured=manager is not None and _is_as_written(manager, job),
        active=is_served(home.paths),
        state=State.UNKNOWN if manager is None or refusal else manager.state(job),
        refusal=refusal,
        manager=manager.name if manager is not None else "",
        looked_ms=looked,
        ended_ms=ended,
        outcome=str((last or {}).get("status", "none")),
        is_late=newest is None or not 0 <= now - newest <= limit,
    )
    wanted = kept.get("wanted")
    return Part(_body(seen, wanted, is_own=not job.suffix), (judge(seen, wanted, now, is_own=not job.suffix),))


def judge(seen: Seen, wanted: object, now: int, *, is_own: bool) -> HealthLine:
    """One line. Pure."""
    name = "schedule"
    if not seen.required:
        if seen.active:
            return ok(name, "a reconcile daemon that was started by hand runs")
        return absent(name, f"no schedule is installed: {_why(seen, wanted, is_own=is_own)}; {MEANING}")
    if not seen.configured:
        return fail(name, f"the file of {seen.manager or 'the service manager'} is not there as install wrote it", "run: afl install")
    if not seen.active:
        return fail(
            name, f"the schedule is installed, but its daemon does not run ({seen.manager} says: {seen.state.value})", "run: afl install"
        )
    if seen.is_late:
        since = ago(max(seen.looked_ms or 0, seen.ended_ms or 0), now)
        return fail(name, f"the daemon runs, but it looked last {since}", "see its log: afl paths")
    if seen.outcome not in ("completed", "none"):
        return warn(name, f"{seen.manager} runs the daemon, but its last pass met a problem ({seen.outcome})", "run: afl reconcile")
    looked = "" if seen.looked_ms is None else f"; it looked {ago(seen.looked_ms, now)}"
    return ok(name, f"{seen.manager} runs the daemon{looked}")


def _why(seen: Seen, wanted: object, *, is_own: bool) -> str:
    if wanted is False:
        return "it was not wanted (afl install --schedule installs it)"
    if not is_own and wanted is not True:
        return "this is not your own home (afl install --schedule installs it)"
    return seen.refusal or "run `afl install` again, which installs it"


def _body(seen: Seen, wanted: object, *, is_own: bool) -> dict[str, Any]:
    fresh = not seen.is_late
    return {
        "scheduler": {
            "supported": not seen.refusal,
            "configured": seen.configured,
            "active": seen.active,
            "state": seen.state.value,
            "reason": None if seen.required else _why(seen, wanted, is_own=is_own),
            "required": seen.required,
            "manager": seen.manager,
        },
        "reconciliation": {
            "status": seen.outcome,
            "ended_ms": seen.ended_ms,
            "looked_ms": seen.looked_ms,
            "fresh": fresh,
            "ready": not seen.required or (seen.active and fresh and seen.outcome in ("completed", "none")),
        },
    }


def _is_as_written(manager: Manager, job: Job) -> bool:
    try:
        return is_in_place(PackFile(manager.place(job), manager.render(job), ""))
    except AflError:
        return False


def _looked_ms(lock: str) -> int | None:
    try:
        return os.stat(lock).st_mtime_ns // 1_000_000
    except OSError:
        return None
