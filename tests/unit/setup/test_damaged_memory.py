"""What install wrote down for itself may be damaged: that is said, mended by install, and never stands in the way of an uninstall."""

from __future__ import annotations

import json
import os

import pytest

from afl_core.api.home import Home, paths_of
from afl_core.model.errors import AflError, PathError
from afl_core.settings.paths import Paths
from afl_core.setup.doctor import doctor
from afl_core.setup.install import apply_install, plan_install
from afl_core.setup.stop import stop_worker
from afl_core.setup.uninstall import apply_uninstall, plan_uninstall
from afl_core.spec.health import Health

BEFORE = b'{\n  "model": "opus"\n}\n'
DAMAGES = {"cut": b"{bad", "empty": b"", "no object": b"[1]", "no text": b"\xff\xfe\x00", "deep": b"[" * 200_000}


@pytest.fixture
def environ(home):
    (home / ".claude").mkdir()
    (home / ".claude/settings.json").write_bytes(BEFORE)
    return {"HOME": str(home), "PATH": os.defpath}


def install(home, environ, **wanted):
    with Home(str(home), environ) as opened:
        return apply_install(plan_install(opened, **wanted))


def uninstall(home, environ, **wanted):
    with Home(str(home), environ) as opened:
        return apply_uninstall(plan_uninstall(opened, **wanted))


def examine(home, environ):
    try:
        with Home(str(home), environ) as opened:
            return doctor(opened)
    finally:
        stop_worker(paths_of(str(home), environ))


def current(home):
    return home / ".agent/feedback-loop/current.json"


def settings(home):
    return (home / ".claude/settings.json").read_bytes()


@pytest.mark.parametrize("content", DAMAGES.values(), ids=DAMAGES)
def test_a_damaged_pointer_is_reported_and_written_anew_by_install(home, environ, content):
    install(home, environ)
    before = json.loads(current(home).read_text())
    current(home).write_bytes(content)
    found = examine(home, environ)
    assert [line.hint for line in found.lines if line.name == "installed"] == ["run: afl install, which writes it anew"]
    done = install(home, environ).done
    assert any(f"write {current(home)} anew: it was damaged" in line for line in done)
    assert {**json.loads(current(home).read_text()), "installed_ms": 0} == {**before, "installed_ms": 0}
    assert not [line for line in examine(home, environ).lines if line.name == "installed"]


@pytest.mark.parametrize("content", DAMAGES.values(), ids=DAMAGES)
def test_a_damaged_pointer_does_not_keep_an_uninstall_from_disconnecting(home, environ, content):
    install(home, environ)
    current(home).write_bytes(content)
    uninstall(home, environ)
    assert settings(home) == BEFORE
    assert json.loads(current(home).read_text())["hosts"] == {}


@pytest.mark.parametrize("damage", ["damaged", "missing"])
def test_a_data_root_of_its_own_and_hosts_are_recovered_from_the_hooks_files(home, environ, tmp_path, damage):
    elsewhere = tmp_path / "my data"
    install(home, {**environ, "AFL_DATA_ROOT": str(elsewhere), "CLAUDE_CONFIG_DIR": str(home / "other")}, hosts=["claude"])
    before = json.loads(current(home).read_text())
    current(home).unlink() if damage == "missing" else current(home).write_bytes(b"{bad")
    assert paths_of(str(home), environ).data == str(elsewhere)
    install(home, environ)
    after = json.loads(current(home).read_text())
    assert (after["data_root"], after["hosts"]) == (before["data_root"], before["hosts"])
    assert settings(home) == BEFORE


def test_constants_are_read_as_data_and_never_run(home, environ, tmp_path):
    install(home, environ)
    current(home).write_bytes(b"{bad")
    constants = home / ".agent/feedback-loop/hook/constants.py"
    made = tmp_path / "made"
    constants.write_text(constants.read_text() + f"\nopen({str(made)!r}, 'w')\nDATA = open({str(made)!r}, 'w').name\n")
    assert paths_of(str(home), environ).data == Paths(home).data
    assert not made.exists()


def test_constants_of_another_home_are_not_believed(home, environ, tmp_path):
    install(home, {**environ, "AFL_DATA_ROOT": str(tmp_path / "data")})
    constants = home / ".agent/feedback-loop/hook/constants.py"
    constants.write_text(constants.read_text().replace(f"HOME = {str(home)!r}", "HOME = '/somewhere/else'"))
    current(home).write_bytes(b"{bad")
    assert paths_of(str(home), environ).data == Paths(home).data


def test_a_pointer_and_constants_that_are_both_damaged_leave_a_fresh_install(home, environ):
    install(home, environ)
    current(home).write_bytes(b"{bad")
    (home / ".agent/feedback-loop/hook/constants.py").write_bytes(b"\0(((")
    install(home, environ)
    assert json.loads(current(home).read_text())["hosts"].keys() == {"claude"}
    uninstall(home, environ)
    assert settings(home) == BEFORE


@pytest.mark.parametrize("content", [b"{bad", b'{"records": []}', b'[{"path": 1}]', b"\xff"])
def test_a_damaged_journal_is_reported_put_aside_by_install_and_no_obstacle_to_uninstall(home, environ, content):
    install(home, environ)
    journal = home / ".agent/feedback-loop-data/settings-journal.json"
    journal.write_bytes(content)
    [line] = [line for line in examine(home, environ).lines if line.name == "journal"]
    assert line.health is Health.FAIL
    assert str(journal) in line.sentence
    assert "afl install" in line.hint
    uninstalled = uninstall(home, environ)
    assert any("entry by entry" in step for step in uninstalled.done)
    assert json.loads(settings(home)) == json.loads(BEFORE)
    assert journal.with_name(journal.name + ".damaged").read_bytes() == content
    journal.write_bytes(content)
    assert any(str(journal) in step for step in install(home, environ).done)
    assert b"hook.py" in settings(home)
    assert journal.with_name(journal.name + ".damaged").read_bytes() == content
    uninstall(home, environ)
    assert b"hook.py" not in settings(home)


def test_a_relative_data_root_is_refused_by_every_command(home, environ):
    for command in (plan_install, plan_uninstall, doctor):
        with pytest.raises(PathError) as caught, Home(str(home), {**environ, "AFL_DATA_ROOT": "data"}) as opened:
            command(opened)
        assert caught.value.code == "AFL-PATH-010"
    assert list(home.iterdir()) == [home / ".claude"]


def test_a_failed_install_does_not_remember_the_host_it_could_not_connect(home, environ):
    install(home, environ, hosts=[])
    with Home(str(home), environ) as opened:
        plan = plan_install(opened, hosts=["claude"])
    (home / ".claude/settings.json").write_bytes(b'{"changed": true}')
    with pytest.raises(AflError):
        apply_install(plan)
    assert json.loads(current(home).read_text())["hosts"] == {}
    assert not [line for line in examine(home, environ).lines if line.name == "host claude" and line.health is Health.FAIL]
    assert install(home, environ, hosts=["claude"]).changed
    assert json.loads(current(home).read_text())["hosts"].keys() == {"claude"}
