"""Where Claude Code is found for a person, with real directories and files."""

from __future__ import annotations

import pytest

from afl_providers_claude import place
from afl_providers_claude.host import ClaudeHost
from afl_providers_claude.reviewer import ClaudeReviewer

VARIABLE = "AGENT_FEEDBACK_LOOP_CLAUDE_COMMAND"


def command_at(path):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n", encoding="ascii")
    path.chmod(0o755)
    return path


@pytest.fixture(autouse=True)
def _only_in_this_home(monkeypatch):
    """The machine that runs the tests may have the command in a usual place."""
    in_home = tuple(spelled for spelled in place.USUAL_PLACES if spelled.startswith("~/"))
    monkeypatch.setattr(place.find_command, "__defaults__", (in_home,))


def test_nothing_there_is_not_present_and_nothing_is_made(tmp_path):
    found = ClaudeHost().locate(tmp_path, {"PATH": "/nowhere"})

    assert (found.config_dir, found.settings_path) == (tmp_path / ".claude", tmp_path / ".claude" / "settings.json")
    assert (found.binary, found.present) == (None, False)
    assert list(tmp_path.iterdir()) == []


def test_a_configuration_directory_is_enough_to_be_present(tmp_path):
    (tmp_path / ".claude").mkdir()

    assert ClaudeHost().locate(tmp_path, {}).present


def test_the_hosts_own_variable_moves_the_settings(tmp_path):
    moved = tmp_path / "elsewhere"
    found = ClaudeHost().locate(tmp_path, {"CLAUDE_CONFIG_DIR": str(moved)})

    assert found.settings_path == moved / "settings.json"


def test_a_relative_directory_is_seen_from_where_the_session_is(tmp_path):
    found = ClaudeHost().locate(tmp_path, {"CLAUDE_CONFIG_DIR": "../conf", "PWD": str(tmp_path / "project")})

    assert found.config_dir == tmp_path / "conf"


def test_the_command_is_looked_for_on_the_path_and_the_persons_variable_comes_first(tmp_path):
    on_path, mine = command_at(tmp_path / "bin" / "claude"), command_at(tmp_path / "mine" / "claude-next")
    environ = {"PATH": str(on_path.parent)}

    assert ClaudeHost().locate(tmp_path, environ).binary == on_path
    assert ClaudeHost().locate(tmp_path, {**environ, VARIABLE: str(mine)}).binary == mine
    assert ClaudeHost().locate(tmp_path, {**environ, VARIABLE: "/missing/claude"}).binary is None


@pytest.mark.parametrize("usual", [".local/bin/claude", ".claude/local/claude"])
def test_usual_places_are_asked_last(tmp_path, usual):
    placed = command_at(tmp_path / usual)
    on_path = command_at(tmp_path / "bin" / "claude")

    assert ClaudeHost().locate(tmp_path, {"PATH": "/nowhere"}).binary == placed
    assert ClaudeHost().locate(tmp_path, {"PATH": str(on_path.parent)}).binary == on_path


def test_the_reviewer_says_where_it_is_or_what_to_set(tmp_path):
    placed = command_at(tmp_path / "bin" / "claude")
    here = ClaudeReviewer().viable({"HOME": str(tmp_path), "PATH": str(placed.parent)})
    gone = ClaudeReviewer().viable({"HOME": str(tmp_path), "PATH": "/nowhere"})
    wrong = ClaudeReviewer().viable({"HOME": str(tmp_path), "PATH": str(placed.parent), VARIABLE: "/missing/claude"})

    assert (here.ok, here.reason) == (True, str(placed))
    assert not gone.ok
    assert VARIABLE in gone.reason
    assert not wrong.ok
    assert "/missing/claude" in wrong.reason
