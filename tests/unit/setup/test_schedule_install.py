"""Install decides whether a home gets a schedule, says so, remembers it, and asks the service manager once; uninstall leaves nothing of it."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
import time

import pytest

from afl_core.api.home import Home
from afl_core.settings.paths import Paths
from afl_core.setup.install import apply_install, plan_install
from afl_core.setup.schedule import choose
from afl_core.setup.stop import daemons_of
from afl_core.setup.uninstall import apply_uninstall, plan_uninstall
from afl_core.worker.manifests import parse


@pytest.fixture
def environ(home, managers):
    (home / ".claude").mkdir()
    return {"HOME": str(home), **managers.environ}


@pytest.fixture
def own(monkeypatch, home):
    """The home under test is the person's own."""
    monkeypatch.setattr(choose, "users_home", lambda: str(home))


def plan(home, environ, **wanted):
    with Home(str(home), environ) as opened:
        return plan_install(opened, **wanted)


def install(home, environ, **wanted):
    return apply_install(plan(home, environ, **wanted))


def uninstall(home, environ, *, remove_files=False):
    with Home(str(home), environ) as opened:
        return apply_uninstall(plan_uninstall(opened, remove_files))


def units(managers):
    return sorted(os.listdir(managers.units)) if managers.units.is_dir() else []


def remembered(home):
    return json.loads((home / ".agent/feedback-loop/current.json").read_text("utf-8")).get("schedule")


def is_told(home):
    """Whether the front knows that there is a schedule."""
    return parse((home / ".agent/feedback-loop/front.json").read_text("utf-8")).scheduled


def test_the_persons_own_home_gets_a_schedule_that_runs(home, environ, managers, own):
    planned = plan(home, environ)
    unit = managers.units / "agent-feedback-loop-reconcile.service"
    assert planned.steps[-2:] == (f"write {unit}", "start the schedule (systemd)")
    assert f"+ConditionPathExists={planned.paths.hook_dir}/schedule.py" in planned.edits[-1].diff.splitlines()
    assert managers.changing() == []
    result = apply_install(planned)
    assert f"write {unit}" in result.done
    assert stat.S_IMODE(unit.stat().st_mode) == 0o600
    assert f'"{planned.paths.hook_dir}/schedule.py"' in unit.read_text("utf-8")
    assert managers.is_running()
    assert is_told(home)
    assert remembered(home) == {"wanted": None, "manager": "systemd", "file": str(unit), "path": environ["PATH"]}
    managers.forget()
    assert not plan(home, environ).changes
    assert not plan(home, {**environ, "PATH": f"{environ['PATH']}:/elsewhere"}).changes
    assert managers.changing() == []


def test_another_home_gets_none_unless_it_is_asked_for_and_then_one_of_its_own_name(home, environ, managers):
    result = install(home, environ)
    assert (units(managers), remembered(home), is_told(home)) == ([], None, False)
    assert not any(line.startswith(("no schedule", "start the schedule", "the schedule")) for line in (*result.done, *result.warnings))
    assert managers.calls() == []
    install(home, environ, schedule=True)
    (unit,) = units(managers)
    assert unit.startswith("agent-feedback-loop-reconcile-")
    assert remembered(home)["wanted"] is True
    assert is_told(home)
    assert not plan(home, environ).changes  # remembered


def test_no_schedule_takes_it_away_and_is_remembered(home, environ, managers, own):
    install(home, environ)
    planned = plan(home, environ, schedule=False)
    assert f"stop the schedule and delete {managers.units / 'agent-feedback-loop-reconcile.service'}" in planned.steps
    apply_install(planned)
    assert (units(managers), managers.is_running(), remembered(home), is_told(home)) == ([], False, {"wanted": False}, False)
    assert not plan(home, environ).changes
    install(home, environ, schedule=True)
    assert managers.is_running()


@pytest.mark.parametrize("how", ["unreachable", "missing"])
def test_where_no_service_manager_can_be_used_install_says_so_in_one_line_and_works(home, environ, managers, own, how):
    if how == "missing":
        environ["PATH"] = os.defpath if not os.path.exists("/usr/bin/systemctl") else str(home / "nothing")
    managers.say("unreachable", "systemctl")
    result = install(home, environ)
    (note,) = [line for line in result.warnings if line.startswith("no schedule was installed: ")]
    assert note.endswith("what hooks miss is read while the worker runs, or by: afl reconcile")
    assert (units(managers), is_told(home)) == ([], False)
    assert not plan(home, environ).changes


def test_an_install_from_a_session_without_a_bus_leaves_the_schedule_alone(home, environ, managers, own):
    install(home, environ)
    managers.say("unreachable", "systemctl")
    planned = plan(home, environ)
    assert not planned.changes
    assert planned.schedule.note == ""


