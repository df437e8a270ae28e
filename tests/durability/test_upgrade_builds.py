"""Upgrades with real builds and real processes: old hooks and new workers, new hooks and old ones, another Python, none, a way back, a kill in the middle."""

from __future__ import annotations

import importlib.util
import json
import os
import pathlib
import shutil
import socket
import sys
import threading

import pytest

from afl_core.setup.fire import fire_health
from afl_core.store.schema import SCHEMA_VERSION

_PATH = pathlib.Path(__file__).with_name("two_builds.py")
_SPEC = importlib.util.spec_from_file_location("two_builds", _PATH)
assert _SPEC is not None
assert _SPEC.loader is not None
two_builds = importlib.util.module_from_spec(_SPEC)
sys.modules.setdefault("two_builds", two_builds)
_SPEC.loader.exec_module(two_builds)

MIGRATED = {
    "store__schema": (
        "SCHEMA_VERSION = len(MIGRATIONS)",
        'MIGRATIONS += (marked(len(MIGRATIONS) + 1, "CREATE TABLE later (x);"),)\nSCHEMA_VERSION = len(MIGRATIONS)',
    )
}
"""A release that has one more migration."""

pytestmark = pytest.mark.skipif(os.name != "posix", reason="hooks are for POSIX systems")


@pytest.fixture
def machine(home):
    made = two_builds.Machine(home)
    made.put("0.0.9")
    made.afl("install")
    return made


def by_what(body):
    found = {}
    for one in body["changes"]:
        found.setdefault(one["what"], []).append((one["from"], one["to"]))
    return found


def test_an_upgrade_is_noticed_and_says_what_changed_and_the_hosts_settings_stay(machine):
    settings = (machine.home / ".claude/settings.json").read_bytes()
    machine.put("0.1.0", **MIGRATED)
    noticed = machine.json("doctor", status=1)
    assert any("the packages here make 0.1.0+" in line["sentence"] and line["hint"] == "run: afl install" for line in noticed["lines"])
    assert (noticed["runtime"]["runtimeVersion"], noticed["runtime"]["expectedVersion"]) == ("0.0.9", "0.1.0")
    planned = machine.json("install", "--dry-run")
    done = machine.json("install")
    assert planned["changes"] == done["changes"]
    found = by_what(done)
    assert found["version"] == [("0.0.9", "0.1.0")]
    assert found["schema"] == [(SCHEMA_VERSION, SCHEMA_VERSION + 1)]
    assert found["hook_file"] == [(None, "client.py"), (None, "constants.py")]
    assert "settings" not in found
    assert "python" not in found
    assert "change the version from 0.0.9 to 0.1.0" in done["done"]
    assert any("in place: client.py, constants.py" in line for line in done["done"])
    assert (machine.home / ".claude/settings.json").read_bytes() == settings
    after = machine.json("doctor", "--live")
    assert (after["verdict"], after["live"]["claude"]["status"]) == ("healthy", "healthy")
    assert machine.json("install")["changes"] == []


def test_an_old_worker_serves_new_hooks_once_more_and_makes_way(machine):
    assert json.loads(machine.prompt("before")) == {}
    old = machine.front()
    machine.put("0.1.0")
    build = machine.json("install")["build"]
    assert (
        machine.front()["pid"] == old["pid"]
    )  # asked by no hook: it compares itself with what is installed only when another build speaks
    for name in ("first", "second", "third"):
        assert json.loads(machine.prompt(name)) == {}
    machine.arrived("before", "first", "second", "third")
    machine.wait(lambda: fire_health(machine.command(), machine.environ, str(machine.home)).health["build"] == build)
    assert machine.front()["pid"] != old["pid"]
    assert machine.spooled() == 0


def test_a_new_worker_serves_old_hooks_that_a_host_still_runs(machine):
    kept = machine.home / "kept"
    shutil.copytree(machine.paths.hook_dir, kept)
    old = machine.command().replace(machine.paths.hook_dir, str(kept))
    machine.put("0.1.0")
    build = machine.json("install")["build"]
    assert json.loads(machine.prompt("new")) == {}
    front = machine.front()
    assert front["build"] == build
    for name in ("old-1", "old-2"):
        assert json.loads(machine.prompt(name, old)) == {}
    machine.arrived("new", "old-1", "old-2")
    assert machine.front()["pid"] == front["pid"]


def test_prompts_while_an_upgrade_runs_are_answered_or_kept_and_none_is_lost(machine):
    machine.prompt("start")
    stop, sent = threading.Event(), []

    def type_on():
        while not stop.is_set():
            name = f"during-{len(sent)}"
            machine.prompt(name)
            sent.append(name)

    person = threading.Thread(target=type_on)
    person.start()
    try:
        machine.put("0.1.0", **MIGRATED)
        machine.afl("install")
        enough = len(sent) + 3
        machine.wait(lambda: len(sent) >= enough)
    finally:
        stop.set()
        person.join(two_builds.PATIENCE_S)
    assert len(sent) > 3
    machine.arrived("start", *sent)


