"""An install or uninstall killed at any step of its schedule is finished by the next: one schedule that runs, or none and nothing of it."""

from __future__ import annotations

import os
import pathlib
import runpy
import signal
import subprocess
import sys

import pytest

from afl_core.api.home import Home
from afl_core.setup.install import apply_install, plan_install
from afl_core.setup.uninstall import apply_uninstall, plan_uninstall

STAND_INS = pathlib.Path(__file__).parents[1] / "worlds" / "service_managers.py"

INSTALL_STEPS = (
    "current:current.json", "schedule:ready", "schedule:agent-feedback-loop-reconcile-{}.service", "schedule:written", "schedule:started", "done",
)  # fmt: skip
REMOVE_STEPS = ("current:current.json", "schedule:removed", "done")
UNINSTALL_STEPS = ("journal", "schedule", "stopped", "current:ready", "done")
ACTIONS = ("daemon-reload", "enable", "restart")
"""Calls of an install after which it is killed: by the service manager's stand-in, which kills whoever asked."""

CHILD = """
import json, os, signal, sys
from afl_core.api.home import Home
from afl_core.setup.install import apply_install, plan_install
from afl_core.setup.schedule import job
from afl_core.setup.uninstall import apply_uninstall, plan_uninstall

what, step, home = sys.argv[1:]

def checkpoint(done):
    if done == step:
        os.kill(os.getpid(), signal.SIGKILL)

asked = job.call
def fatal(argv, environ):
    result = asked(argv, environ)
    if step in argv:
        os.kill(os.getpid(), signal.SIGKILL)
    return result
job.call = fatal

with Home(home) as opened:
    if what == "uninstall":
        apply_uninstall(plan_uninstall(opened), checkpoint)
    else:
        apply_install(plan_install(opened, hosts=[], schedule=what == "install"), checkpoint)
"""


@pytest.fixture
def managers(home):
    return runpy.run_path(str(STAND_INS))["ServiceManagers"](home / "managers")


@pytest.fixture
def environ(home, managers):
    return {"HOME": str(home), **managers.environ}


def killed_at(what, step, home, environ):
    environment = {**environ, "PYTHONPATH": ":".join(sys.path)}
    child = subprocess.run([sys.executable, "-c", CHILD, what, step, str(home)], env=environment, capture_output=True, timeout=120)
    assert child.returncode == -signal.SIGKILL, child.stderr.decode()


def install(home, environ, *, schedule):
    with Home(str(home), environ) as opened:
        apply_install(plan_install(opened, hosts=[], schedule=schedule))
    with Home(str(home), environ) as opened:
        assert not plan_install(opened, hosts=[]).changes


def uninstall(home, environ):
    with Home(str(home), environ) as opened:
        apply_uninstall(plan_uninstall(opened))
    with Home(str(home), environ) as opened:
        assert not plan_uninstall(opened).steps


def units(managers):
    return sorted(os.listdir(managers.units)) if managers.units.is_dir() else []


def state(managers):
    return len(units(managers)), managers.is_running(), (managers.folder / "enabled").exists()


@pytest.mark.parametrize("step", [*INSTALL_STEPS, *ACTIONS])
def test_a_kill_while_the_schedule_is_installed_is_finished_by_the_next_and_undone_whole(home, environ, managers, step):
    if "{}" in step:
        with Home(str(home), environ) as opened:
            step = step.format(plan_install(opened, hosts=[], schedule=True).schedule.job.suffix)
    killed_at("install", step, home, environ)
    install(home, environ, schedule=True)
    assert state(managers) == (1, True, True)
    uninstall(home, environ)
    assert state(managers) == (0, False, False)


@pytest.mark.parametrize("step", ["schedule:ready", "schedule:written", *ACTIONS])
def test_a_kill_while_the_schedule_is_installed_is_undone_whole_by_an_uninstall(home, environ, managers, step):
    killed_at("install", step, home, environ)
    uninstall(home, environ)
    assert state(managers) == (0, False, False)


@pytest.mark.parametrize("step", [*REMOVE_STEPS, "disable"])
def test_a_kill_while_the_schedule_is_taken_away_is_finished_by_the_next(home, environ, managers, step):
    install(home, environ, schedule=True)
    killed_at("remove", step, home, environ)
    install(home, environ, schedule=False)
    assert state(managers) == (0, False, False)


@pytest.mark.parametrize("step", [*UNINSTALL_STEPS, "disable", "reset-failed"])
def test_a_kill_during_an_uninstall_is_finished_by_the_next(home, environ, managers, step):
    install(home, environ, schedule=True)
    killed_at("uninstall", step, home, environ)
    uninstall(home, environ)
    assert state(managers) == (0, False, False)
