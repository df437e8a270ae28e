"""The daemon of the scheduled reconcile: runs a pass only when something waits, ends with its pass, and is the only one of its home."""

from __future__ import annotations

import contextlib
import json
import os
import pathlib
import signal
import sqlite3
import subprocess
import sys
import time

import pytest

from afl_core.worker.daemon_start import is_served

# Stands for the Python of the home: writes down that a pass began, then ends, hangs or fails as the file `mode` says.
STAND_IN = """#!{python} -IS
import json, os, signal, subprocess, sys, time
home = {home!r}
mode = open(home + "/mode").read()
if mode == "hang":
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    grand = subprocess.Popen([{python!r}, "-IS", "-c", "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)"])
    open(home + "/pids", "w").write(f"{{os.getpid()}} {{grand.pid}} ")
with open(home + "/passes", "a") as log:
    log.write(json.dumps([sys.argv[1:], dict(os.environ), os.getcwd()]) + "\\n")
if mode == "hang":
    time.sleep(600)
if mode == "fail":
    print(json.dumps({{"error": {{"code": "AFL-STORE-005", "message": "m", "next": ""}}}}))
    sys.exit(1)
print(json.dumps({{"status": "completed", "filesScanned": 1, "eventsCaptured": 2, "reviews": [], "errors": []}}))
"""


class Daemon:
    """One home's daemon, started and asked to look."""

    def __init__(self, rendered):
        self.home, self.paths, self.environment = rendered.home, rendered.paths, rendered.environment
        self.rendered = rendered
        self.python = self.home / "passing"
        self.python.write_text(STAND_IN.format(python=os.path.realpath(sys.executable), home=str(self.home)), "utf-8")
        self.python.chmod(0o700)
        rendered.render(PYTHON=str(self.python))
        self.mode("ok")
        self.process = None

    def mode(self, mode):
        (self.home / "mode").write_text(mode)

    def begin(self, **env):
        script = os.path.join(self.paths.hook_dir, "schedule.py")
        self.process = subprocess.Popen(
            [sys.executable, "-I", "-S", script], env={**self.environment, **env}, cwd="/", stderr=subprocess.PIPE
        )
        return self.process

    def look(self):
        """Ask it to look, and wait until it did."""
        before = self.looked()
        self.process.send_signal(signal.SIGHUP)
        self.wait(lambda: self.looked() != before)

    def looked(self):
        return os.stat(self.paths.reconcile_lock).st_mtime_ns

    def passes(self):
        with contextlib.suppress(FileNotFoundError):
            return [json.loads(line) for line in (self.home / "passes").read_text("utf-8").splitlines()]
        return []

    def log(self):
        with contextlib.suppress(FileNotFoundError):
            return pathlib.Path(self.paths.reconcile_log).read_text("utf-8")
        return ""

    def pids(self):
        return [int(pid) for pid in (self.home / "pids").read_text().split()]

    def wait(self, condition):
        end = time.monotonic() + 90
        while not condition():
            assert time.monotonic() < end, self.log()
            time.sleep(0.02)

    def do(self, sql, *values):
        db = sqlite3.connect(self.paths.database, isolation_level=None, timeout=30)
        try:
            db.execute(sql, values)
        finally:
            db.close()

    def calm(self):
        """A store in which nothing waits."""
        now = time.time_ns() // 1_000_000
        for name in ("reconcile", "upkeep"):
            self.do("INSERT OR REPLACE INTO status VALUES (?, '{}', ?)", name, now)

    def end(self, number=signal.SIGTERM):
        self.process.send_signal(number)
        _out, err = self.process.communicate(timeout=90)
        return self.process.returncode, err


@pytest.fixture
def daemon(rendered):
    one = Daemon(rendered)
    yield one
    if one.process is not None:
        one.process.kill()
        one.process.communicate()


def gone(pid):
    try:
        state = pathlib.Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()[0]
    except OSError:
        return True
    return state == "Z"


def test_a_home_that_was_never_read_gets_a_pass_at_once_in_a_bounded_environment(daemon):
    daemon.begin(CLAUDE_CONFIG_DIR="/c", SECRET_LOGIN="s", AGENT_FEEDBACK_LOOP_REVIEWS_PER_DAY="3")
    daemon.wait(daemon.passes)
    arguments, environ, cwd = daemon.passes()[0]
    assert arguments == ["-I", "-m", "afl_core.cli.main", "--home", str(daemon.home), "--json", "reconcile", "--at-most", "600"]
    assert environ["CLAUDE_CONFIG_DIR"] == "/c"
    assert environ["AGENT_FEEDBACK_LOOP_REVIEWS_PER_DAY"] == "3"
    assert environ["AFL_DATA_ROOT"] == daemon.paths.data
    assert "SECRET_LOGIN" not in environ
    assert cwd == "/"
    daemon.wait(lambda: "a pass completed" in daemon.log())
    assert daemon.end() == (0, b"")


