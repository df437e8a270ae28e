"""The doctor writes to the disk, looks how much room there is, and says what hooks dropped, with the next step for each reason."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from types import SimpleNamespace

import pytest

from afl_core.api.home import Home
from afl_core.settings.paths import Paths
from afl_core.setup import doctor_disk
from afl_core.setup.doctor import doctor
from afl_core.setup.doctor_disk import FREE_FAIL_BYTES, FREE_WARN_BYTES, room
from afl_core.setup.doctor_report import Part, counted, fail, report
from afl_core.setup.install import apply_install, plan_install
from afl_core.spec.health import Health
from afl_core.store import status
from afl_core.store.connection import connect


@pytest.fixture
def environ(home):
    return {"HOME": str(home), "PATH": os.defpath}


@pytest.fixture
def installed(home, environ):
    with Home(str(home), environ) as opened:
        apply_install(plan_install(opened, hosts=[]))
    return Paths(home)


def lines(home, environ, name):
    with Home(str(home), environ) as opened:
        return [line for line in doctor(opened).lines if line.name == name]


def test_a_row_is_really_written(home, environ, installed):
    assert lines(home, environ, "store")[0].health is Health.OK
    db = connect(installed.database)
    written = status.get(db, "doctor_probe")
    db.close()
    assert written is not None


def test_a_database_that_cannot_be_written_is_a_failure(home, environ, installed):
    db = connect(installed.database)
    db.execute("BEGIN IMMEDIATE")
    try:
        with Home(str(home), environ) as opened:
            opened.db.execute("PRAGMA busy_timeout = 1")
            line = doctor_disk.probe(opened, opened.db)
    finally:
        db.execute("ROLLBACK")
        db.close()
    assert line.health is Health.FAIL
    assert "locked" in line.sentence


@pytest.mark.parametrize(
    ("free", "files", "health"),
    [
        (FREE_WARN_BYTES, 5, None),
        (FREE_WARN_BYTES - 1, 5, Health.WARN),
        (FREE_FAIL_BYTES, 5, Health.WARN),
        (FREE_FAIL_BYTES - 1, 5, Health.FAIL),
        (0, 5, Health.FAIL),
        (FREE_WARN_BYTES, 0, Health.FAIL),
    ],
)
def test_little_room_is_told_and_less_is_a_failure(monkeypatch, free, files, health):
    monkeypatch.setattr(doctor_disk.os, "statvfs", lambda _path: SimpleNamespace(f_bavail=free, f_frsize=1, f_files=10, f_favail=files))
    assert [line.health for line in room("/data")] == ([] if health is None else [health])


def test_what_hooks_dropped_is_told_with_its_age_and_its_next_step(home, environ, installed):
    with Home(str(home), environ) as opened:
        now = opened.clock()
    with open(installed.counts, "w", encoding="ascii") as handle:
        handle.write(f"disk 1 {now - 120_000}\nspool_full 4 {now - 7_200_000}\nno_spool_key 2 {now - 5_000}\nseal 1 {now}\n")
    dropped = {line.sentence: line.hint for line in lines(home, environ, "events dropped")}
    [disk] = [sentence for sentence in dropped if "(disk)" in sentence]
    assert disk.startswith("1 event dropped")
    assert disk.endswith("2 min ago")
    assert "free some space" in dropped[disk]
    [full] = [sentence for sentence in dropped if "(spool_full)" in sentence]
    assert full.startswith("4 events")
    assert "reconcile" in dropped[full]
    assert any("(no_spool_key)" in sentence for sentence in dropped)
    [other] = lines(home, environ, "hook failures")
    assert other.sentence.startswith("seal 1 time,")


def test_the_doctor_never_sends_a_person_to_the_doctor():
    [line] = report("/h", {"a": Part({}, (fail("n", "s", "run: afl doctor"),))}, installed=True).lines
    assert line.hint
    assert "afl doctor" not in line.hint


@pytest.mark.parametrize(("number", "text"), [(0, "0 redactors"), (1, "1 redactor"), (2, "2 redactors")])
def test_numbers_and_nouns_agree(number, text):
    assert counted(number, "redactor") == text


FULL = """
import json, os, subprocess, sys
home = sys.argv[1]
from afl_core.api.home import Home
from afl_core.setup.doctor import doctor
from afl_core.setup.install import apply_install, plan_install
from afl_core.setup.stop import stop_worker
data = home + "/disk/data"
os.mkdir(home + "/disk")
done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=6m", "tmpfs", home + "/disk"])
if done.returncode:
    sys.exit(77)
os.mkdir(home + "/.claude")
environ = {"HOME": home, "PATH": os.environ["PATH"], "AFL_DATA_ROOT": data}
with Home(home, environ) as opened:
    apply_install(plan_install(opened))
try:
    with open(home + "/disk/filler", "wb") as filler:
        while True:
            filler.write(bytes(4096))
            filler.flush()
except OSError:
    pass
with Home(home, environ) as opened:
    report = doctor(opened, live=True).as_json()
    stop_worker(opened.paths)
print(json.dumps(report))
"""


@pytest.mark.skipif(shutil.which("unshare") is None, reason="a file system of its own can be mounted on Linux only")
def test_on_a_disk_that_is_really_full_the_home_is_unhealthy_and_every_next_step_is_useful(home, child_environment):
    child = subprocess.run(
        ["unshare", "-Urm", sys.executable, "-c", FULL, str(home)],
        env={**child_environment, "PYTHONPATH": ":".join(sys.path)},
        capture_output=True,
        timeout=120,
    )
    if child.returncode == 77 or b"unshare" in child.stderr:
        pytest.skip("no file system may be mounted here")
    assert child.returncode == 0, child.stderr.decode()
    body = json.loads(child.stdout)
    assert body["healthy"] is False
    failed = {line["name"]: line for line in body["lines"] if line["health"] == "fail"}
    assert "full" in failed["disk"]["sentence"]
    assert body["live"]["status"] == "unhealthy" if "live" in body else "live" in failed
    assert "space" in failed["live"]["hint"]
    assert [line["hint"] for line in body["lines"] if line["hint"] == "run: afl doctor"] == []