def test_packages_that_were_replaced_without_an_install_lose_nothing(machine):
    machine.prompt("before")
    machine.put("0.1.0", **MIGRATED)
    os.kill(machine.front()["pid"], 15)
    machine.wait(lambda: not machine.front())
    machine.prompt("between")
    assert machine.spooled() == 1
    machine.afl("install")
    machine.prompt("after")
    machine.arrived("before", "between", "after")


def test_a_worker_that_is_spoken_to_in_another_way_makes_way_when_another_build_is_installed(machine):
    machine.prompt("before")
    old = machine.front()
    machine.put("0.1.0")
    machine.afl("install")
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as link:
        link.settimeout(two_builds.PATIENCE_S)
        link.connect(machine.paths.socket)
        link.sendall(b"AFL9 what a later build may say\n")
        assert link.recv(100) == b""
    machine.wait(lambda: machine.front().get("pid") != old["pid"])
    machine.prompt("after")
    machine.arrived("before", "after")


def test_another_python_changes_the_command_and_the_old_one_is_no_longer_needed(machine):
    other = two_builds.Machine(machine.home, "other")
    other.put("0.1.0")
    body = other.json("install")
    found = by_what(body)
    assert found["python"] == [(machine.python, other.python)]
    assert found["settings"] == [(None, "claude")]
    assert any("the command in each host's settings changes too" in warning for warning in body["warnings"])
    shutil.rmtree(machine.folder)
    assert other.python in machine.command()
    assert json.loads(other.prompt("other")) == {}
    assert other.json("doctor", "--live")["verdict"] == "healthy"


def test_a_python_that_is_gone_is_silence_for_the_host_and_named_by_the_doctor_until_the_next_install(machine):
    other = two_builds.Machine(machine.home, "other")
    other.put("0.0.9")
    os.unlink(machine.python)
    assert machine.prompt("silent") == b""
    report = other.json("doctor", status=1)
    assert report["clis"]["claude"]["status"] == "not_runnable"
    assert f"the Python {machine.python} is missing" in report["clis"]["claude"]["reason"]
    assert report["files"]["coreHookExecutable"] is False
    [runtime] = [line for line in report["lines"] if line["name"] == "runtime"]
    assert machine.python in runtime["sentence"]
    assert runtime["hint"] == f"run: afl install, which makes hooks use {other.python}"
    other.afl("install")
    assert json.loads(other.prompt("heard")) == {}
    assert other.json("doctor")["verdict"] == "healthy"


def test_a_way_back_over_a_migration_is_refused_and_loses_nothing(machine):
    machine.put("0.2.0", **MIGRATED)
    machine.afl("install")
    machine.prompt("newer")
    machine.arrived("newer")
    pack = {path: path.read_bytes() for path in pathlib.Path(machine.paths.pack).rglob("*") if path.is_file()}
    machine.put("0.0.9")
    said = machine.afl("install", status=1)
    assert "AFL-STORE-003" in said
    assert f"was written by a newer version (schema {SCHEMA_VERSION + 1}, this one knows {SCHEMA_VERSION})" in said
    assert "install the newer version of afl-core again" in said
    assert {path: path.read_bytes() for path in pack} == pack
    report = machine.json("doctor", status=1)
    assert any("was written by a newer version" in line["sentence"] for line in report["lines"])
    machine.prompt("meanwhile")
    machine.put("0.2.0", **MIGRATED)
    machine.afl("install")
    machine.prompt("again")
    machine.arrived("newer", "meanwhile", "again")
    assert machine.json("doctor")["healthy"] is True


def test_a_way_back_without_a_migration_is_made_and_said(machine):
    machine.put("0.0.8")
    assert any("goes back from 0.0.9 to 0.0.8" in warning for warning in machine.json("install")["warnings"])


@pytest.mark.parametrize("step", [f"store:migrated-{SCHEMA_VERSION + 1}", "hook:constants.py", "current:ready"])
def test_an_upgrade_that_is_killed_goes_on_with_the_next_install_and_loses_no_words(machine, step):
    machine.prompt("before")
    machine.put("0.1.0", **MIGRATED)
    machine.killed_at(step)
    machine.prompt("after-the-kill")
    assert machine.json("install")["hosts"] == ["claude"]
    assert json.loads(machine.prompt("after")) == {}
    machine.arrived("before", "after-the-kill", "after")
    report = machine.json("doctor")
    assert {one["sentence"].partition(":")[0] for one in report["reasons"]} <= {"hook failures"}
    assert machine.json("install")["changed"] is False
