"""The earlier product of this name is recognised, left alone, and moved aside only when asked."""

from __future__ import annotations

import json
import os
import sqlite3

import pytest

from afl_core.api.home import Home
from afl_core.model.errors import SetupError
from afl_core.settings.paths import Paths
from afl_core.setup.install import apply_install, plan_install
from afl_core.setup.legacy import LABEL
from afl_core.setup.uninstall import apply_uninstall, plan_uninstall
from afl_core.store.connection import connect


@pytest.fixture
def environ(home):
    (home / ".claude").mkdir()
    return {"HOME": str(home), "PATH": os.defpath}


def plan(home, environ, **wanted):
    with Home(str(home), environ) as opened:
        return plan_install(opened, **wanted)


def tree(home):
    found = {}
    for folder, _folders, files in os.walk(home):
        for name in files:
            path = os.path.join(folder, name)
            with open(path, "rb") as handle:
                found[os.path.relpath(path, home)] = handle.read()
    return found


def old_pack(home):
    pack = home / ".agent/feedback-loop"
    for name in (
        "bin/afl-hook",
        "versions/0.9.0/bin/main.js",
        "hooks/core-hook.sh",
        "hooks/stop-hook.sh",
        "rules/feedback-loop.md",
        "current.json",
    ):
        (pack / name).parent.mkdir(parents=True, exist_ok=True)
        (pack / name).write_text('{"runtimeVersion": "0.9.0"}' if name == "current.json" else f"old {name}")


def old_store(home):
    folder = home / ".agent/feedback-loop-data/store"
    folder.mkdir(parents=True)
    db = sqlite3.connect(folder / "feedback-loop.sqlite3")
    db.execute("PRAGMA application_id = 1234")
    for table in ("store_meta", "session_events", "reviewer_jobs"):
        db.execute(f"CREATE TABLE {table} (x)")
    db.commit()
    db.close()


def old_hooks(home):
    pack = home / ".agent/feedback-loop/hooks"
    theirs = {"type": "command", "command": "/opt/other/stop-hook.sh", "timeout": 5}
    body = {
        "model": "opus",
        "hooks": {
            "UserPromptSubmit": [
                {"matcher": "", "hooks": [{"type": "command", "command": f"'{pack}/core-hook.sh' '--cli' 'claude'", "timeout": 5}]}
            ],
            "Stop": [{"matcher": "", "hooks": [{"type": "command", "command": f"'{pack}/stop-hook.sh' --mode claude"}, theirs]}],
        },
    }
    (home / ".claude/settings.json").write_text(json.dumps(body, indent=2) + "\n")


def old_agent(home):
    folder = home / "Library/LaunchAgents"
    folder.mkdir(parents=True)
    (folder / f"{LABEL}.plist").write_text("<plist/>")


MARKS = {"pack": old_pack, "store": old_store, "hooks": old_hooks, "agent": old_agent}


@pytest.mark.parametrize("mark", MARKS)
def test_each_sign_of_it_stops_an_install_and_nothing_is_changed(home, environ, mark):
    MARKS[mark](home)
    before = tree(home)
    with pytest.raises(SetupError) as caught:
        plan(home, environ)
    assert caught.value.code == "AFL-SETUP-027"
    assert "--replace-existing" in caught.value.hint
    assert tree(home) == before


def test_when_asked_it_is_moved_aside_whole_and_ours_takes_its_place(home, environ):
    for make in MARKS.values():
        make(home)
    before = tree(home)
    made = plan(home, environ, replace_existing=True)
    assert tree(home) == before
    done = apply_install(made).done
    after = tree(home)
    for name, content in before.items():
        if name.startswith(".agent/feedback-loop/"):
            assert after[name.replace("feedback-loop/", "feedback-loop.reference/", 1)] == content
    assert (
        after[".agent/feedback-loop-data/store.reference/feedback-loop.sqlite3"]
        == before[".agent/feedback-loop-data/store/feedback-loop.sqlite3"]
    )
    assert not (home / f"Library/LaunchAgents/{LABEL}.plist").exists()
    assert after[f".agent/feedback-loop-data/backups/{LABEL}.plist.reference"] == b"<plist/>"
    assert any("feedback-loop.reference" in line for line in done)
    connect(Paths(home).database).close()
    assert b"old rules" not in after[".agent/feedback-loop/rules/feedback-loop.md"]
    settings = after[".claude/settings.json"].decode()
    assert "core-hook.sh" not in settings
    assert settings.count("stop-hook.sh") == 1
    assert "/opt/other/stop-hook.sh" in settings
    assert "feedback-loop/hook/hook.py" in settings
    assert not plan(home, environ).changes


def test_an_uninstall_afterwards_does_not_bring_its_dead_hooks_back(home, environ):
    old_pack(home)
    old_hooks(home)
    apply_install(plan(home, environ, replace_existing=True))
    with Home(str(home), environ) as opened:
        apply_uninstall(plan_uninstall(opened))
    settings = (home / ".claude/settings.json").read_text()
    assert "core-hook.sh" not in settings
    assert "hook.py" not in settings
    assert "/opt/other/stop-hook.sh" in settings


def test_another_tools_stop_hook_alone_is_no_sign_of_it(home, environ):
    body = {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "/opt/other/stop-hook.sh"}]}]}}
    (home / ".claude/settings.json").write_text(json.dumps(body))
    assert plan(home, environ).changes


def test_moving_aside_twice_keeps_both(home, environ):
    old_pack(home)
    apply_install(plan(home, environ, replace_existing=True))
    old_pack(home)
    apply_install(plan(home, environ, replace_existing=True))
    assert (home / ".agent/feedback-loop.reference/bin/afl-hook").exists()
    assert (home / ".agent/feedback-loop.reference-2/bin/afl-hook").exists()
