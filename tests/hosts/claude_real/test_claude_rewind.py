"""A person goes back to the first prompt of the real CLI: its number alone tells, for the new prompt hangs under the last record."""

from __future__ import annotations

import pytest

from afl_core.spec.host import Line
from afl_core.testing.anthropic_api import MockAnthropic
from afl_core.testing.claude_keys import leave, rewind
from afl_providers_claude.host import ClaudeHost

pytestmark = pytest.mark.real_cli


def test_going_back_to_the_first_prompt_is_seen(claude):
    with MockAnthropic(["First answer.", "Second answer."]) as api:
        sandbox = claude(api)
        with sandbox.interactive("--permission-mode", "acceptEdits") as terminal:
            terminal.submit("alpha prompt")
            terminal.wait_for("First answer")
            rewind(terminal, "alpha prompt")
            terminal.submit("gamma prompt")
            terminal.wait_for("Second answer")
            leave(terminal)
        assert "alpha prompt" not in api.requests[-1].conversation_text
        [transcript] = sandbox.transcripts()
        lines = [Line(number, data) for number, data in enumerate(transcript.read_bytes().splitlines())]
        found = [type(one).__name__ for one in ClaudeHost().parse(lines, {})[0]]
        assert found == ["Said", "Said", "Rewound", "Said", "Said"]
