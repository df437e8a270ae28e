"""A plan says everything and writes nothing; applying it makes what it said, and nothing the second time."""

from __future__ import annotations

import json
import os
import stat
import sys

import pytest

from afl_core.api.home import Home
from afl_core.model.errors import AflError, PathError, SettingsError, SetupError, StoreError
from afl_core.settings.paths import Paths
from afl_core.setup.install import apply_install, plan_install
from afl_core.store.connection import connect
from afl_core.vault.keys import load_public

BEFORE = b'{\n  "model": "opus"\n}\n'


@pytest.fixture
def environ(home):
    return {"HOME": str(home), "PATH": os.defpath}


@pytest.fixture
def settings(home):
    (home / ".claude").mkdir()
    path = home / ".claude" / "settings.json"
    path.write_bytes(BEFORE)
    return path


def plan(home, environ, **wanted):
    with Home(str(home), environ) as opened:
        return plan_install(opened, **wanted)


def install(home, environ, **wanted):
    return apply_install(plan(home, environ, **wanted))


def everything(home):
    """Every entry below the home with what a write would change."""
    found = {}
    for folder, folders, files in os.walk(home):
        for name in (*folders, *files, "."):
            seen = os.lstat(os.path.join(folder, name))
            found[os.path.join(folder, name)] = (seen.st_mode, seen.st_ino, seen.st_mtime_ns, seen.st_size)
    return found


def test_a_plan_writes_nothing_at_all(home, environ, settings):
    before = everything(home)
    made = plan(home, environ)
    assert made.changes
    assert any("create the database" in step for step in made.steps)
    assert [edit.path for edit in made.edits] == [settings]
    assert "+" in made.edits[0].diff
    assert "UserPromptSubmit" in made.edits[0].diff
    assert everything(home) == before


def test_a_plan_over_an_install_writes_nothing_either(home, environ, settings):
    install(home, environ)
    before = everything(home)
    assert not plan(home, environ).changes
    assert everything(home) == before


def test_a_second_install_writes_nothing(home, environ, settings):
    install(home, environ)
    before = everything(home)
    result = install(home, environ)
    assert (result.changed, result.done) == (False, ())
    assert everything(home) == before


def test_an_install_makes_private_directories_keys_database_and_pointer(home, environ, settings):
    result = install(home, environ)
    paths = Paths(home)
    for folder in (
        paths.pack,
        paths.data,
        paths.keys,
        paths.run,
        paths.spool,
        os.path.dirname(paths.database),
        paths.blobs,
        paths.logs,
        paths.contexts,
        paths.backups,
    ):
        assert stat.S_IMODE(os.stat(folder).st_mode) == 0o700, folder
    for folder, _folders, files in os.walk(paths.pack):
        for name in files:
            assert stat.S_IMODE(os.stat(os.path.join(folder, name)).st_mode) == 0o600, name
    load_public(paths)
    connect(paths.database).close()
    current = json.loads((home / ".agent/feedback-loop/current.json").read_text())
    assert current["build"] == result.build
    assert current["python"] == sys.executable
    assert (current["home"], current["data_root"]) == (str(home), paths.data)
    assert current["hosts"] == {"claude": {"config_dir": str(home / ".claude"), "settings_path": str(settings)}}
    assert " " not in current["build"]


def test_each_host_event_gets_one_command_that_is_ours(home, environ, settings):
    install(home, environ)
    written = json.loads(settings.read_text())
    assert written["model"] == "opus"
    assert set(written["hooks"]) == {"UserPromptSubmit", "Stop", "SessionStart", "SessionEnd"}
    for event, groups in written["hooks"].items():
        [handler] = groups[0]["hooks"]
        assert handler["command"].endswith(f" claude {event} 2>/dev/null || :")


def test_the_warning_about_an_unprotected_key_is_said(home, environ, settings):
    assert any("unprotected" in warning for warning in plan(home, environ).warnings)


def test_a_host_that_is_not_here_is_not_connected_and_that_is_said(home, environ):
    made = plan(home, environ)
    assert made.hosts == ()
    assert any("no coding agent is connected" in warning for warning in made.warnings)
    apply_install(made)
    assert not (home / ".claude").exists()


def test_a_named_host_that_was_never_started_gets_its_directory(home, environ):
    made = plan(home, environ, hosts=["claude"])
    assert any("its directory is made" in step for step in made.steps)
    assert "UserPromptSubmit" in made.edits[0].diff
    assert not (home / ".claude").exists()
    apply_install(made)
    assert "hooks" in json.loads((home / ".claude/settings.json").read_text())


def test_an_unknown_host_is_refused_with_the_known_ones_named(home, environ):
    with pytest.raises(SetupError) as caught:
        plan(home, environ, hosts=["clod"])
    assert "claude" in caught.value.hint


@pytest.mark.parametrize("content", [b"{broken", b'{"a": 1} // no', b'{"hooks": []}'])
def test_settings_that_cannot_be_edited_stop_the_plan_and_nothing_is_touched(home, environ, settings, content):
    settings.write_bytes(content)
    before = everything(home)
    with pytest.raises(SetupError) as caught:
        plan(home, environ)
    assert str(settings) in caught.value.sentence
    assert everything(home) == before


