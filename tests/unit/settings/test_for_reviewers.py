"""What a person set in the settings file, a reviewer finds under the variable's name."""

from __future__ import annotations

from afl_core.settings.schema import Settings, for_reviewers


def test_commands_of_every_host_and_the_allowlist_are_told_when_they_are_set():
    assert for_reviewers(Settings()) == {}
    set_ = Settings(
        claude_command="a", codex_command="b", gemini_command="c", reviewer_env_allowlist="GEMINI_API_KEY", reviewer_command="no"
    )
    assert for_reviewers(set_) == {
        "AGENT_FEEDBACK_LOOP_CLAUDE_COMMAND": "a",
        "AGENT_FEEDBACK_LOOP_CODEX_COMMAND": "b",
        "AGENT_FEEDBACK_LOOP_GEMINI_COMMAND": "c",
        "AGENT_FEEDBACK_LOOP_REVIEWER_ENV_ALLOWLIST": "GEMINI_API_KEY",
    }
