"""One synthetic prompt through one host's command, step by step, and the removal of all it left."""

from __future__ import annotations

import json
import os
import sqlite3
import time
from typing import Any

import attrs

from afl_core.api.home import Home
from afl_core.model.errors import AflError
from afl_core.model.ids import new_id
from afl_core.setup.fire import run_command
from afl_core.spec.host import HostManifest
from afl_core.store import intake, sessions
from afl_core.store.connection import writing
from afl_core.worker.absorb import absorb

WAIT_SECONDS = 5.0
POLL_SECONDS = 0.05

ABANDONED_MS = 600_000
"""A synthetic session this old was left by a doctor that was killed, or arrived through the spool after it had gone."""

STEPS = ("fired", "stored", "opened", "excluded", "removed")
"""In order: the command ran and ended well; its event is in the store, sealed; what was opened is what was sent, from the row and from a blob
that holds it sealed; it is in no queue and of no class that a review takes; and nothing of it is left."""

BY_EVENT = ("queue", "signals")
BY_SESSION = ("sightings", "deliveries", "omissions", "intake", "cursors", "events", "sessions")
"""Tables that may hold rows of its event, and of its session."""


@attrs.frozen
class Canary:
    """What is sent: through which command, in which shell; the payload is made from the manifest."""

    manifest: HostManifest
    command: str
    shell: str


@attrs.frozen
class Outcome:
    """How one round ended. `step` failed with `problem`; `hint` is the next step where an error knows one. `steps`: True, False, or None (not reached)."""

    step: str
    problem: str = ""
    hint: str = ""
    steps: dict[str, bool | None] = attrs.field(factory=lambda: dict.fromkeys(STEPS))

    def document(self) -> dict[str, Any]:
        """`live.<host>`."""
        state = "skipped" if self.step == "skipped" else "unhealthy" if self.problem else "healthy"
        return {"status": state, "step": self.step if state == "unhealthy" else None, "reason": self.problem, **self.steps}


class StepError(Exception):
    """A step did not hold; the text says why, in words."""


def try_host(home: Home, db: sqlite3.Connection, canary: Canary) -> Outcome:
    """The whole round. Whatever happens on the way, what it left is removed."""
    native = sessions.CANARY + new_id()
    session_id = sessions.session_id_of(canary.manifest.name, native)
    known = _projects(db)
    steps: dict[str, bool | None] = dict.fromkeys(STEPS)
    problem, hint = "", ""
    try:
        _go(home, db, canary, session_id, payload_of(canary.manifest, native, home.paths.home), steps)
    except StepError as bad:
        problem = str(bad)
    except AflError as bad:
        problem, hint = bad.sentence, bad.hint
    failed = next((name for name in STEPS if steps[name] is None), "") if problem else ""
    removal = _removed(home, db, session_id, known)
    steps["removed"] = not removal
    if failed:
        steps[failed] = False
        return Outcome(failed, problem, hint, steps)
    return Outcome(STEPS[-1], removal, "", steps)


def payload_of(manifest: HostManifest, native: str, cwd: str) -> bytes:
    """A prompt as this host hands it over, as far as its manifest names fields."""
    values = {"session": native, "turn": new_id(), "cwd": cwd, "prompt": f"synthetic prompt of the doctor, session {native}"}
    return json.dumps({manifest.fields[name]: value for name, value in values.items() if name in manifest.fields}).encode()


def _go(home: Home, db: sqlite3.Connection, canary: Canary, session_id: str, payload: bytes, steps: dict[str, bool | None]) -> None:
    """The steps up to the removal, each marked when it holds. Raises `StepError` or what the store and the vault raise."""
    _printed, problem = run_command(canary.command, home.environ, home.paths.home, payload, shell=canary.shell)
    _hold(not problem, problem)
    steps["fired"] = True
    row = _arrived(db, session_id)
    _hold(row is not None, "the event was sent, but did not arrive in the store")
    _hold(row["sealed"] is not None, "the store kept nothing of the words: its manifest may name no field for the prompt")
    _hold(payload not in bytes(row["sealed"]), "the event was stored in the clear")
    steps["stored"] = True
    opened = home.opener.open(intake.context_of(row["intake_id"]), row["sealed"])
    _hold(opened == payload, "what was opened is not what was sent")
    done = absorb(home, session_id, patient=False)
    _hold(not done.problem, done.problem)
    event = db.execute("SELECT event_id, data_class, blob FROM events WHERE session_id = ?", (session_id,)).fetchone()
    _hold(event is not None, "no event was made of what was stored")
    _check_blob(home, event["blob"], payload)
    steps["opened"] = True
    _hold(event["data_class"] == sessions.CANARY_CLASS, "its event counts as evidence")
    queued = db.execute("SELECT EXISTS (SELECT 1 FROM queue WHERE event_id = ?)", (event["event_id"],)).fetchone()[0]
    _hold(not queued, "it was queued for a review")
    steps["excluded"] = True


