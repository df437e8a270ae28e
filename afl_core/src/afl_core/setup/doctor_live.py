"""`afl doctor --live`: a synthetic event through the exact command a host runs, found in the store, opened through the vault, removed, and proved gone.

It is a stop, not a prompt: an agent's answer can never be taken for a person's words, so it cannot reach the queue however it is interrupted.
"""

from __future__ import annotations

import json
import os
import sqlite3
import time
from typing import Any

from afl_core.api.home import Home
from afl_core.model.errors import AflError, VaultError
from afl_core.model.ids import new_id
from afl_core.plugins.registry import Registry
from afl_core.setup.doctor_disk import room
from afl_core.setup.doctor_hosts import HostExam
from afl_core.setup.doctor_report import Part, absent, fail, ok
from afl_core.setup.fire import run_command
from afl_core.spec.health import Health
from afl_core.store import intake, sessions, status
from afl_core.store.connection import writing
from afl_core.vault.keys import Writer
from afl_core.worker.arrival import CANARY

DATA_CLASS = "synthetic_canary"
WAIT_SECONDS = 5.0
POLL_SECONDS = 0.05

TABLES = ("intake", "events", "sightings", "deliveries", "omissions", "sessions")
"""Tables that name a session."""


def examine_live(home: Home, registry: Registry, exams: list[HostExam], db: sqlite3.Connection | None) -> Part:
    """`live`: what happened, step by step."""
    ready = [exam for exam in exams if exam.connected]
    if db is None or not ready:
        reason = "no connected host and store to try"
        return _part(
            {"status": "unhealthy", "reason": reason},
            "nothing is connected that could be tried",
            _next_step(home, {}) if _is_full(home) else "mend what failed above first",
        )
    if status.meta(db, "capture_enabled", "1") != "1":
        return Part(
            {"live": {"status": "skipped", "reason": "capture_off"}},
            (absent("live", "capture is off, so nothing can be stored", "afl capture on, then: afl doctor --live"),),
        )
    tried = {exam.name: _try_host(home, registry, exam, db) for exam in ready}
    problems = {name: problem for name, (problem, _) in tried.items()}
    failed = [f"{name}: {problem}" for name, problem in problems.items() if problem]
    if failed:
        return _part({"status": "unhealthy", "reason": "; ".join(failed), "hosts": problems}, "; ".join(failed), _next_step(home, tried))
    proved = {"syntheticExcluded": True, "configuredStore": True, "encryption": True, "removed": True}
    names = ", ".join(problems)
    return Part(
        {"live": {"status": "healthy", "hosts": problems, **proved}},
        (ok("live", f"a synthetic event of {names} was stored, opened, never queued, and removed"),),
    )


def _try_host(home: Home, registry: Registry, exam: HostExam, db: sqlite3.Connection) -> tuple[str, str]:
    """The whole round for one host; what went wrong, in words, or '', and the next step where an error knows one."""
    manifest = registry.hosts()[exam.name].manifest()
    stop = next((event.name for event in manifest.events if event.kind == "stop" and event.name in exam.commands), None)
    if stop is None:
        return "it has no stop event to try", "upgrade its provider"
    native = CANARY + new_id()
    session_id = sessions.session_id_of(exam.name, native)
    said = f"synthetic canary {native}"
    body = {
        manifest.fields.get("session", "session_id"): native,
        manifest.fields.get("cwd", "cwd"): home.paths.home,
        manifest.fields.get("answer", "answer"): said,
        "data_class": DATA_CLASS,
    }
    try:
        problem = _through(home, db, exam.commands[stop], session_id, json.dumps(body).encode())
        problem, hint = problem or _blob(home, db, said.encode()), ""
    except AflError as bad:
        problem, hint = bad.sentence, bad.hint
    finally:
        left = remove_session(db, session_id)
    return problem or ("rows of it are left in " + ", ".join(left) if left else ""), hint


def _next_step(home: Home, tried: dict[str, tuple[str, str]]) -> str:
    """Room first: on a full disk every other sign is only its consequence. Never the command that is running."""
    if _is_full(home):
        return "free some space, then run the same command again"
    hints = [hint for _, hint in tried.values() if hint and hint != "run: afl doctor"]
    return hints[0] if hints else f"{home.paths.runtime_log} says more"


def _is_full(home: Home) -> bool:
    return any(line.health is Health.FAIL for line in room(home.paths.data))


def remove_session(db: sqlite3.Connection, session_id: str) -> list[str]:
    """Take every row of a session out again, and its project when nothing else is of it; returns the tables that still name it."""
    with writing(db, durable=True):
        projects = [row[0] for row in db.execute("SELECT project_id FROM sessions WHERE session_id = ?", (session_id,))]
        for table in TABLES:
            db.execute(f"DELETE FROM {table} WHERE session_id = ?", (session_id,))  # noqa: S608 - names of this file
        for project in projects:
            db.execute(
                "DELETE FROM projects WHERE project_id = ? AND NOT EXISTS (SELECT 1 FROM sessions WHERE project_id = projects.project_id)",
                (project,),
            )
    return [table for table in TABLES if _names(db, table, session_id)]


def _names(db: sqlite3.Connection, table: str, session_id: str) -> bool:
    query = f"SELECT EXISTS (SELECT 1 FROM {table} WHERE session_id = ?)"  # noqa: S608 - names of this file
    return bool(db.execute(query, (session_id,)).fetchone()[0])


def _through(home: Home, db: sqlite3.Connection, command: str, session_id: str, payload: bytes) -> str:
    """Send it and find it: what went wrong, in words."""
    _printed, problem = run_command(command, home.environ, home.paths.home, payload)
    if problem:
        return problem
    row = _arrived(db, session_id)
    if row is None:
        return "the event was sent, but did not arrive in the store"
    if home.opener.open(intake.context_of(row["intake_id"]), row["sealed"] or b"") != payload:
        return "what was opened is not what was sent"
    queued = db.execute(
        "SELECT EXISTS (SELECT 1 FROM queue JOIN events USING (event_id) WHERE events.session_id = ?)", (session_id,)
    ).fetchone()[0]
    return "it was queued for a review" if queued else ""


def _arrived(db: sqlite3.Connection, session_id: str) -> Any:
    until = time.monotonic() + WAIT_SECONDS
    while True:
        row = db.execute("SELECT intake_id, sealed FROM intake WHERE session_id = ?", (session_id,)).fetchone()
        if row is not None or time.monotonic() > until:
            return row
        time.sleep(POLL_SECONDS)


def _blob(home: Home, db: sqlite3.Connection, data: bytes) -> str:
    """Seal, write, read, open and remove a blob, with a key that is removed again too."""
    writer = Writer(home.half, DATA_CLASS, clock=home.clock)
    writer.register(db)
    try:
        name = home.blobs.put(writer, data)
        path = home.blobs.path(name)
        with open(path, "rb") as handle:
            is_plain = data in handle.read()
        same = home.blobs.get(home.opener, name) == data
        home.blobs.remove(name)
        if is_plain:
            return "a blob was written in the clear"
        if not same:
            return "a blob does not give back what was put into it"
        if os.path.lexists(path):
            raise VaultError(f"{path} could not be removed")
        return ""
    finally:
        with writing(db, durable=True):
            db.execute("DELETE FROM vault_keys WHERE purpose = ?", (DATA_CLASS,))


def _part(live: dict[str, Any], sentence: str, hint: str) -> Part:
    return Part({"live": live}, (fail("live", sentence, hint),))