def test_where_nothing_waits_no_pass_is_run(daemon):
    daemon.calm()
    daemon.begin()
    daemon.wait(lambda: "looks every 60 s" in daemon.log())
    daemon.look()
    daemon.look()
    assert daemon.passes() == []
    (pathlib.Path(daemon.paths.spool) / "1.rec").write_bytes(b"x")
    daemon.look()  # somebody may be on it
    assert daemon.passes() == []
    daemon.look()
    daemon.wait(daemon.passes)
    daemon.look()  # that pass left it: it rests
    daemon.look()
    assert len(daemon.passes()) == 1


def test_only_one_daemon_serves_a_home(daemon):
    daemon.calm()
    daemon.begin()
    daemon.wait(lambda: is_served(daemon.paths))
    script = os.path.join(daemon.paths.hook_dir, "schedule.py")
    second = subprocess.run([sys.executable, "-I", "-S", script], env=daemon.environment, capture_output=True, timeout=90)
    assert (second.returncode, b"another reconcile daemon" in second.stderr) == (1, True)
    assert daemon.process.poll() is None
    assert daemon.end()[0] == 0
    assert not is_served(daemon.paths)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_daemon_that_is_told_to_leave_ends_its_pass_and_whatever_that_started(daemon, number):
    daemon.mode("hang")
    daemon.begin(AGENT_FEEDBACK_LOOP_RECONCILE_KILL_GRACE_MS="100")
    daemon.wait(daemon.passes)
    assert daemon.end(number)[0] == 0
    assert all(map(gone, daemon.pids()))


def test_a_daemon_that_is_killed_leaves_no_pass_behind_and_the_next_goes_on(daemon):
    daemon.mode("hang")
    daemon.begin()
    daemon.wait(daemon.passes)
    daemon.end(signal.SIGKILL)
    daemon.wait(lambda: all(map(gone, daemon.pids())))
    daemon.mode("ok")
    daemon.begin()
    daemon.wait(lambda: len(daemon.passes()) == 2)
    daemon.wait(lambda: "a pass completed" in daemon.log())
    assert len(daemon.passes()) == 2


def test_a_pass_that_hangs_is_ended_with_its_group_and_the_daemon_goes_on(daemon):
    # What may hang is shortened where it is kept: a pass of twelve minutes is nothing a test can wait for.
    worker = pathlib.Path(daemon.paths.hook_dir, "schedule.py")
    source = worker.read_text("utf-8").replace(
        "sys.exit(__import__", "__import__('afl_core.worker.scheduled', fromlist=['x']).SLACK_S = -600\nsys.exit(__import__"
    )
    worker.write_text(source, "utf-8")
    daemon.mode("hang")
    daemon.begin(AGENT_FEEDBACK_LOOP_REVIEWER_TIMEOUT_MS="1000", AGENT_FEEDBACK_LOOP_RECONCILE_KILL_GRACE_MS="100")
    daemon.wait(lambda: "a pass hung and was ended" in daemon.log())
    assert all(map(gone, daemon.pids()))
    assert daemon.process.poll() is None


def test_a_pass_that_fails_is_logged_by_its_code_and_ends_nothing(daemon):
    daemon.mode("fail")
    daemon.begin()
    daemon.wait(lambda: "a pass failed" in daemon.log())
    assert "AFL-STORE-005" in daemon.log()
    daemon.look()
    assert daemon.process.poll() is None


def test_another_build_takes_the_daemon_over_in_the_same_process(daemon):
    daemon.calm()
    daemon.begin()
    daemon.wait(lambda: "build 1-test" in daemon.log())
    daemon.rendered.render(PYTHON=str(daemon.python), BUILD="2-test")
    daemon.process.send_signal(signal.SIGHUP)
    daemon.wait(lambda: "build 2-test" in daemon.log())
    assert daemon.process.poll() is None
    assert f"daemon {daemon.process.pid} looks every 60 s, build 2-test" in daemon.log()


def test_a_home_whose_hook_was_silenced_needs_no_daemon(daemon):
    daemon.rendered.render(HOME="", DATA="", RUN="")
    daemon.begin()
    assert daemon.process.communicate(timeout=90)[1] == b""
    assert daemon.process.returncode == 0


def test_times_of_another_clock_make_a_pass_and_no_harm(daemon):
    daemon.calm()
    ahead = time.time_ns() // 1_000_000 + 400 * 86_400_000
    daemon.do("UPDATE status SET updated_ms = ? WHERE name = 'upkeep'", ahead)
    daemon.begin()
    daemon.wait(lambda: "a pass completed" in daemon.log())
    daemon.look()
    daemon.look()
    assert len(daemon.passes()) == 1


def test_the_real_pass_is_run_and_recorded(daemon):
    daemon.rendered.render(PYTHON=sys.executable)
    daemon.begin()
    daemon.wait(lambda: "a pass completed" in daemon.log())
    found = dict(daemon.rendered.rows("SELECT name, body_json FROM status WHERE name IN ('reconcile', 'reconcile_next_ms')"))
    assert json.loads(found["reconcile"])["status"] == "completed"
    assert json.loads(found["reconcile_next_ms"]) == {"at_ms": None}
