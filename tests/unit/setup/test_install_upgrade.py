"""Installing again upgrades: it says what changed, and the command in a host's settings stays the same word for word."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys

import pytest

from afl_core.api.home import Home
from afl_core.settings.paths import Paths
from afl_core.setup.install import apply_install, plan_install
from afl_core.store.connection import connect


@pytest.fixture
def environ(home):
    (home / ".claude").mkdir()
    return {"HOME": str(home), "PATH": os.defpath}


def plan(home, environ, **wanted):
    with Home(str(home), environ) as opened:
        return plan_install(opened, **wanted)


def install(home, environ, **wanted):
    return apply_install(plan(home, environ, **wanted))


def constants(home):
    names: dict[str, object] = {}
    exec((home / ".agent/feedback-loop/hook/constants.py").read_text(), names)
    return names


def test_a_changed_setting_reaches_hook_and_front_and_changes_the_build_but_not_the_settings(home, environ):
    first = install(home, environ)
    settings = (home / ".claude/settings.json").read_bytes()
    (home / ".agent/feedback-loop-data/settings.toml").write_text('reviewer_env_allowlist = "MY_LOGIN, OTHER"\nmemory_enabled = false\n')
    second = install(home, environ)
    assert second.build != first.build
    assert any(f"from {first.build} to {second.build}" in line for line in second.done)
    assert (constants(home)["ALLOW"], constants(home)["BUILD"]) == (("MY_LOGIN", "OTHER"), second.build)
    assert json.loads((home / ".agent/feedback-loop/front.json").read_text())["memory_enabled"] is False
    assert (home / ".claude/settings.json").read_bytes() == settings
    assert json.loads((home / ".agent/feedback-loop/current.json").read_text())["build"] == second.build


def test_a_variable_of_one_shell_is_not_written_down(home, environ):
    install(home, {**environ, "AGENT_FEEDBACK_LOOP_MEMORY_ENABLED": "0"})
    assert json.loads((home / ".agent/feedback-loop/front.json").read_text())["memory_enabled"] is True


def test_a_damaged_hook_file_is_put_right(home, environ):
    install(home, environ)
    (home / ".agent/feedback-loop/hook/client.py").write_text("")
    result = install(home, environ)
    assert any("hook" in line for line in result.done)
    assert "def main" in (home / ".agent/feedback-loop/hook/client.py").read_text()


def test_a_hook_file_of_an_earlier_version_is_removed(home, environ):
    install(home, environ)
    stale = home / ".agent/feedback-loop/hook/gone.py"
    stale.write_text("")
    assert any(str(stale) in line for line in install(home, environ).done)
    assert not stale.exists()


def test_another_python_changes_the_command_and_that_is_said(home, environ):
    install(home, environ)
    folder = home / "other"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", "--symlinks", folder], check=True)
    other = str(folder / "bin/python")
    [site] = (folder / "lib").glob("python3*/site-packages")
    (site / "all.pth").write_text("".join(f"{entry}\n" for entry in constants(home)["SITE"]))
    made = plan(home, environ, python=other)
    assert any("command in each host's settings changes" in warning for warning in made.warnings)
    apply_install(made)
    text = (home / ".claude/settings.json").read_text()
    assert other in text
    assert text.count("feedback-loop/hook/hook.py' claude Stop") == 1
    shutil.rmtree(folder)


def test_an_older_database_is_migrated_after_a_copy(home, environ, monkeypatch):
    install(home, environ)
    path = Paths(home).database
    import afl_core.setup.database
    import afl_core.setup.install
    import afl_core.store.connection
    import afl_core.store.migrate
    from afl_core.store.schema import MIGRATIONS, SCHEMA_VERSION

    for module in (afl_core.store.connection, afl_core.store.migrate, afl_core.setup.database, afl_core.setup.install):
        monkeypatch.setattr(module, "SCHEMA_VERSION", SCHEMA_VERSION + 1)
    monkeypatch.setattr(afl_core.store.migrate, "MIGRATIONS", (*MIGRATIONS, "CREATE TABLE new_thing (x INTEGER);"))
    made = plan(home, environ)
    assert any(f"from schema {SCHEMA_VERSION} to {SCHEMA_VERSION + 1}" in step for step in made.steps)
    apply_install(made)
    db = connect(path)
    assert db.execute("SELECT count(*) FROM new_thing").fetchone()[0] == 0
    db.close()
    assert [name for name in os.listdir(Paths(home).backups) if name.startswith("feedback-loop.sqlite3.")]
    assert not plan(home, environ).changes
