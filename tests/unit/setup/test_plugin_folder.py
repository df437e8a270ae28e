"""A host connected through a plug-in folder: its hooks stand there or in its settings, never in both, and nothing of it stays behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys

import pytest

from afl_core.api.home import Home
from afl_core.model.errors import SetupError
from afl_core.setup.doctor import doctor
from afl_core.setup.install import apply_install, plan_install
from afl_core.setup.uninstall import apply_uninstall, plan_uninstall

SETTINGS = b'{\n  "model": "opus"\n}\n'
EVENTS = {"UserPromptSubmit", "Stop", "SessionStart", "SessionEnd"}


@pytest.fixture
def environ(home):
    (home / ".claude").mkdir()
    (home / ".claude/settings.json").write_bytes(SETTINGS)
    return {"HOME": str(home), "PATH": os.defpath}


@pytest.fixture
def folder(home):
    return home / ".claude/skills/agent-feedback-loop"


def install(home, environ, *plugins, checkpoint=lambda _step: None):
    with Home(str(home), environ) as opened:
        return apply_install(plan_install(opened, plugins=plugins), checkpoint)


def uninstall(home, environ):
    with Home(str(home), environ) as opened:
        return apply_uninstall(plan_uninstall(opened))


def hooks_of(path):
    return json.loads(path.read_bytes()).get("hooks", {}) if path.exists() else {}


def places(home, folder):
    return set(hooks_of(home / ".claude/settings.json")), set(hooks_of(folder / "hooks/hooks.json"))


def test_the_folder_is_a_plug_in_with_the_same_commands_and_the_settings_stay_as_they_were(home, environ, folder):
    install(home, environ)
    commands = hooks_of(home / ".claude/settings.json")
    install(home, environ, "claude")
    assert (home / ".claude/settings.json").read_bytes() == SETTINGS
    assert hooks_of(folder / "hooks/hooks.json") == commands
    assert json.loads((folder / ".claude-plugin/plugin.json").read_bytes())["name"] == "agent-feedback-loop"


def test_the_first_install_can_be_one_of_a_plug_in(home, environ, folder):
    result = install(home, environ, "claude")
    assert places(home, folder) == (set(), EVENTS)
    assert (home / ".claude/settings.json").read_bytes() == SETTINGS
    assert [step for step in result.done if "settings.json" in step] == []


def test_it_is_remembered_and_doing_it_again_does_nothing(home, environ, folder):
    install(home, environ, "claude")
    current = json.loads((home / ".agent/feedback-loop/current.json").read_bytes())
    assert current["hosts"]["claude"]["plugin_folder"] == str(folder)
    assert not install(home, environ, "claude").changed


def test_a_plain_install_swaps_back_and_leaves_no_folder(home, environ, folder):
    install(home, environ, "claude")
    result = install(home, environ)
    assert places(home, folder) == (EVENTS, set())
    assert not folder.exists()
    assert f"remove the folder {folder}" in result.done
    assert not install(home, environ).changed


def test_uninstall_takes_back_either(home, environ, folder):
    for plugins in (("claude",), (), ("claude",)):
        install(home, environ, *plugins)
    uninstall(home, environ)
    assert (home / ".claude/settings.json").read_bytes() == SETTINGS
    assert not folder.exists()
    assert not [step for step in uninstall(home, environ).done if str(folder) in step]


def test_uninstall_without_its_journal_removes_the_folder_all_the_same(home, environ, folder):
    install(home, environ, "claude")
    (home / ".agent/feedback-loop-data/settings-journal.json").unlink()
    uninstall(home, environ)
    assert not folder.exists()


def test_a_host_that_is_no_longer_chosen_loses_its_folder(home, environ, folder):
    install(home, environ, "claude")
    with Home(str(home), environ) as opened:
        apply_install(plan_install(opened, hosts=()))
    assert not folder.exists()


def test_what_a_person_put_there_stays(home, environ, folder):
    install(home, environ, "claude")
    (folder / "notes.md").write_text("mine")
    hooks = json.loads((folder / "hooks/hooks.json").read_bytes())
    hooks["hooks"]["Stop"].append({"hooks": [{"type": "command", "command": "echo mine"}]})
    (folder / "hooks/hooks.json").write_text(json.dumps(hooks))
    install(home, environ)
    assert (folder / "notes.md").read_text() == "mine"
    assert hooks_of(folder / "hooks/hooks.json") == {"Stop": [{"hooks": [{"type": "command", "command": "echo mine"}]}]}
    assert not (folder / ".claude-plugin").exists()
    assert not install(home, environ).changed


def test_a_plan_shows_every_file_and_writes_nothing(home, environ, folder):
    install(home, environ)
    with Home(str(home), environ) as opened:
        plan = plan_install(opened, plugins=("claude",))
    assert [str(edit.path) for edit in plan.edits if edit.changes] == [
        str(home / ".claude/settings.json"), str(folder / ".claude-plugin/plugin.json"), str(folder / "hooks/hooks.json"),
    ]  # fmt: skip
    assert not folder.exists()


def test_a_host_that_is_not_connected_cannot_be_a_plug_in(home, environ):
    with Home(str(home), environ) as opened, pytest.raises(SetupError) as caught:
        plan_install(opened, plugins=("nobody",))
    assert caught.value.code == "AFL-SETUP-050"


def test_after_a_damaged_pointer_the_folder_is_still_known(home, environ, folder):
    install(home, environ, "claude")
    (home / ".agent/feedback-loop/current.json").write_text("{")
    install(home, environ, "claude")
    assert places(home, folder) == (set(), EVENTS)
    (home / ".agent/feedback-loop/current.json").write_text("{")
    install(home, environ)
    assert places(home, folder) == (EVENTS, set())
    assert not folder.exists()


def test_the_doctor_runs_the_commands_where_they_stand(home, environ, folder):
    install(home, environ, "claude")
    with Home(str(home), environ) as opened:
        report = doctor(opened)
    body = report.body["clis"]["claude"]
    assert (body["configured"], body["connected"], body["settings"]) == (True, True, str(folder / "hooks/hooks.json"))


def test_the_doctor_sees_a_switch_in_the_settings_that_turns_the_folder_off_too(home, environ, folder):
    install(home, environ, "claude")
    (home / ".claude/settings.json").write_text('{"disableAllHooks": true}')
    with Home(str(home), environ) as opened:
        report = doctor(opened)
    assert not report.body["clis"]["claude"]["configured"]
    assert any("switches all hooks off" in line.sentence for line in report.lines)


CHILD = """
import os, signal, sys
from afl_core.api.home import Home
from afl_core.setup.install import apply_install, plan_install

