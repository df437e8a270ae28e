"""A fresh database, and short ways to put lessons, sessions and tool calls into it."""

from __future__ import annotations

import sqlite3

import attrs
import pytest

from afl_core.changes.gates import decide_lesson
from afl_core.changes.operations import LessonProposal
from afl_core.lessons.families import family_id
from afl_core.lessons.selection import select
from afl_core.model.codec import canonical
from afl_core.model.lesson import Card, EvidenceRef, Scope, Severity
from afl_core.settings.schema import Policy
from afl_core.store.connection import connect, writing
from afl_core.store.projection import RANKS, Row
from afl_core.store.schema import APPLICATION_ID, MIGRATIONS, SCHEMA_VERSION

NOW = 1_767_225_600_000


@pytest.fixture
def db(tmp_path):
    """An open connection to an empty database of ours."""
    path = tmp_path / "store.sqlite3"
    made = sqlite3.connect(path)
    made.executescript("".join(MIGRATIONS) + f"PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {SCHEMA_VERSION};")
    made.close()
    opened = connect(path)
    yield opened
    opened.close()


@pytest.fixture
def project(db):
    """`project(lesson_id, severity, tokens=..., signals=[...], ...)` puts a row straight into the projection."""

    def add(lesson_id, severity="Major", **changed):
        rule = {key: changed.pop(key, []) for key in ("paths", "tools", "task_types", "signals", "words", "grams")}
        row = Row(
            lesson_id=lesson_id,
            project_id="p",
            rank=RANKS[severity],
            severity=severity,
            revision=1,
            family_id=f"family of {lesson_id}",
            is_global=0,
            conflict="none",
            load_policy="conditional",
            card_text=f"{severity} card {lesson_id}\nWhen: always",
            tokens=60,
            match_json=canonical(rule),
            origin_session="claude:earlier",
        )._replace(**changed)
        with writing(db):
            db.execute(f"INSERT OR REPLACE INTO projection VALUES ({', '.join('?' * len(row))})", row)

    return add


@pytest.fixture
def pick(db):
    """`pick(prompt, ...)` selects for session `claude:s` of project `p`."""

    def run(prompt="", **changed):
        given = {
            "project_id": "p",
            "session_id": "claude:s",
            "epoch": 1,
            "cwd": "/repo",
            "limit_chars": 9_900,
            "limit_bytes": None,
            "budget_tokens": 0,
        }
        return select(db, prompt=prompt, **{**given, **changed})

    return run


@pytest.fixture
def teach(db):
    """`teach(lesson_id, ...)` brings a lesson in through the gates, as a review does."""

    def run(lesson_id="L1", now=NOW, card=None, policy=None, **changed):
        texts = {
            "when": "claiming that a migration is finished",
            "must_do": "run the whole test suite",
            "must_not": "infer the result",
            "verify": "quote the last line",
            "why": "a broken build was called done",
            "exception": "none",
            "source_ids": ("e1",),
        }
        proposal = LessonProposal(
            lesson_id=lesson_id,
            project_id="p",
            base_revision=0,
            severity=Severity.MAJOR,
            family_id=family_id("verification-closure", f"class of {lesson_id}"),
            method_class="verification-closure",
            class_id=f"class of {lesson_id}",
            scope=Scope(),
            card=Card(**{**texts, **(card or {})}),
            generalizable=True,
            responsibility="agent_fault",
            confidence="high",
            causal_chain=("a", "b", "c", "d", "e"),
            extra={},
            evidence=(EvidenceRef("e1", "you said done", ("a1",)),),
            report_id="r1",
            review_id="v1",
            origin_session="claude:earlier",
            lineage=None,
            incident_id=f"incident of {lesson_id}",
            rule_action="none",
        )
        with writing(db):
            return decide_lesson(db, proposal=attrs.evolve(proposal, **changed), actor="reviewer:test", policy=policy or Policy(), now=now)

    return run


@pytest.fixture
def happened(db):
    """`happened(event_id, role, ...)` stores an event of session `claude:s`, each after the one before."""
    count = 0

    def add(event_id, role="user", kind="message", **changed):
        nonlocal count
        count += 1
        row = {
            "event_id": event_id,
            "session_id": "claude:s",
            "project_id": "p",
            "seq": count,
            "generation": 1,
            "offset": count * 100,
            "part": 0,
            "epoch": 1,
            "kind": kind,
            "role": role,
            "text": "",
            "manifest_json": "{}",
            "data_class": "normal",
            "completeness": "whole",
            "source_ms": NOW + count * 1000,
            "captured_ms": NOW + count * 1000,
            **changed,
        }
        with writing(db):
            db.execute(f"INSERT INTO events ({', '.join(row)}) VALUES ({', '.join(':' + name for name in row)})", row)

    return add
