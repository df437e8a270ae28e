"""The isolated structured run that a review uses, on the real CLI: what is sent, and what comes back."""

from __future__ import annotations

import json
import re

import pytest

from afl_core.testing.anthropic_api import STRUCTURED_OUTPUT, MockAnthropic, dropped, http_error, reviewing

pytestmark = pytest.mark.real_cli

SCHEMA = {
    "type": "object",
    "properties": {"verdict": {"type": "string", "enum": ["save", "skip"]}, "evidence": {"type": "array", "items": {"type": "string"}}},
    "required": ["verdict", "evidence"],
    "additionalProperties": False,
}
FLAGS = (
    "--json-schema", json.dumps(SCHEMA), "--tools", "", "--no-session-persistence", "--setting-sources", "", "--strict-mcp-config",
    "--disable-slash-commands", "--permission-mode", "dontAsk", "--system-prompt", "You are a reviewer.", "--model", "haiku",
)  # fmt: skip


@pytest.fixture
def review(claude, home):
    """Run a review in an empty folder, with the material on stdin and one try."""

    def run(api, material="[ev-1] no, use the new API\n[ev-2] wrong again\n"):
        sandbox = claude(api)
        sandbox.environment["CLAUDE_CODE_MAX_RETRIES"] = "0"
        empty = home / "empty"
        empty.mkdir()
        return sandbox, sandbox.headless("Review this.", *FLAGS, stdin=material, folder=empty)

    return run


def test_the_answer_of_a_reviewer_that_reads_the_evidence_comes_back_as_structured_output(review):
    def answer(body):
        return {"verdict": "save", "evidence": re.findall(r"\[(ev-\d)\]", json.dumps(body["messages"]))}

    with MockAnthropic([reviewing(answer)]) as api:
        _, run = review(api)
        assert run.returncode == 0, run
        assert run.envelope["structured_output"] == {"verdict": "save", "evidence": ["ev-1", "ev-2"]}
        assert STRUCTURED_OUTPUT in api.requests[0].tool_names


def test_the_run_leaves_no_transcript_and_offers_no_tool_that_acts(review):
    with MockAnthropic([reviewing({"verdict": "skip", "evidence": []})]) as api:
        sandbox, run = review(api)
        assert run.returncode == 0, run
        assert sandbox.transcripts() == []
        assert not {"Bash", "Edit", "Write", "Read"} & set(api.requests[0].tool_names)
        assert "You are a reviewer." in api.requests[0].system_text


def test_an_answer_that_breaks_the_schema_is_given_back_to_the_model(review):
    with MockAnthropic([reviewing({"verdict": "maybe", "evidence": []}), reviewing({"verdict": "skip", "evidence": []})]) as api:
        _, run = review(api)
        assert run.envelope["structured_output"]["verdict"] == "skip"
        assert len(api.requests) == 2


def test_an_overloaded_api_ends_the_run_with_its_status(review):
    with MockAnthropic([http_error(529)]) as api:
        _, run = review(api)
        assert run.returncode == 1
        assert run.envelope["api_error_status"] == 529


def test_a_connection_that_drops_leaves_no_structured_output(review):
    with MockAnthropic([dropped("The verdict is ")], default=dropped("again ")) as api:
        _, run = review(api)
        assert run.envelope.get("structured_output") is None