def _hold(condition: object, problem: str) -> None:
    if not condition:
        raise StepError(problem)


def _check_blob(home: Home, name: str | None, payload: bytes) -> None:
    """The raw payload lies in a blob that does not show it and gives it back."""
    _hold(name, "the raw words were not sealed into a blob")
    with open(home.blobs.path(str(name)), "rb") as handle:
        _hold(payload not in handle.read(), "a blob was written in the clear")
    _hold(home.blobs.get(home.opener, str(name)) == payload, "a blob does not give back what was put into it")


def _arrived(db: sqlite3.Connection, session_id: str) -> Any:
    until = time.monotonic() + WAIT_SECONDS
    while True:
        row = db.execute("SELECT intake_id, sealed FROM intake WHERE session_id = ?", (session_id,)).fetchone()
        if row is not None or time.monotonic() > until:
            return row
        time.sleep(POLL_SECONDS)


def _projects(db: sqlite3.Connection) -> set[str]:
    return {row[0] for row in db.execute("SELECT project_id FROM projects")}


def _removed(home: Home, db: sqlite3.Connection, session_id: str, known: set[str]) -> str:
    """Remove a session; why that did not work, in words."""
    try:
        left = remove_session(home, db, session_id, known)
    except AflError as bad:
        return bad.sentence
    except (OSError, sqlite3.Error) as bad:
        return str(bad)
    return f"something of it is left: {', '.join(left)}" if left else ""


def remove_session(home: Home, db: sqlite3.Connection, session_id: str, known: set[str]) -> list[str]:
    """Take everything of a session out again, and its project unless it was known before; returns what still names it."""
    blobs = [row[0] for row in db.execute("SELECT blob FROM events WHERE session_id = ? AND blob IS NOT NULL", (session_id,))]
    with writing(db, durable=True):
        projects = {row[0] for row in db.execute("SELECT project_id FROM sessions WHERE session_id = ?", (session_id,))}
        for table in BY_EVENT:
            db.execute(f"DELETE FROM {table} WHERE event_id IN (SELECT event_id FROM events WHERE session_id = ?)", (session_id,))  # noqa: S608 - names of this file
        for table in BY_SESSION:
            db.execute(f"DELETE FROM {table} WHERE session_id = ?", (session_id,))  # noqa: S608 - names of this file
        for project in projects - known:
            db.execute(
                "DELETE FROM projects WHERE project_id = ? AND NOT EXISTS (SELECT 1 FROM sessions WHERE project_id = projects.project_id)",
                (project,),
            )
    for name in blobs:
        home.blobs.remove(name)
    left = [table for table in BY_SESSION if _names(db, table, session_id)]
    return left + [name for name in blobs if os.path.lexists(home.blobs.path(name))]


def _names(db: sqlite3.Connection, table: str, session_id: str) -> bool:
    query = f"SELECT EXISTS (SELECT 1 FROM {table} WHERE session_id = ?)"  # noqa: S608 - names of this file
    return bool(db.execute(query, (session_id,)).fetchone()[0])


def sweep(home: Home, db: sqlite3.Connection) -> int:
    """Remove what a doctor left that was killed; returns how many sessions that were."""
    before = home.clock() - ABANDONED_MS
    rows = db.execute(
        "SELECT session_id FROM sessions WHERE native_id LIKE ? AND started_ms < ?", (sessions.CANARY + "%", before)
    ).fetchall()
    for row in rows:
        remove_session(home, db, row["session_id"], _projects(db))
    return len(rows)
