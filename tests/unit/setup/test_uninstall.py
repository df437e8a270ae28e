"""Uninstall takes back what install did to hosts, byte for byte where nobody else wrote since, and never touches data or keys."""

from __future__ import annotations

import json
import os
import shutil
import subprocess

import pytest

from afl_core.api.home import Home
from afl_core.model.errors import SetupError
from afl_core.settings.paths import Paths
from afl_core.setup.install import apply_install, plan_install
from afl_core.setup.uninstall import apply_uninstall, plan_uninstall

ODD = b'{ "model" : "opus",\r\n\t"permissions":{"allow":[ ]}, "hooks":{} }'


@pytest.fixture
def environ(home):
    return {"HOME": str(home), "PATH": os.defpath}


@pytest.fixture
def settings(home, environ):
    (home / ".claude").mkdir()
    path = home / ".claude/settings.json"
    path.write_bytes(ODD)
    install(home, environ)
    assert path.read_bytes() != ODD
    return path


def install(home, environ):
    with Home(str(home), environ) as opened:
        return apply_install(plan_install(opened))


def plan(home, environ, **wanted):
    with Home(str(home), environ) as opened:
        return plan_uninstall(opened, **wanted)


def uninstall(home, environ, **wanted):
    return apply_uninstall(plan(home, environ, **wanted))


def tree(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_settings_come_back_byte_for_byte(home, environ, settings):
    uninstall(home, environ)
    assert settings.read_bytes() == ODD


def test_settings_that_were_made_go_away(home, environ):
    (home / ".claude").mkdir()
    install(home, environ)
    uninstall(home, environ)
    assert list((home / ".claude").iterdir()) == []


def test_settings_changed_since_keep_the_change_and_lose_our_hooks(home, environ, settings):
    body = json.loads(settings.read_text())
    settings.write_text(json.dumps({**body, "model": "haiku"}))
    uninstall(home, environ)
    after = json.loads(settings.read_text())
    assert after["model"] == "haiku"
    assert "hook.py" not in settings.read_text()


def test_a_plan_changes_nothing(home, environ, settings):
    before = tree(home)
    made = plan(home, environ, remove_files=True)
    assert made.steps
    assert "-" in made.edits[0].diff
    assert tree(home) == before


def test_data_and_keys_stay_and_are_named(home, environ, settings):
    paths = Paths(home)
    kept = {path: content for path, content in tree(home).items() if "-keys/" in str(path) or path.name.endswith("sqlite3")}
    result = uninstall(home, environ, remove_files=True)
    assert result.kept == (paths.data, paths.keys)
    assert not os.path.lexists(paths.pack)
    assert {path: path.read_bytes() for path in kept} == kept


def test_without_the_flag_the_pack_stays(home, environ, settings):
    uninstall(home, environ)
    assert os.path.exists(Paths(home).hook)


def test_a_second_uninstall_has_nothing_to_do(home, environ, settings):
    uninstall(home, environ, remove_files=True)
    again = uninstall(home, environ, remove_files=True)
    assert (again.changed, again.done) == (False, ())


def test_a_home_without_an_install_has_nothing_to_do(home, environ):
    assert not uninstall(home, environ, remove_files=True).changed
    assert list(home.iterdir()) == []


def test_a_pack_deleted_by_hand_can_still_be_disconnected(home, environ, settings):
    shutil.rmtree(Paths(home).pack)
    uninstall(home, environ)
    assert settings.read_bytes() == ODD


def test_a_lost_journal_still_lets_our_hooks_be_taken_out(home, environ, settings):
    os.unlink(os.path.join(Paths(home).data, "settings-journal.json"))
    uninstall(home, environ)
    assert json.loads(settings.read_text()) == {**json.loads(ODD)}


def test_settings_that_are_broken_meanwhile_stop_it_and_nothing_is_deleted(home, environ, settings):
    settings.write_bytes(b"{broken")
    with pytest.raises(SetupError) as caught:
        plan(home, environ, remove_files=True)
    assert str(settings) in caught.value.sentence
    assert os.path.exists(Paths(home).hook)


def test_install_after_uninstall_connects_again_and_uninstall_restores_again(home, environ, settings):
    uninstall(home, environ)
    install(home, environ)
    assert b"hook.py" in settings.read_bytes()
    uninstall(home, environ)
    assert settings.read_bytes() == ODD


def test_an_interrupted_deletion_is_finished(home, environ, settings):
    paths = Paths(home)
    os.rename(paths.pack, paths.pack + ".removing")
    result = uninstall(home, environ, remove_files=True)
    assert result.changed
    assert not os.path.lexists(paths.pack + ".removing")


def test_a_pack_that_is_a_link_is_not_followed(home, environ, settings, tmp_path):
    paths = Paths(home)
    os.rename(paths.pack, tmp_path / "pack")
    os.symlink(tmp_path / "pack", paths.pack)
    with pytest.raises(Exception, match="symbolic link"):
        plan(home, environ, remove_files=True)
    assert (tmp_path / "pack/hook/hook.py").exists()


def test_a_session_that_still_runs_starts_no_worker_after_uninstall(home, environ, settings):
    command = json.loads(settings.read_bytes())["hooks"]["UserPromptSubmit"][0]["hooks"][0]["command"]
    uninstall(home, environ)
    payload = json.dumps({"session_id": "s", "cwd": str(home), "prompt": "still here"}).encode()
    done = subprocess.run(["/bin/sh", "-c", command], input=payload, capture_output=True, env=environ, check=True)
    assert done.stdout == b"{}"
    with Home(str(home), environ) as opened:
        assert not os.path.lexists(opened.paths.socket)
        assert opened.db.execute("SELECT count(*) FROM intake").fetchone()[0] == 0
    install(home, environ)
    done = subprocess.run(["/bin/sh", "-c", command], input=payload, capture_output=True, env=environ, check=True)
    assert done.stdout == b"{}"
    with Home(str(home), environ) as opened:
        assert opened.db.execute("SELECT count(*) FROM intake").fetchone()[0] == 1