home, step, *plugins = sys.argv[1:]

def checkpoint(done):
    if done == step:
        os.kill(os.getpid(), signal.SIGKILL)

with Home(home, {"HOME": home, "PATH": os.defpath}) as opened:
    apply_install(plan_install(opened, plugins=plugins), checkpoint)
"""


@pytest.mark.parametrize("step", ["recorded", "replaced:0", "synced:0", "replaced:1", "replaced:2", "done"])
@pytest.mark.parametrize("back", [False, True], ids=["to the folder", "back"])
def test_a_swap_that_is_killed_never_leaves_both_and_is_finished_by_the_next(home, environ, folder, child_environment, step, back):
    before, after = (("claude",), ()) if back else ((), ("claude",))
    install(home, environ, *before)
    child = subprocess.run([sys.executable, "-c", CHILD, str(home), f"settings:{step}", *after], env=child_environment)
    assert child.returncode == -signal.SIGKILL
    settings, plugin = places(home, folder)
    assert not settings & plugin
    install(home, environ, *after)
    assert places(home, folder) == ((EVENTS, set()) if back else (set(), EVENTS))
    assert folder.exists() is not back
    uninstall(home, environ)
    assert (home / ".claude/settings.json").read_bytes() == SETTINGS
    assert not folder.exists()
