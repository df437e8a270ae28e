"""What each service manager is asked, and what is made of its answers."""

from __future__ import annotations

import os

import pytest

from afl_core.model.errors import SetupError
from afl_core.settings.paths import Paths
from afl_core.setup.schedule.choose import is_own_home, manager_of, search_path, users_home
from afl_core.setup.schedule.job import Job, State
from afl_core.setup.schedule.launchd import Launchd
from afl_core.setup.schedule.systemd import Systemd
from afl_core.setup.schedule.windows import WindowsTask

JOB = Job("/home/me", "", ("/usr/bin/python3", "-I", "-S", "/home/me/hook/schedule.py"), "/home/me/logs/reconcile.log", "/bin")
UNIT = "agent-feedback-loop-reconcile.service"
TARGET = f"gui/{os.getuid()}/dev.agent-feedback-loop.reconcile"


def systemd(managers):
    return Systemd(managers.environ, str(managers.units))


def launchd(managers, pauses=None):
    return Launchd(managers.environ, str(managers.folder), [].append if pauses is None else pauses.append)


def windows(managers):
    return WindowsTask(managers.environ, str(managers.folder))


ALL = pytest.mark.parametrize("make", [systemd, launchd, windows])


@ALL
def test_a_job_is_unknown_then_runs_then_is_gone(managers, make):
    one = make(managers)
    assert one.refusal() == ""
    assert one.state(JOB) is State.UNLOADED
    one.start(JOB)
    assert one.state(JOB) is State.RUNNING
    (managers.folder / "running").unlink()
    assert one.state(JOB) is State.IDLE
    one.stop(JOB)
    one.forget(JOB)
    assert one.state(JOB) is State.UNLOADED
    one.stop(JOB)  # nothing is there: no error


def test_systemd_reads_the_unit_anew_enables_it_and_starts_it_again(managers):
    systemd(managers).start(JOB)
    assert managers.changing() == ["--user daemon-reload", f"--user enable {UNIT}", f"--user restart {UNIT}"]


def test_launchd_unloads_loads_and_starts(managers):
    launchd(managers).start(JOB)
    plist = str(managers.folder / "dev.agent-feedback-loop.reconcile.plist")
    assert managers.changing() == [f"bootout {TARGET}", f"bootstrap gui/{os.getuid()} {plist}", f"kickstart -k {TARGET}"]


def test_loading_is_tried_again_with_longer_pauses_and_given_up_after_the_fifth_time(managers):
    pauses = []
    managers.say("failing", "bootstrap|4")
    launchd(managers, pauses).start(JOB)
    assert pauses == [0.1, 0.2, 0.4, 0.8]
    assert managers.is_running()
    managers.say("failing", "bootstrap|99")
    with pytest.raises(SetupError) as caught:
        launchd(managers).start(JOB)
    assert caught.value.code == "AFL-SETUP-041"
    assert "it does not want to" in caught.value.sentence


@ALL
def test_a_manager_that_cannot_be_reached_says_why(managers, make):
    managers.say("unreachable", "systemctl launchctl schtasks")
    assert make(managers).refusal()
    with pytest.raises(SetupError):
        make(managers).start(JOB)
    managers.environ["PATH"] = str(managers.folder / "nothing")
    assert "not there" in make(managers).refusal() or "cannot be run" in make(managers).refusal()
    assert make(managers).state(JOB) is State.UNKNOWN


def test_where_systemd_cannot_be_asked_the_link_that_enables_the_unit_goes_all_the_same(managers):
    wants = managers.units / "default.target.wants"
    wants.mkdir(parents=True)
    os.symlink("/nowhere", wants / UNIT)
    managers.say("unreachable", "systemctl")
    systemd(managers).stop(JOB)
    assert os.listdir(wants) == []


def test_each_system_has_its_manager_and_an_unknown_one_has_none():
    paths = Paths("/h")
    mac = manager_of(paths, {}, "Darwin", "/me")
    assert mac.place(JOB) == "/me/Library/LaunchAgents/dev.agent-feedback-loop.reconcile.plist"
    assert manager_of(paths, {}, "Linux", "/me").place(JOB) == f"/me/.config/systemd/user/{UNIT}"
    assert manager_of(paths, {"XDG_CONFIG_HOME": "/x"}, "Linux", "/me").place(JOB) == f"/x/systemd/user/{UNIT}"
    assert manager_of(paths, {"XDG_CONFIG_HOME": "rel"}, "Linux", "/me").place(JOB) == f"/me/.config/systemd/user/{UNIT}"
    assert manager_of(paths, {}, "Windows", "/me").place(JOB) == "/h/.agent/feedback-loop/reconcile-task.xml"
    assert manager_of(paths, {}, "Plan9", "/me") is None


def test_the_persons_own_home_is_the_systems_not_the_variables(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    assert not is_own_home(str(tmp_path))
    assert is_own_home(users_home())


def test_a_remembered_path_stays_while_every_host_is_found_on_it(tmp_path):
    for name in ("old", "new"):
        (tmp_path / name).mkdir()
    claude = tmp_path / "old" / "claude"
    claude.write_text("#!/bin/sh\n")
    claude.chmod(0o700)
    kept, now = str(tmp_path / "old"), {"PATH": f"{tmp_path / 'new'}:relative::{tmp_path / 'new'}:/bin"}
    assert search_path(now, kept, [str(claude)]) == kept
    assert search_path(now, kept, [str(tmp_path / "new" / "claude")]) == f"{tmp_path / 'new'}:/bin"
    assert search_path(now, "", []) == f"{tmp_path / 'new'}:/bin"
    assert search_path({}, "", []) == "/usr/local/bin:/usr/bin:/bin"
