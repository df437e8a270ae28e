"""Where Gemini CLI is found for a person, with real directories and files."""

from __future__ import annotations

import pytest

from afl_providers_gemini import place
from afl_providers_gemini.host import GeminiHost

VARIABLE = "AGENT_FEEDBACK_LOOP_GEMINI_COMMAND"


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


def locate(home, **environ):
    return GeminiHost().locate(home, environ)


def test_nothing_there_is_not_present_and_nothing_is_made(tmp_path):
    found = locate(tmp_path, PATH="/nowhere")

    assert (found.config_dir, found.settings_path) == (tmp_path / ".gemini", tmp_path / ".gemini" / "settings.json")
    assert (found.binary, found.present) == (None, False)
    assert list(tmp_path.iterdir()) == []


def test_a_configuration_directory_is_enough_to_be_present(tmp_path):
    (tmp_path / ".gemini").mkdir()

    assert locate(tmp_path).present


def test_the_hosts_own_variable_stands_for_the_home_that_holds_the_directory(tmp_path):
    assert locate(tmp_path, GEMINI_CLI_HOME=str(tmp_path / "other")).settings_path == tmp_path / "other" / ".gemini" / "settings.json"
    assert locate(tmp_path, GEMINI_CLI_HOME="").config_dir == tmp_path / ".gemini"


def test_a_relative_home_is_seen_from_where_the_session_is(tmp_path):
    assert locate(tmp_path, GEMINI_CLI_HOME="../h", PWD=str(tmp_path / "project")).config_dir == tmp_path / "h" / ".gemini"
    assert locate(tmp_path, GEMINI_CLI_HOME="h").config_dir == tmp_path / "h" / ".gemini"


def test_the_command_is_looked_for_on_the_path_and_the_persons_variable_comes_first(tmp_path):
    on_path, mine = command_at(tmp_path / "bin" / "gemini"), command_at(tmp_path / "mine" / "gemini-next")
    environ = {"PATH": str(on_path.parent)}

    assert GeminiHost().locate(tmp_path, environ).binary == on_path
    assert GeminiHost().locate(tmp_path, {**environ, VARIABLE: str(mine)}).binary == mine
    assert GeminiHost().locate(tmp_path, {**environ, VARIABLE: "/missing/gemini"}).binary is None


def test_a_usual_place_is_asked_last(tmp_path):
    usual = command_at(tmp_path / ".npm-global" / "bin" / "gemini")
    assert locate(tmp_path).binary == usual

    first = command_at(tmp_path / "bin" / "gemini")
    assert locate(tmp_path, PATH=str(first.parent)).binary == first
