"""The doctor on the store: database, audit chain, what waits and why, switches, failures hooks counted. Reads only."""

from __future__ import annotations

import os
import sqlite3
from collections import Counter
from typing import Any

from afl_core.api.home import Home
from afl_core.changes.audit import verify_chain
from afl_core.model.errors import AflError
from afl_core.review import reasons, spend
from afl_core.setup.database import Kind, look_at_database
from afl_core.setup.doctor_report import Part, absent, ago, fail, ok, warn
from afl_core.spec.health import HealthLine
from afl_core.store import intake, reviews, status
from afl_core.store.schema import SCHEMA_VERSION

DAY_MS = 86_400_000


def open_store(home: Home) -> tuple[sqlite3.Connection | None, Part]:
    """The store, when it can be opened, and how it is."""
    try:
        found = look_at_database(home.paths.database)
        if found.kind is Kind.MISSING:
            return None, Part(lines=(fail("database", f"{home.paths.database} is missing", "run: afl install"),))
        db = home.db
        problem = db.execute("PRAGMA quick_check(1)").fetchone()[0]
    except AflError as bad:
        return None, Part(lines=(fail("database", bad.sentence, bad.hint),))
    except sqlite3.DatabaseError as bad:
        return None, Part(
            lines=(fail("database", f"{home.paths.database} is damaged: {bad}", f"restore a copy from {home.paths.backups}"),)
        )
    if problem != "ok":
        return None, Part(
            lines=(fail("database", f"{home.paths.database} is damaged: {problem}", f"restore a copy from {home.paths.backups}"),)
        )
    return db, Part(lines=(ok("database", f"schema {SCHEMA_VERSION}, {os.path.getsize(home.paths.database) // 1024} KiB"),))


def examine_store(home: Home, db: sqlite3.Connection) -> Part:
    """Everything the store can say about itself."""
    lines = [_audit(db), *_reviews(home, db), *_switches(home, db), *_front_counts(db, home.clock())]
    reconciled = status.get(db, "reconcile")
    body: dict[str, Any] = {
        "status": reconciled.get("status") if reconciled else None,
        "at": reconciled["updated_ms"] if reconciled else None,
    }
    if reconciled and reconciled.get("status") != "completed":
        lines.append(
            warn(
                "reconcile",
                f"the last one ended with {reconciled.get('status')}, {ago(reconciled['updated_ms'], home.clock())}",
                "run: afl reconcile",
            )
        )
    return Part({"reconciliation": body}, tuple(lines))


def examine_disk(home: Home) -> Part:
    """What hooks left on disk: sealed records that wait, and failures they counted."""
    lines: list[HealthLine] = []
    waiting = [name for name in _names(home.paths.spool) if name.endswith(".rec")]
    body = {"spool": len(waiting), "hookFailures": read_counts(home.paths.counts)}
    if waiting:
        lines.append(warn("spool", f"{len(waiting)} sealed events wait for the worker", "run: afl reconcile"))
    now = home.clock()
    recent = (
        {reason: (count, last) for reason, (count, last) in body["hookFailures"].items() if now - last < DAY_MS}
        if isinstance(body["hookFailures"], dict)
        else {}
    )
    if recent:
        said = ", ".join(f"{reason} {count} times, last {ago(last, now)}" for reason, (count, last) in sorted(recent.items()))
        lines.append(warn("hook failures", said, f"{home.paths.runtime_log} says more; nothing was lost that the host's transcript holds"))
    return Part(body, tuple(lines))


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


def _audit(db: sqlite3.Connection) -> HealthLine:
    broken = verify_chain(db)
    if broken is not None:
        return fail(
            "audit", f"the chain of decisions does not hold: {broken.why}", "the store was changed by something else; see: afl paths"
        )
    return ok("audit", "the chain of decisions holds")


def _reviews(home: Home, db: sqlite3.Connection) -> list[HealthLine]:
    lines = []
    waiting = Counter(row.reason or "" for row in reviews.all_open(db))
    for code, count in sorted(waiting.items()):
        if not code:
            lines.append(ok("reviews", f"{count} open"))
            continue
        reason = reasons.explain(code)
        lines.append(warn("reviews", f"{count} wait: {reason.sentence}", reason.next_step))
    cap = spend.cap_reached(db, "", home.settings, home.clock())
    if cap is not None:
        reason = reasons.explain(cap)
        lines.append(warn("caps", reason.sentence, reason.next_step))
    if not lines:
        lines.append(ok("reviews", "none waits"))
    return lines


def _switches(home: Home, db: sqlite3.Connection) -> list[HealthLine]:
    captures = status.meta(db, "capture_enabled", "1") == "1"
    lines = [ok("capture", "evidence is kept") if captures else absent("capture", "capture is off: nothing new is kept", "afl capture on")]
    lines.append(
        ok("memory", "lessons are given back to agents")
        if home.settings.memory_enabled
        else absent("memory", "lessons are not given back", "set memory_enabled to true")
    )
    return lines


def _front_counts(db: sqlite3.Connection, now: int) -> list[HealthLine]:
    recent = {reason: entry for reason, entry in intake.counts(db).items() if now - int(entry.get("last_ms", 0)) < DAY_MS}
    if not recent:
        return []
    return [
        warn(
            "events not kept",
            ", ".join(
                f"{reason} {entry.get('count')} times, last {ago(int(entry.get('last_ms', 0)), now)}"
                for reason, entry in sorted(recent.items())
            ),
            "the host may have changed what it sends; upgrade its provider",
        )
    ]
