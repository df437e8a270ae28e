"""With a schedule, what hooks missed and what killed processes left is finished though no hook ever runs again."""

from __future__ import annotations

import contextlib
import os
import pathlib
import runpy
import signal
import subprocess
import sys

import pytest

LOOP = pathlib.Path(__file__).parent / "loop"


@pytest.fixture
def product(home):
    one = runpy.run_path(str(LOOP / "conftest.py"))["Product"](home)
    yield one
    one.stop()


@pytest.fixture
def daemon(product):
    """Starts the daemon as a service manager would, and lets it look whenever it is asked for something."""
    started = []

    def start():
        script = os.path.join(product.paths.hook_dir, "schedule.py")
        started.append(subprocess.Popen([sys.executable, "-I", "-S", script], env=product.environment, cwd="/"))
        product.until(lambda: "looks every" in told(product), "the daemon")
        return started[-1]

    yield start
    for process in started:
        process.terminate()
        process.wait()


def told(product):
    path = pathlib.Path(product.paths.reconcile_log)
    return path.read_text("utf-8") if path.exists() else ""


def looked(process, condition):
    """A condition that is looked at after the daemon was asked to look."""

    def ask():
        with contextlib.suppress(ProcessLookupError):
            process.send_signal(signal.SIGHUP)
        return condition()

    return ask


def kill_everything(product):
    for role in ("front", "jobs", "child"):
        product.kill(role)
    product.until(lambda: not any(product.pids(role) for role in ("front", "jobs", "child")), "the end of everything")


def completed(product):
    return product.one("SELECT count(*) FROM reviews WHERE status = 'completed'") == 1


def test_a_review_whose_processes_were_all_killed_is_done_by_a_scheduled_pass(product, daemon):
    (product.faults / "hold").touch()
    product.replay("interrupted_text")
    product.until(lambda: product.pids("child"), "the reviewer")
    kill_everything(product)
    (product.faults / "hold").unlink()
    product.until(lambda: product.one("SELECT lease_until_ms FROM reviews") < product.now(), "the end of the lease")
    process = daemon()
    product.until(looked(process, lambda: completed(product)), "the review")
    assert product.pids("front") + product.pids("jobs") == []


def test_words_that_no_hook_told_of_are_read_and_reviewed_by_a_scheduled_pass(product, daemon):
    moments = product.moments("interrupted_text", product.host)
    for moment in moments:
        product.host.run_hooks(moment.payload)
        if product.rows("SELECT 1 FROM sessions WHERE transcript_path IS NOT NULL"):
            break
    kill_everything(product)
    for _moment in moments:
        pass  # the transcript grows, and no hook runs
    assert product.rows("SELECT 1 FROM reviews") == []
    process = daemon()
    product.until(looked(process, lambda: completed(product)), "the review")
    assert product.one("SELECT count(*) FROM signals") == 1
    assert product.pids("front") + product.pids("jobs") == []
