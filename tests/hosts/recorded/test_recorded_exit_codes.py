"""The exit code of a command is in its tool grain wherever a host tells it, be it only in the text that the model was given."""

from __future__ import annotations

import json

import pytest

from afl_core.testing import recorded, recorded_codex, recorded_gemini
from afl_providers_claude.host import ClaudeHost
from afl_providers_codex.host import CodexHost
from afl_providers_gemini.host import GeminiHost


def claude(name, home):
    return recorded.install(name, home, home / "project"), ClaudeHost()


def codex(name, home):
    return recorded_codex.place_rollout(name, home / ".codex", home / "project"), CodexHost()


def older_codex(name, home):
    return recorded_codex.place_rollout(name, home / ".codex", home / "project", release=recorded_codex.OLDER), CodexHost()


def gemini(name, home):
    return recorded_gemini.install(name, home, home / "project"), GeminiHost()


@pytest.mark.parametrize(
    ("host", "name", "told"),
    [
        (claude, "tools", [("Bash", False, None), ("Bash", True, 3), ("Bash", False, None)]),
        (codex, "tool_success_and_failure_with_hook_context", [("exec_command", True, 3), ("exec_command", False, 0)]),
        (older_codex, "tool_success_and_failure_with_hook_context", [("exec_command", True, 3), ("exec_command", False, 0)]),
        (codex, "migrated.tool_success_and_failure_with_hook_context", [("exec_command", True, 3), ("exec_command", False, 0)]),
        (gemini, "tools", [("run_shell_command", True, 3)]),
    ],
)
def test_the_exit_code_of_a_command_is_in_its_tool_grain(world, home, host, name, told):
    path, adapter = host(name, home)
    world.sync(path, adapter=adapter)
    rows = [json.loads(row[0]) for row in world.db.execute("SELECT fields_json FROM grains WHERE type = 'tool' ORDER BY seq")]
    commands = {"Bash", "exec_command", "run_shell_command"}
    assert [(row["tool_name"], row["is_error"], row.get("exit_code")) for row in rows if row["tool_name"] in commands] == told
