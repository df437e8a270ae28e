"""A person says no in the real CLI's permission menu."""

from __future__ import annotations

import pytest

from afl_core.testing.anthropic_api import MockAnthropic, tool
from afl_core.testing.claude_keys import deny, deny_with_words, leave

pytestmark = pytest.mark.real_cli

REMOVE = tool("Bash", {"command": "rm -rf build", "description": "clean"}, say="I will delete it.")


def test_words_typed_into_the_menu_are_the_users_feedback_in_the_transcript(claude):
    with MockAnthropic([REMOVE, "Okay, I will move it instead."]) as api:
        sandbox = claude(api)
        (sandbox.project / "build").mkdir()
        with sandbox.interactive("--permission-mode", "manual") as terminal:
            terminal.submit("clean up")
            deny_with_words(terminal, "do not delete it, move it to old")
            terminal.wait_for("move it instead")
            leave(terminal)
        [denied] = [record for record in sandbox.records() if record.get("userFeedback")]
        assert denied["userFeedback"] == "do not delete it, move it to old"
        assert denied["holdsPersonsWords"] is True
        assert denied["permissionDecision"]["source"] == "user_reject"
        assert (sandbox.project / "build").is_dir()
        assert "do not delete it, move it to old" in api.requests[1].last_user_text


def test_escape_in_the_menu_denies_without_words_and_ends_the_turn(claude):
    with MockAnthropic([REMOVE]) as api:
        sandbox = claude(api)
        with sandbox.interactive("--permission-mode", "manual") as terminal:
            terminal.submit("clean up")
            deny(terminal)
            leave(terminal)
        [denied] = [record for record in sandbox.records() if record.get("toolDenialKind")]
        assert denied["toolDenialBeforeRun"] is True
        assert "userFeedback" not in denied
        assert len(api.requests) == 1
