"""The doctor on a machine without an install, and on what can be wrong below the hooks; it reports, it never breaks."""

from __future__ import annotations

import fcntl
import os
import shutil
import signal
import subprocess
import sys

import pytest

from afl_core.api.home import Home
from afl_core.changes import audit
from afl_core.model.errors import WorkerError
from afl_core.settings.paths import Paths
from afl_core.setup.doctor import doctor
from afl_core.setup.doctor_disk import read_counts
from afl_core.setup.doctor_report import Part, ago, fail, ok, report, warn
from afl_core.setup.install import apply_install, plan_install
from afl_core.setup.stop import stop_front
from afl_core.spec.health import Health
from afl_core.store import reviews, spend
from afl_core.store.connection import connect, writing
from afl_core.store.ledger import LedgerRow
from afl_core.store.ledger import write as write_ledger


@pytest.fixture
def environ(home):
    return {"HOME": str(home), "PATH": os.defpath}


@pytest.fixture
def installed(home, environ):
    with Home(str(home), environ) as opened:
        apply_install(plan_install(opened, hosts=[]))
    return Paths(home)


def examine(home, environ, **wanted):
    with Home(str(home), environ) as opened:
        return doctor(opened, **wanted)


def line(found, name):
    return [one for one in found.lines if one.name == name]


@pytest.mark.parametrize("live", [False, True])
def test_a_machine_without_an_install_is_unhealthy_and_told_what_to_do(home, environ, live):
    found = examine(home, environ, live=live)
    assert (found.healthy, found.installed) == (False, False)
    [only] = found.lines
    assert only.health is Health.FAIL
    assert "install one of these first: " in only.hint
    assert found.as_json()["clis"]["claude"]["selected"] is False
    assert list(home.iterdir()) == []


def test_broken_settings_of_ours_are_reported(home, environ, installed):
    with open(installed.settings_file, "w", encoding="utf-8") as handle:
        handle.write("what = 1\n")
    found = examine(home, environ)
    assert not found.healthy
    assert "unknown name" in line(found, "settings")[0].sentence


def test_an_install_without_any_host_is_unhealthy(home, environ, installed):
    found = examine(home, environ)
    assert line(found, "hosts")[0].health is Health.FAIL


def test_a_missing_database_is_reported(home, environ, installed):
    shutil.rmtree(os.path.dirname(installed.database))
    found = examine(home, environ)
    assert line(found, "database")[0].health is Health.FAIL
    assert not found.healthy


@pytest.mark.parametrize("content", [b"not a database at all, but long enough to have a header" * 4, b""])
def test_a_database_that_is_none_is_reported(home, environ, installed, content):
    with open(installed.database, "wb") as handle:
        handle.write(content)
    found = examine(home, environ, live=True)
    assert line(found, "database")[0].health is Health.FAIL


def test_a_damaged_page_is_reported(home, environ, installed):
    db = connect(installed.database)
    pages = db.execute("PRAGMA page_count").fetchone()[0]
    db.close()
    with open(installed.database, "r+b") as handle:
        for page in range(2, pages):
            handle.seek(page * 4096)
            handle.write(b"\xff" * 64)
    assert line(examine(home, environ), "database")[0].health is Health.FAIL


def test_a_broken_audit_chain_is_reported(home, environ, installed):
    db = connect(installed.database)
    with writing(db):
        for number in range(3):
            audit.record(db, actor="person", action="test", target=str(number), body={}, reason="because", now=number)
    assert line(examine(home, environ), "audit")[0].health is Health.OK
    db.execute("UPDATE audit SET actor = 'somebody' WHERE n = 2")
    db.close()
    [only] = line(examine(home, environ), "audit")
    assert only.health is Health.FAIL
    assert "row 2" in only.sentence


def test_a_missing_private_key_is_reported(home, environ, installed):
    os.unlink(installed.private_key)
    assert line(examine(home, environ), "keystore")[0].health is Health.FAIL


def test_a_private_key_of_another_vault_is_reported(home, environ, installed):
    with open(installed.private_key, "wb") as handle:
        handle.write(os.urandom(32))
    [only] = line(examine(home, environ), "keystore")
    assert only.health is Health.FAIL
    assert "another vault" in only.sentence


def test_an_unprotected_key_is_advice_and_no_degradation(home, environ, installed):
    [only] = line(examine(home, environ), "keystore")
    assert only.health is Health.WARN
    assert not report("/h", {"a": Part(lines=(only,))}, installed=True).degraded


def test_a_resting_plugin_is_named(home, environ, installed):
    db = connect(installed.database)
    with Home(str(home), environ) as opened:
        now = opened.clock()
    with writing(db):
        write_ledger(db, LedgerRow("sloppy", "redact", 3, "ValueError: no", now, now + 60_000))
    db.close()
    assert any("sloppy" in one.sentence and "ValueError" in one.sentence for one in line(examine(home, environ), "plug-ins"))


def test_sealed_events_that_wait_are_counted(home, environ, installed):
    for number in range(2):
        with open(os.path.join(installed.spool, f"{number:032x}.rec"), "wb") as handle:
            handle.write(b"x")
    assert line(examine(home, environ), "spool")[0].sentence.startswith("2 sealed events")