def test_a_file_with_other_content_is_kept_as_a_backup_and_replaced(home, environ, managers, own):
    install(home, environ)
    unit = managers.units / "agent-feedback-loop-reconcile.service"
    unit.write_text("[Service]\nExecStart=/bin/other\n", "utf-8")
    unit.chmod(0o600)
    managers.forget()
    planned = plan(home, environ)
    assert planned.steps == (f"replace {unit}", "start the schedule (systemd)")
    apply_install(planned)
    assert "schedule.py" in unit.read_text("utf-8")
    assert "--user restart agent-feedback-loop-reconcile.service" in managers.changing()
    kept = [
        path for path in (home / ".agent/feedback-loop-data/backups").iterdir() if path.name.startswith("agent-feedback-loop-reconcile")
    ]
    assert [path.read_text("utf-8") for path in kept] == ["[Service]\nExecStart=/bin/other\n"]
    assert len(units(managers)) == 1


def test_a_schedule_that_does_not_run_is_started(home, environ, managers, own):
    install(home, environ)
    (managers.folder / "running").unlink()
    assert plan(home, environ).steps == ("start the schedule (systemd)",)
    install(home, environ)
    assert managers.is_running()


def test_a_manager_that_refuses_is_a_note_and_the_next_install_tries_again(home, environ, managers, own):
    managers.say("failing", "restart|1")
    result = install(home, environ)
    assert any(line.startswith("the schedule does not run: ") and "it does not want to" in line for line in result.warnings)
    assert not managers.is_running()
    assert install(home, environ).warnings == plan(home, environ).warnings
    assert managers.is_running()


def test_a_schedule_whose_place_changed_stands_there_alone(home, environ, managers, own):
    install(home, environ)
    moved = {**environ, "XDG_CONFIG_HOME": str(home / "moved")}
    planned = plan(home, moved)
    assert f"stop the schedule and delete {managers.units / 'agent-feedback-loop-reconcile.service'}" in planned.steps
    apply_install(planned)
    assert units(managers) == []
    assert os.listdir(home / "moved/systemd/user") == ["agent-feedback-loop-reconcile.service"]
    assert managers.is_running()
    assert not plan(home, moved).changes


def test_a_home_that_no_service_file_can_hold_is_installed_without(home, environ, managers, monkeypatch):
    strange = home / "a\nb"
    strange.mkdir(mode=0o700)
    monkeypatch.setattr(choose, "users_home", lambda: str(strange))
    result = install(strange, {**environ, "HOME": str(strange)})
    assert any("no service file can hold" in line for line in result.warnings)
    assert units(managers) == []


@pytest.mark.parametrize("remove_files", [False, True])
def test_uninstall_leaves_nothing_of_the_schedule(home, environ, managers, own, remove_files):
    install(home, environ)
    result = uninstall(home, environ, remove_files=remove_files)
    assert f"stop the schedule and delete {managers.units / 'agent-feedback-loop-reconcile.service'}" in result.done
    assert (units(managers), managers.is_running(), (managers.folder / "enabled").exists()) == ([], False, False)
    assert managers.changing()[-2:] == ["--user daemon-reload", "--user reset-failed agent-feedback-loop-reconcile.service"]
    assert remove_files or remembered(home) is None
    assert not uninstall(home, environ, remove_files=remove_files).changed


def test_uninstall_finds_the_schedule_though_nothing_was_remembered_and_nobody_can_be_asked(home, environ, managers, own):
    install(home, environ)
    (home / ".agent/feedback-loop/current.json").write_text("{", "utf-8")
    managers.say("unreachable", "systemctl")
    uninstall(home, environ)
    assert units(managers) == []


def test_uninstall_ends_a_daemon_however_it_was_started(home, environ):
    install(home, environ)
    script = os.path.join(Paths(home).hook_dir, "schedule.py")
    child = subprocess.Popen([sys.executable, "-I", "-S", script], env=environ)
    try:
        end = time.monotonic() + 60
        while not os.path.exists(Paths(home).reconcile_lock):
            assert time.monotonic() < end
            time.sleep(0.02)
        assert [one.pid for one in daemons_of(Paths(home))] == [child.pid]
        with Home(str(home), environ) as opened:
            assert f"stop the reconcile daemon (process {child.pid})" in plan_uninstall(opened).steps
        assert f"stopped the reconcile daemon (process {child.pid})" in uninstall(home, environ).done
        assert child.wait(60) in (0, -15)  # -15: it was told before it listened
    finally:
        child.kill()
        child.wait()


def test_a_folder_that_cannot_be_written_is_a_note(home, environ, managers, own):
    (managers.folder / "config").write_text("in the way", "utf-8")
    result = install(home, environ)
    assert any(line.startswith("the schedule does not run: ") for line in result.warnings)
