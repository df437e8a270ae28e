"""A directory that install had to make goes with what it was made for; one that was there, or that holds anything else, stays."""

from __future__ import annotations

import errno
import json
import os
import stat

import pytest

from afl_core.api.home import Home
from afl_core.model.errors import SetupError
from afl_core.setup.install import apply_install, plan_install
from afl_core.setup.schedule import choose
from afl_core.setup.uninstall import apply_uninstall, plan_uninstall

HOSTS = {"claude": ".claude", "codex": ".codex", "gemini": ".gemini"}
NOTES = ".agent/feedback-loop-data/made-folders.json"


@pytest.fixture
def environ(home):
    return {"HOME": str(home), "PATH": os.defpath}


def install(home, environ, *, checkpoint=lambda _step: None, **wanted):
    with Home(str(home), environ) as opened:
        return apply_install(plan_install(opened, **wanted), checkpoint)


def uninstall(home, environ):
    with Home(str(home), environ) as opened:
        return apply_uninstall(plan_uninstall(opened))


def found(home):
    return sorted(str(path.relative_to(home)) for path in home.rglob("*") if not str(path.relative_to(home)).startswith(".agent"))


@pytest.mark.parametrize("host", HOSTS)
def test_a_host_that_was_never_started_leaves_no_directory_of_its_own(home, environ, host):
    folder = home / HOSTS[host]
    install(home, environ, hosts=[host])
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert f"remove the folder {folder}, which install made" in uninstall(home, environ).done
    assert found(home) == []
    assert not (home / NOTES).exists()


@pytest.mark.parametrize("host", HOSTS)
def test_an_empty_directory_that_was_there_stays(home, environ, host):
    (home / HOSTS[host]).mkdir()
    for _ in range(2):
        install(home, environ, hosts=[host])
        uninstall(home, environ)
    assert found(home) == [HOSTS[host]]


def test_directories_above_that_had_to_be_made_go_too_and_the_one_that_was_there_stays(home, environ):
    (home / "work").mkdir()
    there = {**environ, "CLAUDE_CONFIG_DIR": str(home / "work/deep/er")}
    install(home, there, hosts=["claude"])
    uninstall(home, there)
    assert found(home) == ["work"]


def test_what_somebody_put_into_it_stays_and_is_theirs_from_then_on(home, environ):
    install(home, environ, hosts=["claude"])
    (home / ".claude/history").write_text("mine")
    uninstall(home, environ)
    assert found(home) == [".claude", ".claude/history"]
    (home / ".claude/history").unlink()
    install(home, environ, hosts=["claude"])
    uninstall(home, environ)
    assert found(home) == [".claude"]


@pytest.mark.parametrize("there", [(), (".claude",), (".claude", ".claude/skills")])
def test_a_plug_in_leaves_only_the_directories_that_were_there(home, environ, there):
    for name in there:
        (home / name).mkdir()
    install(home, environ, hosts=["claude"], plugins=["claude"])
    steps = uninstall(home, environ).done
    assert found(home) == list(there)
    assert len([step for step in steps if "remove the folder" in step]) == 3 - len(there)


def test_a_plug_in_that_is_swapped_for_settings_leaves_no_empty_directory(home, environ):
    install(home, environ, hosts=["claude"], plugins=["claude"])
    done = install(home, environ, hosts=["claude"]).done
    assert f"remove the folder {home / '.claude/skills'}" in done
    assert found(home) == [".claude", ".claude/settings.json"]
    assert not install(home, environ, hosts=["claude"]).changed
    (home / ".claude/skills").mkdir()  # the person's own now
    uninstall(home, environ)
    assert found(home) == [".claude", ".claude/skills"]


def test_the_directory_of_a_host_that_was_deselected_goes_in_the_end(home, environ):
    install(home, environ, hosts=["codex", "gemini"])
    install(home, environ, hosts=["gemini"])
    uninstall(home, environ)
    assert found(home) == []


def test_an_install_that_fails_leaves_no_directory(home, environ):
    (home / ".gemini").mkdir()
    (home / ".gemini/settings.json").write_text("{}")
    (home / ".gemini").chmod(0o500)
    with pytest.raises(SetupError):
        install(home, environ, hosts=["claude", "gemini"])
    (home / ".gemini").chmod(0o700)

    def interfere(step):
        if step == "settings:written:0":
            (home / ".gemini/settings.json").write_text('{"a": 1}')

    with pytest.raises(SetupError):
        install(home, environ, hosts=["claude", "gemini"], checkpoint=interfere)
    assert found(home) == [".gemini", ".gemini/settings.json"]


def test_the_directories_of_a_service_manager_go_as_they_came(home, managers, monkeypatch):
    monkeypatch.setattr(choose, "users_home", lambda: str(home))
    environ = {"HOME": str(home), **managers.environ}
    before = {path for path in home.rglob("*") if path.is_dir()}
    install(home, environ, hosts=[])
    assert managers.is_running()
    assert {path for path in home.rglob("*") if path.is_dir() and ".agent" not in path.parts} > before
    uninstall(home, environ)
    assert {path for path in home.rglob("*") if path.is_dir() and ".agent" not in path.parts} == before


def test_a_directory_that_cannot_be_looked_into_stops_nothing(home, environ, monkeypatch):
    there = {**environ, "CLAUDE_CONFIG_DIR": str(home / "work/deep")}
    install(home, there, hosts=["claude"])
    real = os.listdir

    def refused(path="."):
        if str(path) == str(home / "work"):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)
        return real(path)

    with monkeypatch.context() as patched:
        patched.setattr(os, "listdir", refused)
        steps = [step for step in uninstall(home, there).done if "remove the folder" in step]
    assert steps == [f"remove the folder {home / 'work/deep'}, which install made"]
    assert found(home) == []


@pytest.mark.parametrize("notes", ["", "{", "7", '["relative", 7, "/no/such/folder"]'])
def test_notes_that_cannot_be_read_stop_nothing(home, environ, notes):
    install(home, environ, hosts=["claude"])
    assert json.loads((home / NOTES).read_text()) == [str(home / ".claude")]
    (home / NOTES).write_text(notes)
    uninstall(home, environ)
    assert found(home) == [".claude"]
    assert not (home / NOTES).exists()
