"""The doctor on the store: database, audit chain, what waits and why, what was not read, switches, events not kept. Reads only."""

from __future__ import annotations

import json
import os
import sqlite3
from collections import Counter
from typing import Any

from afl_core.api.home import Home
from afl_core.changes.audit import verify_chain
from afl_core.model.errors import AflError
from afl_core.review import reasons, spend
from afl_core.setup.database import Kind, damage_of, foreign, look_at_database
from afl_core.setup.doctor_report import Part, absent, ago, counted, fail, ok, warn
from afl_core.spec.health import HealthLine
from afl_core.store import index_state, intake, reviews, status
from afl_core.store.schema import SCHEMA_VERSION

DAY_MS = 86_400_000


def open_store(home: Home) -> tuple[sqlite3.Connection | None, Part]:
    """The store, when it can be opened, and how it is."""
    try:
        found = look_at_database(home.paths.database)
        if found.kind is Kind.MISSING:
            return None, Part(lines=(fail("database", f"{home.paths.database} is missing", "run: afl install"),))
        if found.kind is Kind.FOREIGN:
            raise foreign(home.paths)
        if (damage := damage_of(home.paths.database)) is not None:
            raise damage
        db = home.db
    except AflError as bad:
        folder = os.path.dirname(home.paths.database)
        if os.path.exists(home.paths.database) and not os.access(folder, os.W_OK | os.X_OK):
            said = f"{home.paths.database} cannot be opened, because {folder} cannot be written"
            return None, Part(lines=(fail("database", said, "make it writable, or run the command again outside of a sandbox"),))
        return None, Part(lines=(fail("database", bad.sentence, bad.hint),))
    return db, Part(lines=(ok("database", f"schema {SCHEMA_VERSION}, {os.path.getsize(home.paths.database) // 1024} KiB"),))


def examine_store(home: Home, db: sqlite3.Connection) -> Part:
    """Everything the store can say about itself."""
    lines = [
        _audit(db),
        *_index(home, db),
        *_reviews(home, db),
        *_coverage(db, home.clock()),
        *_switches(home, db),
        *_front_counts(db, home.clock()),
    ]
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


def _audit(db: sqlite3.Connection) -> HealthLine:
    broken = verify_chain(db)
    if broken is not None:
        return fail(
            "audit", f"the chain of decisions does not hold: {broken.why}", "the store was changed by something else; see: afl paths"
        )
    return ok("audit", "the chain of decisions holds")


def _index(home: Home, db: sqlite3.Connection) -> list[HealthLine]:
    """Stored texts that other rules let in; nothing where text cannot be redacted at all, which has a line of its own."""
    try:
        why = index_state.needs_purge(db, home.judge.versions)
    except AflError:
        return []
    last = index_state.last_check(db)
    when = f", {ago(last.at_ms, home.clock())}" if last is not None else ""
    return [warn("index", why + when, "run: afl redact purge")] if why else []


def _reviews(home: Home, db: sqlite3.Connection) -> list[HealthLine]:
    lines = []
    waiting = Counter(row.reason or "" for row in reviews.all_open(db))
    now = home.clock()
    oldest = {row.reason or "": row.created_ms for row in sorted(reviews.all_open(db), key=lambda row: -row.created_ms)}
    for code, count in sorted(waiting.items()):
        if not code:
            lines.append(ok("reviews", f"{count} open, the oldest asked for {ago(oldest[code], now)}"))
            continue
        reason = reasons.explain(code)
        lines.append(
            warn(
                "reviews",
                f"{count} {'waits' if count == 1 else 'wait'} (asked for {ago(oldest[code], now)}): {reason.sentence}",
                reason.next_step.replace("afl review show <id>", "afl review list").replace("<id>", "ID (see: afl review list)"),
            )
        )
    for cap, projects in _caps(home, db).items():
        reason = reasons.explain(cap)
        of = f": {', '.join(projects)}" if cap == "cap_project_reviews" else ""
        lines.append(warn("caps", reason.sentence + of, reason.next_step))
    if not lines:
        lines.append(ok("reviews", "none waits"))
    return lines


def _caps(home: Home, db: sqlite3.Connection) -> dict[str, list[str]]:
    """Every cap that is met, with the projects whose open reviews it stops; without an open review, what would stop any."""
    found: dict[str, list[str]] = {}
    now = home.clock()
    for project in sorted({row.project_id for row in reviews.all_open(db)}) or [""]:
        cap = spend.cap_reached(db, project, home.settings, now)
        if cap is not None:
            found.setdefault(cap, []).append(project)
    return found


def _coverage(db: sqlite3.Connection, now: int) -> list[HealthLine]:
    """Records of transcripts that were left out, for good: their words are evidence that does not exist."""
    rows = db.execute("SELECT path, gaps_json, updated_ms FROM cursors WHERE gaps_json != '[]' ORDER BY updated_ms DESC").fetchall()
    gaps = [(row["path"], row["updated_ms"], gap) for row in rows for gap in reversed(json.loads(row["gaps_json"]))]
    if not gaps:
        return []
    path, at, newest = gaps[0]
    kind = str(newest.get("kind", "unknown")).replace("_", " ")
    limit = f", above the limit of {newest['limit']} bytes" if "limit" in newest else ""
    said = f"{counted(len(gaps), 'record')} of transcripts left out; the newest: {kind} at byte {newest.get('offset')} of {path}{limit}"
    return [warn("coverage", f"{said}; that transcript was last read {ago(at, now)}", "nothing: all other records are read")]


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
                f"{reason} {counted(int(entry.get('count', 0)), 'time')}, last {ago(int(entry.get('last_ms', 0)), now)}"
                for reason, entry in sorted(recent.items())
            ),
            "the host may have changed what it sends; upgrade its provider",
        )
    ]
