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


def test_the_path_of_the_given_environment_is_searched_and_not_our_own(tmp_path, monkeypatch):
    mine, theirs = command_at(tmp_path / "mine" / "gemini"), command_at(tmp_path / "theirs" / "gemini")
    monkeypatch.setenv("PATH", str(mine.parent))

    assert locate(tmp_path, PATH=f"/nowhere:{theirs.parent}").binary == theirs
    assert locate(tmp_path).binary is None


def test_a_relative_entry_of_the_path_is_not_searched(tmp_path, monkeypatch):
    command_at(tmp_path / "here" / "gemini")
    monkeypatch.chdir(tmp_path)

    assert locate(tmp_path, PATH="here").binary is None


def test_a_usual_place_is_asked_last(tmp_path):
    usual = command_at(tmp_path / ".npm-global" / "bin" / "gemini")
    assert locate(tmp_path).binary == usual

    first = command_at(tmp_path / "bin" / "gemini")
    assert locate(tmp_path, PATH=str(first.parent)).binary == first


@pytest.mark.parametrize("spelled", ["{home}/x/my-gemini", "~/x/my-gemini", "x/my-gemini", "  ~/x/my-gemini "])
def test_a_command_the_person_named_is_taken(tmp_path, spelled):
    mine = command_at(tmp_path / "x" / "my-gemini")

    assert locate(tmp_path, **{VARIABLE: spelled.format(home=tmp_path)}).binary == mine


def test_a_name_alone_is_looked_up_on_the_path(tmp_path):
    mine = command_at(tmp_path / "x" / "my-gemini")

    assert locate(tmp_path, PATH=str(mine.parent), **{VARIABLE: "my-gemini"}).binary == mine


@pytest.mark.parametrize("named", ["/nowhere/gemini", "missing", "{home}/x", "{home}/x/plain.txt"])
def test_where_the_person_named_one_that_does_not_run_no_other_is_tried(tmp_path, named):
    there = command_at(tmp_path / "x" / "gemini")
    (tmp_path / "x" / "plain.txt").write_text("", encoding="ascii")

    assert locate(tmp_path, PATH=str(there.parent), **{VARIABLE: named.format(home=tmp_path)}).binary is None