def test_settings_changed_after_the_plan_are_not_overwritten(home, environ, settings):
    made = plan(home, environ)
    settings.write_bytes(b'{"model": "haiku"}')
    with pytest.raises(SetupError):
        apply_install(made)
    assert settings.read_bytes() == b'{"model": "haiku"}'
    assert install(home, environ).changed
    assert json.loads(settings.read_text())["model"] == "haiku"


@pytest.mark.parametrize("root", [".agent/feedback-loop", ".agent/feedback-loop-data", ".agent/feedback-loop-keys", ".agent"])
def test_a_root_that_is_a_link_is_refused_before_anything_is_copied(home, environ, settings, tmp_path, root):
    place = home / root
    place.parent.mkdir(exist_ok=True)
    place.symlink_to(tmp_path)
    before = everything(home)
    with pytest.raises(PathError) as caught:
        plan(home, environ)
    assert caught.value.code == "AFL-PATH-002"
    assert everything(home) == before
    assert list(tmp_path.iterdir()) == []


def test_a_root_that_is_a_file_is_refused(home, environ):
    (home / ".agent").mkdir()
    (home / ".agent/feedback-loop-data").write_text("x")
    with pytest.raises(PathError) as caught:
        plan(home, environ)
    assert caught.value.code == "AFL-PATH-003"


def test_a_read_only_home_is_refused_with_a_hint(home, environ):
    home.chmod(0o500)
    try:
        with pytest.raises(PathError) as caught:
            plan(home, environ)
    finally:
        home.chmod(0o700)
    assert "sandbox" in caught.value.hint
    assert list(home.iterdir()) == []


def test_a_home_that_is_no_directory_is_refused(home, environ):
    with pytest.raises(SetupError) as caught:
        plan(home / "nowhere", environ)
    assert caught.value.code == "AFL-SETUP-020"


def test_a_loose_directory_is_named_in_the_plan_and_tightened(home, environ, settings):
    install(home, environ)
    loose = home / ".agent/feedback-loop-data"
    loose.chmod(0o755)
    made = plan(home, environ)
    assert [step for step in made.steps if "0755" in step]
    assert stat.S_IMODE(loose.stat().st_mode) == 0o755
    apply_install(made)
    assert stat.S_IMODE(loose.stat().st_mode) == 0o700


def test_broken_settings_of_ours_are_refused(home, environ):
    data = home / ".agent/feedback-loop-data"
    data.mkdir(parents=True, mode=0o700)
    (data / "settings.toml").write_text("nonsense = 1\n")
    with pytest.raises(SettingsError):
        plan(home, environ)


def test_a_newer_database_is_refused_with_both_versions_named(home, environ, settings):
    install(home, environ)
    path = Paths(home).database
    db = connect(path)
    db.execute("PRAGMA journal_mode = DELETE")
    db.execute("PRAGMA user_version = 999")
    db.close()
    with pytest.raises(StoreError) as caught:
        plan(home, environ)
    assert "999" in caught.value.sentence
    assert caught.value.code == "AFL-STORE-003"


@pytest.mark.parametrize("python", ["python3", "", "/nowhere/python", "/etc/passwd", "/bin/ls"])
def test_a_python_that_cannot_run_hooks_is_refused(home, environ, python):
    before = everything(home)
    with pytest.raises(AflError) as caught:
        plan(home, environ, python=python)
    assert caught.value.code in ("AFL-SETUP-021", "AFL-SETUP-022")
    assert everything(home) == before


def test_a_script_that_picks_a_python_is_resolved_and_that_is_said(home, environ, settings):
    shim = home / "shim python"
    shim.write_text(f"#!/bin/sh\nexec '{sys.executable}' \"$@\"\n")
    shim.chmod(0o700)
    made = plan(home, environ, python=str(shim))
    assert any(str(shim) in warning for warning in made.warnings)
    apply_install(made)
    assert str(shim) not in settings.read_text()
    assert sys.executable in settings.read_text()


def test_keys_that_went_away_are_made_anew_with_a_warning(home, environ, settings):
    install(home, environ)
    for name in ("vault.pub", "vault.key"):
        (home / ".agent/feedback-loop-keys" / name).unlink()
    made = plan(home, environ)
    assert any("cannot be opened" in warning for warning in made.warnings)
    apply_install(made)
    load_public(Paths(home))


def test_another_data_root_is_remembered(home, environ, settings, tmp_path):
    elsewhere = tmp_path / "my data"
    install(home, {**environ, "AFL_DATA_ROOT": str(elsewhere)})
    assert (elsewhere / "store/feedback-loop.sqlite3").exists()
    before = everything(home)
    assert not plan(home, environ).changes
    assert everything(home) == before


def test_a_chosen_passphrase_keystore_without_a_passphrase_is_refused(home, environ):
    with pytest.raises(AflError) as caught:
        plan(home, {**environ, "AFL_KEYSTORE": "passphrase"})
    assert "AFL_PASSPHRASE" in caught.value.sentence
