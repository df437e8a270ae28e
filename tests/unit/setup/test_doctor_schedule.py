"""What the doctor says of the schedule: none is a state, one that is installed has to run, look and complete its passes."""

from __future__ import annotations

import fcntl
import os

import pytest

from afl_core.api.home import Home
from afl_core.setup.doctor import doctor
from afl_core.setup.doctor_schedule import FRESH_MS, Seen, judge
from afl_core.setup.install import apply_install, plan_install
from afl_core.setup.schedule import choose
from afl_core.setup.schedule.job import State
from afl_core.spec.health import Health
from afl_core.store import status
from afl_core.store.connection import writing

NOW = 1_767_225_600_000
WELL = Seen(True, True, True, State.RUNNING, "", "systemd", NOW - 20_000, NOW - 3_600_000, "completed", False)


@pytest.fixture
def environ(home, managers):
    return {"HOME": str(home), **managers.environ}


def examined(home, environ, clock):
    with Home(str(home), environ, clock=clock) as opened:
        found = doctor(opened)
    (line,) = [line for line in found.lines if line.name == "schedule"]
    body = found.as_json()
    return line, body["scheduler"], body["reconciliation"]


def install(home, environ, **wanted):
    with Home(str(home), environ) as opened:
        apply_install(plan_install(opened, hosts=[], **wanted))
        return opened.paths


def record(home, environ, clock, outcome):
    with Home(str(home), environ) as opened, writing(opened.db):
        status.put(opened.db, "reconcile", {"status": outcome}, clock())


@pytest.fixture
def served(home, environ, clock):
    """An installed schedule whose daemon holds its lock and looked a moment ago."""
    paths = install(home, environ, schedule=True)
    handle = os.open(paths.reconcile_lock, os.O_RDWR | os.O_CREAT, 0o600)
    fcntl.flock(handle, fcntl.LOCK_EX)
    os.utime(handle, ns=(clock() * 1_000_000, clock() * 1_000_000))
    record(home, environ, clock, "completed")
    yield handle
    os.close(handle)


def test_without_a_schedule_the_doctor_says_so_and_nothing_is_worse_for_it(home, environ, clock):
    install(home, environ)
    line, scheduler, reconciliation = examined(home, environ, clock)
    assert (line.health, scheduler["required"], scheduler["configured"], scheduler["supported"]) == (Health.ABSENT, False, False, True)
    assert "not your own home" in scheduler["reason"]
    told = {"status": "none", "ended_ms": None, "looked_ms": None, "fresh": False, "ready": True}
    assert {name: reconciliation[name] for name in told} == told


@pytest.mark.parametrize("asked", [None, False, True])
def test_the_reason_is_named(home, environ, managers, clock, monkeypatch, asked):
    monkeypatch.setattr(choose, "users_home", lambda: str(home))
    managers.say("unreachable", "systemctl")
    install(home, environ, schedule=asked)
    line, scheduler, _ = examined(home, environ, clock)
    assert line.health is Health.ABSENT
    assert ("not wanted" if asked is False else "cannot be reached") in scheduler["reason"]
    assert scheduler["supported"] is False


def test_one_that_runs_and_looked_is_well(home, environ, clock, served):
    line, scheduler, reconciliation = examined(home, environ, clock)
    assert line.health is Health.OK, line
    assert scheduler == {
        "supported": True, "configured": True, "active": True, "state": "running", "reason": None, "required": True, "manager": "systemd",
    }  # fmt: skip
    assert (reconciliation["status"], reconciliation["fresh"], reconciliation["ready"]) == ("completed", True, True)


def test_one_whose_daemon_is_gone_fails_until_install_starts_it(home, environ, managers, clock, served):
    fcntl.flock(served, fcntl.LOCK_UN)
    (managers.folder / "running").unlink()
    line, scheduler, reconciliation = examined(home, environ, clock)
    assert (line.health, line.hint, scheduler["active"], scheduler["state"]) == (Health.FAIL, "run: afl install", False, "loaded_idle")
    assert reconciliation["ready"] is False


def test_one_that_looked_too_long_ago_or_in_the_future_fails(home, environ, clock, served):
    clock.advance(ms=FRESH_MS)
    assert examined(home, environ, clock)[0].health is Health.OK
    clock.advance(ms=1)
    line, _, reconciliation = examined(home, environ, clock)
    assert (line.health, reconciliation["fresh"], reconciliation["ready"]) == (Health.FAIL, False, False)
    clock.advance(days=-2)
    assert examined(home, environ, clock)[2]["fresh"] is False


def test_a_longer_interval_may_look_less_often(home, environ, clock, served):
    path = home / ".agent/feedback-loop-data/settings.toml"
    path.write_text("reconcile_interval = 600\n", "utf-8")
    clock.advance(ms=FRESH_MS + 1)
    assert examined(home, environ, clock)[2]["fresh"] is True


def test_passes_with_errors_are_a_warning_and_not_ready(home, environ, clock, served):
    record(home, environ, clock, "completed_with_errors")
    line, _, reconciliation = examined(home, environ, clock)
    assert (line.health, reconciliation["status"], reconciliation["ready"]) == (Health.WARN, "completed_with_errors", False)


def test_a_file_that_is_gone_or_changed_fails(home, environ, managers, clock, served):
    (unit,) = managers.units.glob("*.service")
    unit.write_text("[Service]\n", "utf-8")
    assert examined(home, environ, clock)[1]["configured"] is False
    unit.unlink()
    line, scheduler, _ = examined(home, environ, clock)
    assert (line.health, line.hint, scheduler["configured"]) == (Health.FAIL, "run: afl install", False)


@pytest.mark.parametrize(
    ("change", "health"),
    [
        ({}, Health.OK),
        ({"required": False, "configured": False}, Health.OK),  # started by hand
        ({"required": False, "active": False}, Health.ABSENT),
        ({"configured": False}, Health.FAIL),
        ({"active": False}, Health.FAIL),
        ({"active": False, "state": State.UNKNOWN}, Health.FAIL),
        ({"is_late": True}, Health.FAIL),
        ({"outcome": "completed_with_errors"}, Health.WARN),
        ({"outcome": "none", "ended_ms": None}, Health.OK),  # its first pass runs
    ],
)
def test_the_verdict_of_each_state(change, health):
    import attrs

    assert judge(attrs.evolve(WELL, **change), None, NOW, is_own=True).health is health


def test_a_system_without_a_known_manager_is_told_honestly(home, environ, clock, monkeypatch):
    monkeypatch.setattr("platform.system", lambda: "Plan9")
    monkeypatch.setattr(choose, "users_home", lambda: str(home))
    with Home(str(home), environ) as opened:
        result = apply_install(plan_install(opened, hosts=[]))
    assert any(line.startswith("no schedule was installed: this system has no known service manager") for line in result.warnings)
    line, scheduler, _ = examined(home, environ, clock)
    assert (line.health, scheduler["supported"], scheduler["required"]) == (Health.ABSENT, False, False)
