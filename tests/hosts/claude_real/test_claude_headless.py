"""A headless turn of the real CLI against the mock."""

from __future__ import annotations

import pytest

from afl_core.testing.anthropic_api import MockAnthropic, Step, http_error, text, tool
from afl_core.testing.recorded import project_slug

pytestmark = pytest.mark.real_cli


def test_a_plain_turn_is_one_request_and_nothing_else_on_the_wire(claude):
    with MockAnthropic(["Hello from the mock."]) as api:
        run = claude(api).headless("say hello")
        assert run.returncode == 0, run
        assert run.envelope["result"] == "Hello from the mock."
        assert [(seen.method, seen.path.split("?")[0], seen.status) for seen in api.traffic] == [("POST", "/v1/messages", 200)]
        assert "say hello" in api.requests[0].last_user_text


def test_the_transcript_lies_where_the_slug_of_the_project_says(claude):
    with MockAnthropic(["Hello from the mock."]) as api:
        sandbox = claude(api)
        run = sandbox.headless("say hello")
        [transcript] = sandbox.transcripts()
        assert transcript.stem == run.session_id
        assert transcript.parent.name == project_slug(sandbox.project)


def test_resuming_goes_on_in_the_same_session_and_file(claude):
    with MockAnthropic(["First answer.", "Second answer."]) as api:
        sandbox = claude(api)
        first = sandbox.headless("first prompt")
        second = sandbox.headless("second prompt", resume=first.session_id)
        assert second.session_id == first.session_id
        assert len(sandbox.transcripts()) == 1
        assert "first prompt" in api.requests[1].conversation_text


def test_a_tool_call_of_the_mock_runs_for_real(claude):
    with MockAnthropic([tool("Bash", {"command": "echo one > made.txt", "description": "make"}), Step(text("Done."), last=".")]) as api:
        sandbox = claude(api)
        run = sandbox.headless("make it", "--allowedTools", "Bash")
        assert run.envelope["result"] == "Done."
        assert (sandbox.project / "made.txt").read_text(encoding="utf-8") == "one\n"


def test_an_error_of_the_api_is_told_in_the_envelope(claude):
    with MockAnthropic([http_error(400, "the mock says no")]) as api:
        run = claude(api).headless("say hello")
        assert run.returncode == 1
        assert run.envelope["is_error"] is True
        assert run.envelope["api_error_status"] == 400


def test_the_key_is_not_in_the_log_of_requests(claude):
    with MockAnthropic(["Hello."]) as api:
        sandbox = claude(api)
        sandbox.headless("say hello")
        assert sandbox.environment["ANTHROPIC_API_KEY"] not in repr(api.traffic)
        assert api.requests[0].headers["x-api-key"] == "<removed>"
