"""A person interrupts the real CLI and corrects it; the transcript has both."""

from __future__ import annotations

import pytest

from afl_core.testing.anthropic_api import MockAnthropic, text, tool
from afl_core.testing.claude_keys import interrupt, leave

pytestmark = pytest.mark.real_cli


def human_texts(records):
    """What people typed, in order, and the host's own interruption records."""
    contents = [record["message"]["content"] for record in records if record["type"] == "user"]
    return [content if isinstance(content, str) else content[0].get("text", content[0]["type"]) for content in contents]


def test_an_interruption_of_streaming_text_and_its_correction_are_in_the_transcript(claude):
    wrong = text("I will rewrite the module with the old API.\n\nFirst I remove", chunk=10, pause=0.02, hold=True)
    with MockAnthropic([wrong, "OK, using the new API."]) as api:
        sandbox = claude(api)
        with sandbox.interactive("--permission-mode", "acceptEdits") as terminal:
            terminal.submit("refactor the module")
            terminal.wait_for("with the old API")
            interrupt(terminal)
            api.wait_aborted()
            terminal.submit("no, do not use the old API, use the new one")
            terminal.wait_for("using the new API")
            assert leave(terminal) == 0
        records = sandbox.records()
        assert human_texts(records) == [
            "refactor the module", "[Request interrupted by user]", "no, do not use the old API, use the new one",
        ]  # fmt: skip
        [cut] = [record for record in records if record.get("isAbortedMidStream")]
        assert "old API" in cut["message"]["content"][0]["text"]
        assert "use the new one" in api.requests[1].last_user_text


def test_an_interruption_of_a_running_tool_and_its_correction_are_in_the_transcript(claude, wait_for_file):
    endless = "touch started; while [ ! -e never ]; do sleep 0.05; done"
    with MockAnthropic([tool("Bash", {"command": endless, "description": "tests"}, say="Let me run the tests."), "Understood."]) as api:
        sandbox = claude(api)
        with sandbox.interactive("--permission-mode", "acceptEdits", "--allowedTools", "Bash") as terminal:
            terminal.submit("run the tests")
            wait_for_file(sandbox.project / "started")
            interrupt(terminal)
            terminal.submit("wrong, use pytest -q")
            terminal.wait_for("Understood")
            leave(terminal)
        records = sandbox.records()
        assert human_texts(records) == [
            "run the tests", "tool_result", "[Request interrupted by user for tool use]", "wrong, use pytest -q",
        ]  # fmt: skip
        [result] = [record for record in records if record.get("toolDenialKind")]
        assert result["toolDenialKind"] == "user-rejected"
        assert result["message"]["content"][0]["is_error"] is True
