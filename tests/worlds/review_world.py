"""A small world for review tests: a real store with sessions and events in it, receipts, and a scripted reviewer."""

from __future__ import annotations

import functools
import json
import os
import sqlite3
import sys
import textwrap
from pathlib import Path

import attrs

from afl_core.model.codec import canonical
from afl_core.model.event import Event, EventKind, Place, Role, Signal, SignalKind
from afl_core.review import queue
from afl_core.settings.paths import Paths
from afl_core.settings.schema import Settings
from afl_core.store import events as event_rows
from afl_core.store.connection import connect, writing
from afl_core.store.schema import APPLICATION_ID, MIGRATIONS, SCHEMA_VERSION

NOW = 1_767_225_600_000
MINUTE = 60_000
PROJECT = "/home/dev/shop"
SESSION = "claude:s-1"

COMPLAINT = "No, you said the tests pass, but you never ran them. Run them before you claim anything."
CLAIM = "All done: the checkout is fixed and all tests pass."


@functools.cache
def empty() -> bytes:
    """A database with every table and no row, as a file has it: made once, for each table made on a disk waits for the disk."""
    db = sqlite3.connect(":memory:", isolation_level=None)
    for migration in MIGRATIONS:
        db.executescript(migration)
    db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    db.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
    image = db.serialize()
    db.close()
    return image


def create(home: Path) -> Paths:
    """An empty store in a home."""
    paths = Paths(home)
    os.makedirs(os.path.dirname(paths.database), 0o700)
    Path(paths.database).write_bytes(empty())
    return paths


def open_store(paths: Paths) -> sqlite3.Connection:
    return connect(paths.database)


def session(db, session_id=SESSION, project=PROJECT, lineage=None) -> None:
    host, native = session_id.split(":", 1)
    with writing(db):
        db.execute("INSERT OR IGNORE INTO projects VALUES (?, ?, 'git', ?, ?)", (project, project, lineage, NOW))
        db.execute(
            "INSERT OR IGNORE INTO sessions (session_id, host, native_id, project_id, cwd, started_ms, seen_ms) VALUES (?, ?, ?, ?, ?, ?, ?)",
            (session_id, host, native, project, project, NOW, NOW),
        )


def event(db, event_id, text, role="user", *, offset, session_id=SESSION, project=PROJECT, kind="message", at=None, **more) -> Event:
    """Store one event at a place; its session is made when it is not there."""
    session(db, session_id, project)
    made = Event(
        event_id=event_id,
        session_id=session_id,
        project_id=project,
        place=Place(more.pop("generation", 1), offset, more.pop("part", 0)),
        epoch=1,
        kind=EventKind(kind),
        role=Role(role),
        text=text,
        source_ms=at if at is not None else NOW - 10 * MINUTE + offset,
        captured_ms=NOW,
        **more,
    )
    with writing(db):
        event_rows.insert(db, made, mac=None, manifest={})
    return made


def complaint(db, *, prefix="", session_id=SESSION, project=PROJECT, base=100, now=NOW, immediate=True, signal=True) -> tuple[str, str]:
    """A claim of the agent and the person's complaint about it, queued; gives both ids."""
    act, said = f"{prefix}act", f"{prefix}said"
    at = now - 10 * MINUTE + base
    event(db, f"{prefix}ask", "Fix the checkout, please.", offset=base, session_id=session_id, project=project, at=at)
    event(db, act, CLAIM, "assistant", offset=base + 1, session_id=session_id, project=project, at=at + 1)
    event(db, said, COMPLAINT, offset=base + 2, session_id=session_id, project=project, at=at + 2)
    with writing(db):
        if signal:
            event_rows.add_signal(db, Signal(said, SignalKind.INTERRUPTION, act), project, now)
        queue.enqueue(db, said, project, immediate, now)
    return act, said


def words(db, count, *, first=0, host="claude", now=NOW, project=PROJECT) -> list[str]:
    """Plain words of a person, queued one millisecond apart."""
    ids = []
    for number in range(first, first + count):
        event_id = f"w{number:03}"
        event(db, event_id, f"remark number {number}", offset=10 * number, session_id=f"{host}:words", project=project)
        with writing(db):
            queue.enqueue(db, event_id, project, False, now + number)
        ids.append(event_id)
    return ids


