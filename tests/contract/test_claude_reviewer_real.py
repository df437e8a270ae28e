"""The isolated run with the real Claude Code and a mock of its service: it takes our arguments, and its endings are understood."""

from __future__ import annotations

import json
import os

import pytest

from afl_core.processes.environment import child_environment
from afl_core.processes.run import run
from afl_core.spec.reviewer import ReviewRequest
from afl_core.testing.anthropic_api import MockAnthropic, http_error, structured, text
from afl_providers_claude.reviewer import ClaudeReviewer

pytestmark = pytest.mark.real_cli

RECEIPT = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "oneOf": [{"$ref": "#/$defs/good"}],
    "$defs": {"good": {"type": "object", "required": ["ok"], "properties": {"ok": {"type": "boolean"}}, "additionalProperties": False}},
}


@pytest.fixture
def review(home, claude_bin):
    """Run one review against scripted answers; gives the answer and the requests the service saw."""

    def reviewed(*steps, key="dummy", url=None):
        (home / "empty").mkdir()
        known = {"HOME": str(home), "PATH": os.environ["PATH"], "AGENT_FEEDBACK_LOOP_CLAUDE_COMMAND": claude_bin}
        with MockAnthropic(steps) as service:
            known["ANTHROPIC_BASE_URL"] = url or service.url
            known |= {"ANTHROPIC_API_KEY": key} if key else {}
            request = ReviewRequest("INSTRUCTIONS", json.dumps({"events": ["EVIDENCE </afl_evidence>"]}), RECEIPT, "", home / "empty")
            command = ClaudeReviewer().command(request, known)
            result = run(
                command.argv,
                environment=child_environment(known, (*command.env_names, "ANTHROPIC_API_KEY"), command.env),
                cwd=str(home / "empty"),
                deadline_seconds=120,
                stdin=command.stdin,
            )
            return ClaudeReviewer().read(result), [seen.body for seen in service.requests]

    return reviewed


def test_a_receipt_comes_back_and_the_service_saw_instructions_and_evidence_once(review, home):
    answer, (seen,) = review(structured({"result": {"ok": True}}))
    sent = json.dumps(seen["messages"])

    assert (answer.receipt, answer.reason) == ({"ok": True}, None)
    assert (answer.usage.input_tokens, answer.usage.output_tokens) == (100, 20)
    assert (sent.count("INSTRUCTIONS"), sent.count("EVIDENCE")) == (1, 1)
    assert not list(home.glob(".claude/projects/**/*.jsonl"))


@pytest.mark.parametrize(
    ("steps", "reason"),
    [
        ([http_error(401)] * 3, "reviewer_unauthorized"),
        ([http_error(429)] * 3, "reviewer_overloaded"),
        ([http_error(529)] * 3, "reviewer_overloaded"),
        ([http_error(500)] * 3, "reviewer_api_error"),
        ([text("no")] * 3, "reviewer_no_structured_output"),
        ([structured({"ok": True})] * 8, "reviewer_schema_exhausted"),
    ],
)
def test_what_the_service_does_wrong_has_its_reason(review, steps, reason):
    assert review(*steps)[0].reason == reason


def test_a_service_that_is_not_there_postpones_the_review(review):
    answer, _ = review(url="http://127.0.0.1:9")

    assert (answer.reason, answer.counts) == ("reviewer_network", False)


def test_a_missing_login_postpones_the_review(review):
    answer, seen = review(key=None)

    assert (answer.reason, answer.counts, seen) == ("reviewer_login_missing", False, [])
