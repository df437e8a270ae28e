"""A person writes to the real CLI while a tool runs."""

from __future__ import annotations

import pytest

from afl_core.testing.anthropic_api import MockAnthropic, tool
from afl_core.testing.claude_keys import leave, steer

pytestmark = pytest.mark.real_cli


def test_a_message_sent_while_a_tool_runs_reaches_the_model_with_the_tools_result(claude, wait_for_file):
    long = "touch started; while [ ! -e go ]; do sleep 0.05; done; echo finished"
    with MockAnthropic([tool("Bash", {"command": long, "description": "long"}, say="Running a long command."), "Noted."]) as api:
        sandbox = claude(api)
        with sandbox.interactive("--permission-mode", "acceptEdits", "--allowedTools", "Bash") as terminal:
            terminal.submit("do the long thing")
            wait_for_file(sandbox.project / "started")
            steer(terminal, "also: never use sleep here")
            (sandbox.project / "go").touch()
            terminal.wait_for("Noted")
            leave(terminal)
        records = sandbox.records()
        [steered] = [record["attachment"] for record in records if record.get("attachment", {}).get("type") == "queued_command"]
        assert steered["prompt"] == "also: never use sleep here"
        assert steered["origin"]["kind"] == "human"
        assert [record["operation"] for record in records if record["type"] == "queue-operation"] == ["enqueue", "remove"]
        assert "also: never use sleep here" not in api.requests[0].conversation_text
        assert "finished" in api.requests[1].conversation_text
        assert "also: never use sleep here" in api.requests[1].conversation_text
