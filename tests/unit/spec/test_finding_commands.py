"""Where a command is found for a person, with real directories and files."""

from __future__ import annotations

from pathlib import Path

import pytest

from afl_core.spec.finding_commands import absolute, expanded, find_command

VARIABLE = "QUARTZ_COMMAND"
USUAL = ("~/.local/bin/quartz", "~/.quartz/quartz")


def command_at(path):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n", encoding="ascii")
    path.chmod(0o755)
    return path


def find(home, **environ):
    return find_command(home, environ, VARIABLE, "quartz", USUAL)


def test_nothing_is_found_where_nothing_is_and_nothing_is_made(tmp_path):
    assert find(tmp_path, PATH="/nowhere") is None
    assert find(tmp_path) is None
    assert list(tmp_path.iterdir()) == []


def test_the_path_of_the_given_environment_is_searched_and_not_our_own(tmp_path, monkeypatch):
    mine, theirs = command_at(tmp_path / "mine" / "quartz"), command_at(tmp_path / "theirs" / "quartz")
    monkeypatch.setenv("PATH", str(mine.parent))

    assert find(tmp_path, PATH=f"/nowhere:{theirs.parent}") == theirs
    assert find(tmp_path) is None


def test_a_relative_entry_of_the_path_is_not_searched(tmp_path, monkeypatch):
    command_at(tmp_path / "bin" / "quartz")
    command_at(tmp_path / "quartz")
    monkeypatch.chdir(tmp_path)

    assert find(tmp_path, PATH="bin:.:") is None


@pytest.mark.parametrize("usual", USUAL)
def test_usual_places_are_asked_last(tmp_path, usual):
    placed = command_at(tmp_path / usual.removeprefix("~/"))
    on_path = command_at(tmp_path / "bin" / "quartz")

    assert find(tmp_path, PATH="/nowhere") == placed
    assert find(tmp_path, PATH=str(on_path.parent)) == on_path


def test_a_usual_place_may_be_outside_the_home(tmp_path):
    placed = command_at(tmp_path / "opt" / "quartz")

    assert find_command(tmp_path / "home", {}, VARIABLE, "quartz", ["~/quartz", str(placed)]) == placed


@pytest.mark.parametrize(
    "named",
    ["{home}/bin/quartz-next", "quartz-next", "~/bin/quartz-next", "bin/quartz-next", "  ~/bin/quartz-next ", "./x/../bin/quartz-next"],
)
def test_a_command_the_person_named_is_taken(tmp_path, named):
    on_path = command_at(tmp_path / "bin" / "quartz")
    other = command_at(tmp_path / "bin" / "quartz-next")

    assert find(tmp_path, PATH=str(on_path.parent), PWD=str(tmp_path), **{VARIABLE: named.format(home=tmp_path)}) == other


@pytest.mark.parametrize(
    "named", ["missing", "/missing/quartz", "quartz --flag", "bin/", "{home}/bin", "{home}/bin/plain.txt", "{home}/.local/bin/"]
)
def test_where_the_person_named_one_that_does_not_run_no_other_is_tried(tmp_path, named):
    on_path = command_at(tmp_path / "bin" / "quartz")
    command_at(tmp_path / ".local" / "bin" / "quartz")
    (on_path.parent / "plain.txt").write_text("", encoding="ascii")

    assert find(tmp_path, PATH=str(on_path.parent), PWD=str(tmp_path), **{VARIABLE: named.format(home=tmp_path)}) is None


def test_a_variable_of_spaces_names_nothing(tmp_path):
    on_path = command_at(tmp_path / "bin" / "quartz")

    assert find(tmp_path, PATH=str(on_path.parent), **{VARIABLE: " "}) == on_path


def test_a_file_that_cannot_be_run_is_no_command(tmp_path):
    for plain in (tmp_path / "bin" / "quartz", tmp_path / ".local" / "bin" / "quartz"):
        plain.parent.mkdir(parents=True)
        plain.write_text("", encoding="ascii")

    assert find(tmp_path, PATH=str(tmp_path / "bin")) is None


def test_a_relative_directory_begins_where_the_session_is(tmp_path):
    assert absolute("../conf", tmp_path, {"PWD": "/elsewhere/project"}) == Path("/elsewhere/conf")
    assert absolute("conf", tmp_path, {}) == tmp_path / "conf"
    assert absolute("/conf/./x", tmp_path, {"PWD": "/elsewhere"}) == Path("/conf/x")
    assert absolute("~/conf", tmp_path, {"PWD": "/elsewhere"}) == Path("/elsewhere/~/conf")


def test_a_person_may_spell_the_home_with_a_tilde(tmp_path):
    assert expanded("~/conf", tmp_path, {"PWD": "/elsewhere"}) == tmp_path / "conf"
    assert expanded("conf", tmp_path, {"PWD": "/elsewhere"}) == Path("/elsewhere/conf")
