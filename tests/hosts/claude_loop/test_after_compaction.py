"""A compaction takes the card out of the model's context; the real CLI gets it again, under a new nonce."""

from __future__ import annotations

import re

import pytest

from afl_core.capture.projects import locate
from afl_core.changes.gates import decide_lesson
from afl_core.changes.operations import LessonProposal
from afl_core.lessons.families import family_id
from afl_core.model.lesson import Card, EvidenceRef, Scope, Severity
from afl_core.settings.schema import Policy
from afl_core.store.connection import writing
from afl_core.testing.anthropic_api import MockAnthropic, Step
from afl_core.testing.claude_keys import leave

pytestmark = pytest.mark.real_cli

MUST_DO = "Name the production cluster before every deploy"


def teach(home, project_id):
    """A severe lesson of the project, decided through the gates."""
    proposal = LessonProposal(
        lesson_id="lesson-deploy",
        project_id=project_id,
        base_revision=0,
        severity=Severity.CRITICAL,
        family_id=family_id("safety-irreversible", "deploy-target-unnamed"),
        method_class="safety-irreversible",
        class_id="deploy-target-unnamed",
        scope=Scope(),
        card=Card(
            "Deploying",
            MUST_DO,
            "Do not guess the target",
            "The cluster's name is in the reply",
            "A wrong cluster was hit",
            "none",
            ("e-1",),
        ),
        generalizable=False,
        responsibility="agent_fault",
        confidence="high",
        causal_chain=("a", "b", "c", "d", "e"),
        extra={},
        evidence=(EvidenceRef("e-1", "wrong cluster", ("e-0",)),),
        report_id="r",
        review_id="v",
        origin_session="claude:elsewhere",
        lineage=None,
        incident_id="i",
        rule_action="none",
        global_promotion_evidence=(),
    )
    with writing(home.db, durable=True):
        decide_lesson(home.db, proposal=proposal, actor="test", policy=Policy(), now=home.clock())


def nonces(request):
    return re.findall(r"nonce=([0-9a-f]{16})", request.conversation_text)


def test_the_card_comes_back_after_a_compaction(installed):
    steps = [
        Step("First answer here.\n", last="first question"),
        Step("A short summary of the talk.\n", raw="(?i)summar", last="(?i)summar"),
        Step("Second answer here.\n", last="second question"),
    ]
    with MockAnthropic(steps) as api:
        product = installed(api)
        with product.open() as home:
            teach(home, locate(str(product.sandbox.project)).project_id)
        with product.sandbox.interactive("--permission-mode", "acceptEdits") as terminal:
            terminal.submit("first question about the deploy")
            terminal.wait_for("First answer here")
            terminal.submit("/compact")
            product.until(lambda home: home.db.execute("SELECT 1 FROM sessions WHERE epoch = 2").fetchone(), "the new epoch")
            terminal.submit("second question about the deploy")
            terminal.wait_for("Second answer here")
            assert leave(terminal) == 0
        first = next(each for each in api.requests if "first question" in each.last_user_text)
        second = next(each for each in api.requests if "second question" in each.last_user_text)
        assert MUST_DO in first.conversation_text
        assert MUST_DO in second.conversation_text
        assert len(nonces(first)) == 1
        assert len(nonces(second)) == 1
        assert nonces(first) != nonces(second)
        product.until(
            lambda home: home.db.execute("SELECT count(*) FROM deliveries WHERE state = 'reached'").fetchone()[0] == 2, "the proof of both"
        )
