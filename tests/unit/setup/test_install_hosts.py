"""Which hosts are connected is remembered, and so is where their settings are."""

from __future__ import annotations

import json
import os

import pytest

from afl_core.api.home import Home
from afl_core.setup.install import apply_install, plan_install
from afl_core.setup.uninstall import apply_uninstall, plan_uninstall


@pytest.fixture
def environ(home):
    return {"HOME": str(home), "PATH": os.defpath}


def plan(home, environ, **wanted):
    with Home(str(home), environ) as opened:
        return plan_install(opened, **wanted)


def install(home, environ, **wanted):
    return apply_install(plan(home, environ, **wanted))


def uninstall(home, environ):
    with Home(str(home), environ) as opened:
        return apply_uninstall(plan_uninstall(opened))


def hooks_in(path):
    return "hooks" in json.loads(path.read_text()) if path.exists() else False


def test_another_configuration_directory_is_honoured_and_remembered(home, environ):
    work, usual = home / "work config", home / ".claude"
    work.mkdir()
    usual.mkdir()
    install(home, {**environ, "CLAUDE_CONFIG_DIR": str(work)})
    assert hooks_in(work / "settings.json")
    assert not hooks_in(usual / "settings.json")
    # A later shell that does not have the variable must not connect another directory.
    assert not plan(home, environ).changes
    uninstall(home, environ)
    assert not hooks_in(work / "settings.json")


def test_a_second_configuration_directory_is_added_and_both_are_disconnected(home, environ):
    first, second = home / "one", home / "two"
    first.mkdir()
    second.mkdir()
    install(home, {**environ, "CLAUDE_CONFIG_DIR": str(first)})
    made = plan(home, {**environ, "CLAUDE_CONFIG_DIR": str(second)})
    assert any(str(first) in warning for warning in made.warnings)
    apply_install(made)
    assert hooks_in(first / "settings.json")
    assert hooks_in(second / "settings.json")
    uninstall(home, environ)
    assert not hooks_in(first / "settings.json")
    assert not hooks_in(second / "settings.json")


def test_a_deselected_host_is_disconnected(home, environ):
    (home / ".claude").mkdir()
    install(home, environ)
    assert hooks_in(home / ".claude/settings.json")
    made = plan(home, environ, hosts=[])
    assert made.changes
    apply_install(made)
    assert not hooks_in(home / ".claude/settings.json")


def test_a_host_left_out_is_mentioned(home, environ):
    (home / ".claude").mkdir()
    assert any("not connected" in warning and "claude" in warning for warning in plan(home, environ, hosts=[]).warnings)


def test_hooks_of_other_tools_stay(home, environ):
    (home / ".claude").mkdir()
    path = home / ".claude/settings.json"
    theirs = {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "their thing"}]}]}}
    path.write_text(json.dumps(theirs))
    install(home, environ)
    assert "their thing" in path.read_text()
    uninstall(home, environ)
    assert path.read_text() == json.dumps(theirs)