def test_recent_failures_of_hooks_are_shown_and_old_ones_are_not(home, environ, installed):
    with Home(str(home), environ) as opened:
        now = opened.clock()
    with open(installed.counts, "w", encoding="ascii") as handle:
        handle.write(f"deadline 4 {now - 60_000}\nseal 9 {now - 3 * 86_400_000}\nbroken line\n")
    [only] = line(examine(home, environ), "hook failures")
    assert "deadline 4 times" in only.sentence
    assert "seal" not in only.sentence
    assert set(read_counts(installed.counts)) == {"deadline", "seal"}


def test_a_new_version_of_an_edited_file_is_mentioned_as_advice(home, environ, installed):
    with open(installed.prompt_file, "a", encoding="utf-8") as handle:
        handle.write("mine\n")
    os.unlink(installed.manifest)
    with Home(str(home), environ) as opened:
        apply_install(plan_install(opened))
    [only] = line(examine(home, environ), "edited files")
    assert only.health is Health.WARN
    assert only.sentence.startswith(installed.prompt_file + ".new")


def test_a_directory_others_can_enter_is_reported(home, environ, installed):
    os.chmod(installed.data, 0o755)
    assert any("0755" in one.sentence for one in line(examine(home, environ), "directories"))


def test_reviews_switched_off_are_shown_with_the_reason(home, environ, installed):
    found = examine(home, {**environ, "AGENT_FEEDBACK_LOOP_REVIEWS_PER_DAY": "0"})
    [only] = line(found, "caps")
    assert "switched off" in only.sentence


def test_a_project_whose_own_cap_is_met_is_named_with_its_cap(home, environ, installed):
    db = connect(installed.database)
    with Home(str(home), environ) as opened:
        now = opened.clock()
    with writing(db):
        for number in range(3):
            reviews.insert(db, f"open-{number}", f"/home/dev/{'busy' if number else 'calm'}", "claude", immediate=False, now=now)
        for number in range(2):
            spend.begin(db, spend.Run(f"run-{number}", "done", "/home/dev/busy", "command", None, now, now, "completed", 0, 0, None))
    db.close()
    [only] = line(examine(home, {**environ, "AGENT_FEEDBACK_LOOP_REVIEWS_PER_DAY_AND_PROJECT": "2"}), "caps")
    assert only.health is Health.WARN
    assert only.sentence == "the day's reviews of this project are used up: /home/dev/busy"
    [of_all] = line(examine(home, {**environ, "AGENT_FEEDBACK_LOOP_REVIEWS_PER_DAY": "2"}), "caps")
    assert of_all.sentence == "the day's reviews are used up"
    assert line(examine(home, environ), "caps") == []


def test_a_process_that_is_not_our_worker_is_left_alone(home, environ, installed):
    script = "import fcntl, sys, time; f = open(sys.argv[1], 'a'); fcntl.flock(f, fcntl.LOCK_EX); print('held', flush=True); time.sleep(60)"
    other = subprocess.Popen([sys.executable, "-c", script, installed.front_lock], stdout=subprocess.PIPE)
    assert other.stdout is not None
    try:
        assert other.stdout.readline() == b"held\n"
        with pytest.raises(WorkerError) as caught:
            stop_front(installed)
        assert str(other.pid) in caught.value.sentence
        assert other.poll() is None
    finally:
        other.send_signal(signal.SIGKILL)
        other.wait()
        other.stdout.close()
    with open(installed.front_lock, "a", encoding="ascii") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)


def test_the_verdict_follows_from_the_lines():
    assert report("/h", {"a": Part({"x": 1}, (ok("n", "s"),))}, installed=True).healthy
    assert not report("/h", {"a": Part({}, (ok("n", "s"), fail("n", "s", "h")))}, installed=True).healthy
    assert not report("/h", {"a": Part({}, (ok("n", "s"),))}, installed=False).healthy
    degraded = report("/h", {"a": Part({}, (warn("n", "s"),))}, installed=True)
    assert (degraded.healthy, degraded.degraded) == (True, True)


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (-1, "at a time that lies in the future"),
        (0, "0 s ago"),
        (59, "59 s ago"),
        (60, "1 min ago"),
        (7200, "2 h ago"),
        (200_000, "2 d ago"),
    ],
)
def test_ages_are_words(seconds, words):
    assert ago(1_000_000_000, 1_000_000_000 + seconds * 1000) == words


@pytest.mark.parametrize("name", ["client.py", "constants.py", "seal.py", "wake.py", "worker.py", "schedule.py", "hook.py"])
def test_a_pack_that_lacks_any_file_of_the_hook_is_not_complete(home, environ, installed, name):
    lost = os.path.join(installed.hook_dir, name)
    os.remove(lost)
    found = examine(home, environ)
    assert [(one.health, one.sentence, one.hint) for one in line(found, "files")] == [
        (Health.FAIL, f"{lost} is missing", "run: afl install")
    ]
    assert not found.healthy
    assert found.as_json()["files"]["hookModules"] is (name == "hook.py")


def test_what_the_hook_of_another_version_needs_is_not_asked_of_it(home, environ, installed):
    os.remove(os.path.join(installed.hook_dir, "wake.py"))
    with open(installed.current, encoding="utf-8") as file:
        body = file.read()
    with open(installed.current, "w", encoding="utf-8") as file:
        file.write(body.replace('"version": "', '"version": "0.0.'))
    assert [one.health for one in line(examine(home, environ), "files")] == [Health.OK]
