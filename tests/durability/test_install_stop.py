"""When an uninstall returns, nothing of ours lives: not the worker, not its jobs, not the reviewer they started; an install elsewhere ends the old worker."""

from __future__ import annotations

import os
import pathlib
import runpy
import signal
import subprocess
import sys
import time

import pytest

from afl_core.api.home import Home, paths_of
from afl_core.setup.fire import fire_health
from afl_core.setup.install import apply_install, plan_install
from afl_core.setup.process_table import processes
from afl_core.setup.stop import front_pid, fronts_of, is_free, jobs_of, stop_jobs, stop_worker
from afl_core.setup.uninstall import apply_uninstall, plan_uninstall

LOOP = pathlib.Path(__file__).parent / "loop"


@pytest.fixture
def product(home):
    one = runpy.run_path(str(LOOP / "conftest.py"))["Product"](home)
    one.set(
        afl_core__review__run___LEASE_MS=8_000, afl_core__review__run___RENEW_MS=1_000
    )  # a busy machine must not end a review by itself
    yield one
    one.stop()


def uninstall(product):
    with product.open() as opened:
        return apply_uninstall(plan_uninstall(opened))


def test_a_running_review_is_ended_and_stays_pending(product):
    (product.faults / "hold").touch()
    product.replay("interrupted_text")
    product.until(lambda: product.pids("child"), "the reviewer")
    done = uninstall(product).done
    assert {role: product.pids(role) for role in ("front", "jobs", "child")} == {"front": [], "jobs": [], "child": []}
    assert any(line.startswith("ended a running review") for line in done)
    assert any(line.startswith("stopped the worker") for line in done)
    assert product.one("SELECT status FROM reviews") in ("running", "pending")
    assert os.listdir(product.paths.contexts) == []
    (product.faults / "hold").unlink()
    product.install()
    product.put_stand_in()
    product.begin_later()
    product.until_reviewed()


def test_a_review_whose_front_is_gone_already_is_ended_too(product):
    (product.faults / "hold").touch()
    product.replay("interrupted_text")
    product.until(lambda: product.pids("child"), "the reviewer")
    product.kill("front")
    with product.open() as opened:
        assert any("end its jobs" in step for step in plan_uninstall(opened).steps)
    assert any(line.startswith("ended a running review") for line in uninstall(product).done)
    assert product.pids("jobs") + product.pids("child") == []


def test_jobs_that_do_not_listen_are_killed(product):
    code = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('up', flush=True); time.sleep(600)"
    stubborn = subprocess.Popen(
        [sys.executable, "-c", code, "-m", "afl_core.worker.jobs", str(product.home)], stdout=subprocess.PIPE, start_new_session=True
    )
    with stubborn:
        assert stubborn.stdout is not None
        assert stubborn.stdout.readline() == b"up\n"
        assert [one.pid for one in jobs_of(product.paths)] == [stubborn.pid]
        assert str(stubborn.pid) in stop_jobs(product.paths)[0]
        assert stubborn.wait(10) == -signal.SIGKILL


def test_jobs_and_workers_of_other_homes_and_programs_that_only_name_ours_are_left_alone(product, tmp_path):
    script = os.path.join(product.paths.hook_dir, "worker.py")
    wait = "import time; print('up', flush=True); time.sleep(600)"
    arguments = (["-m", "afl_core.worker.jobs", str(tmp_path)], [script], [script, "--edit"])
    others = [subprocess.Popen([sys.executable, "-c", wait, *each], stdout=subprocess.PIPE) for each in arguments]
    try:
        for other in others:
            assert other.stdout is not None
            assert other.stdout.readline() == b"up\n"
        assert (jobs_of(product.paths), fronts_of(product.paths)) == ([], [])
        assert stop_worker(product.paths) == []
        assert [other.poll() for other in others] == [None] * len(others)
    finally:
        for other in others:
            other.kill()
            with other:
                other.wait()


def test_a_process_that_ended_and_was_not_waited_for_does_not_live():
    child = subprocess.Popen([sys.executable, "-c", ""])
    end = time.monotonic() + 30
    while child.pid in {one.pid for one in processes()}:
        assert time.monotonic() < end
        time.sleep(0.01)
    child.wait()
    assert os.getpid() in {one.pid for one in processes()}


def test_an_install_with_another_data_root_ends_the_worker_of_the_old_one(home, tmp_path):
    (home / ".claude").mkdir()
    environ = {"HOME": str(home), "PATH": os.defpath}
    with Home(str(home), environ) as opened:
        apply_install(plan_install(opened))
        old = opened.paths
    command = (home / ".claude/settings.json").read_text("utf-8").partition('"command": "')[2].partition('"')[0]
    assert fire_health(command, environ, str(home)).ok
    assert front_pid(old) is not None
    with Home(str(home), {**environ, "AFL_DATA_ROOT": str(tmp_path / "data")}) as opened:
        plan = plan_install(opened)
        assert any(f"stop the worker of {old.data}" in step for step in plan.steps)
        done = apply_install(plan).done
    assert any(line.startswith("stopped the worker") for line in done)
    assert is_free(old)
    assert fronts_of(old) == []
    with Home(str(home), environ) as opened:
        assert opened.paths.data == str(tmp_path / "data")
        assert not plan_install(opened).changes
    assert fire_health(command, environ, str(home)).ok
    stop_worker(paths_of(str(home), environ))