def submit(db, settings=None, *, now=NOW, immediate_event=None, host="claude", project=PROJECT):
    with writing(db):
        return queue.submit_due(db, project, host, settings or Settings(), now, immediate_event)


def waiting_review(db, *, now=NOW, **options) -> tuple[str, str, str]:
    """A review of one complaint that may start; gives its id, the act and the complaint."""
    act, said = complaint(db, now=now, **options)
    due = submit(db, now=now, immediate_event=said, project=options.get("project", PROJECT))
    assert due.review_id is not None
    return due.review_id, act, said


def lesson(act="act", said="said", **changes) -> dict:
    made = {
        "lesson_id": "new-1",
        "revision": 1,
        "base_revision": 0,
        "severity": "Major",
        "responsibility": "agent_fault",
        "confidence": "high",
        "causal_chain": ["claimed", "had not run", "assumed", "no check before the claim", "claims are not tied to output"],
        "method_class": "verification-closure",
        "class_id": "claim-without-evidence",
        "generalizable": True,
        "rule_action": "none",
        "evidence_refs": [
            {
                "feedback_event_id": said,
                "feedback_quote": "you never ran them",
                "referent_event_ids": [act],
                "referent_quote": "all tests pass",
            }
        ],
        "scope": {"repository_lineage_id": None, "paths": [], "tools": [], "task_types": [], "signals": ["run the tests"]},
        "card": {
            "when": "about to say that the tests of a change pass",
            "must_do": "run the tests and read their output first",
            "must_not": "claim a result that was not observed",
            "verify": "the output of the run is in this session",
            "why": "a claim about the checkout was false and cost a round",
            "exception": "none",
            "source_ids": [said],
            "verify_predicate": None,
            "gate_predicate": None,
        },
        "decision_timeline": [],
        "counterfactual_checkpoint": None,
        "impact_scope": None,
        "stop_condition": None,
        "rollback_or_isolation": None,
        "global_promotion_evidence": [],
        "effectiveness": None,
    }
    return made | changes


def severe(severity, **more) -> dict:
    """What Critical and Blocker need besides."""
    return {
        "severity": severity,
        "decision_timeline": ["chose not to run", "claimed"],
        "counterfactual_checkpoint": "before the last message",
        "impact_scope": "one repository",
        "stop_condition": "no output, no claim",
        "rollback_or_isolation": "say what was not checked",
    } | more


def effectiveness(previous, **changes) -> dict:
    return {
        "previous_lesson_id": previous,
        "expected_revision": 1,
        "application_id": None,
        "delivery_state": "not_found",
        "was_applicable": True,
        "was_followed": False,
        "failure_mode": "not_selected",
        "control_owner": "selector",
        "corrective_action": "name the situation more plainly",
    } | changes


def receipt(*lessons, **changes) -> dict:
    return {
        "write_complete": True,
        "review_receipt_id": "r-1",
        "report_content_id": "c-1",
        "report_content": "The agent claimed passing tests without running them; the person corrected it.",
        "status": "reviewed" if lessons else "reviewed_no_lesson",
        "lessons": list(lessons),
        "minor_findings": [],
    } | changes


def script(home: Path, body: str, name="reviewer.py") -> str:
    """An executable reviewer in Python; gives its path."""
    path = Path(home) / name
    path.write_text(f"#!{sys.executable}\n{textwrap.dedent(body)}", "utf-8")
    path.chmod(0o755)
    return str(path)


def answering(home: Path, answer: dict) -> Settings:
    """Settings whose reviewer prints one answer."""
    (Path(home) / "answer.json").write_text(json.dumps(answer), "utf-8")
    return Settings(reviewer_command=script(home, f"print(open({str(Path(home) / 'answer.json')!r}, encoding='utf-8').read())"))


def same(text: str) -> str:
    """A redactor with nothing to find."""
    return text


def dump(db) -> dict[str, str]:
    """Every table as text, for comparing what was written."""
    names = [row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")]
    return {name: canonical([[repr(value) for value in row] for row in db.execute(f"SELECT * FROM {name}")]) for name in names}


def count(db, table) -> int:
    return db.execute(f"SELECT count(*) FROM {table}").fetchone()[0]


def status_of(db, event_id) -> str:
    return db.execute("SELECT status FROM queue WHERE event_id = ?", (event_id,)).fetchone()[0]


@attrs.define
class Ticking:
    """A clock that is set by hand."""

    now: int = NOW

    def __call__(self) -> int:
        return self.now
