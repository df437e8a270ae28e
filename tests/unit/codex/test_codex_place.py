"""Where Codex CLI is found for a person, with real directories and files."""

from __future__ import annotations

import pytest

from afl_providers_codex import place
from afl_providers_codex.host import CodexHost

VARIABLE = "AGENT_FEEDBACK_LOOP_CODEX_COMMAND"


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
    found = CodexHost().locate(tmp_path, {"PATH": "/nowhere"})

    assert (found.config_dir, found.settings_path) == (tmp_path / ".codex", tmp_path / ".codex" / "hooks.json")
    assert (found.binary, found.present) == (None, False)
    assert list(tmp_path.iterdir()) == []


def test_a_configuration_directory_is_enough_to_be_present(tmp_path):
    (tmp_path / ".codex").mkdir()

    assert CodexHost().locate(tmp_path, {}).present


def test_the_hosts_own_variable_moves_the_settings(tmp_path):
    moved = tmp_path / "elsewhere"
    found = CodexHost().locate(tmp_path, {"CODEX_HOME": str(moved)})

    assert found.settings_path == moved / "hooks.json"


def test_a_relative_directory_is_seen_from_where_the_session_is(tmp_path):
    found = CodexHost().locate(tmp_path, {"CODEX_HOME": "../conf", "PWD": str(tmp_path / "project")})

    assert found.config_dir == tmp_path / "conf"


def test_the_command_is_looked_for_on_the_path_and_the_persons_variable_comes_first(tmp_path):
    on_path, mine = command_at(tmp_path / "bin" / "codex"), command_at(tmp_path / "mine" / "codex-next")
    environ = {"PATH": str(on_path.parent)}

    assert CodexHost().locate(tmp_path, environ).binary == on_path
    assert CodexHost().locate(tmp_path, {**environ, VARIABLE: str(mine)}).binary == mine
    assert CodexHost().locate(tmp_path, {**environ, VARIABLE: "/missing/codex"}).binary is None


@pytest.mark.parametrize("usual", [".local/bin/codex", ".bun/bin/codex"])
def test_usual_places_are_asked_last(tmp_path, usual):
    placed = command_at(tmp_path / usual)
    on_path = command_at(tmp_path / "bin" / "codex")

    assert CodexHost().locate(tmp_path, {"PATH": "/nowhere"}).binary == placed
    assert CodexHost().locate(tmp_path, {"PATH": str(on_path.parent)}).binary == on_path
