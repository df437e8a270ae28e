"""A fresh database and a short way to bring a lesson through the gates."""

from __future__ import annotations

import sqlite3

import attrs
import pytest

from afl_core.changes.gates import decide_lesson
from afl_core.changes.operations import LessonProposal
from afl_core.model.lesson import Card, EvidenceRef, Scope, Severity
from afl_core.settings.schema import Policy
from afl_core.store.connection import connect, writing
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
            family_id=f"family of {lesson_id}",
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
