"""The jobs process looks for transcripts whose hooks were missed: at once, then once a minute, one process at a time, each state of a file once."""

from __future__ import annotations

import os
import time

import capture_world as worlds
import plain_host
import pytest

from afl_core.store import leases, status
from afl_core.store.connection import writing
from afl_core.worker import jobs
from afl_core.worker.leasing import RECONCILE
from afl_core.worker.mailbox import Mailbox


@pytest.fixture
def world(home):
    made = worlds.World(home, now=int(time.time() * 1000))
    made.root_of_host = plain_host.install(made)
    yield made
    made.close()


@pytest.fixture
def passing(monkeypatch):
    """Time of the clock that cannot jump, moved by hand."""
    at = [1_000_000]
    monkeypatch.setattr(jobs, "elapsed_ms", lambda: at[0])
    return at


@pytest.fixture
def at_work(world, passing):
    del passing
    read_end, write_end = os.pipe()
    try:
        yield jobs.Jobs(world.home, Mailbox(read_end))
    finally:
        os.close(read_end)
        os.close(write_end)


def log(world, name, **more):
    return plain_host.Log(world.root_of_host / "live" / "p" / f"{name}.jsonl", session=name, at=world.now - 60_000, **more)


def step(at_work):
    at_work._look()
    return at_work._absorb_due()


def said(world, name):
    return [text for _, text in world.messages(f"plain:{name}")]


def test_what_no_hook_told_of_is_read_and_then_looked_for_once_a_minute(world, at_work, passing):
    log(world, "a").person("one")
    assert step(at_work)
    assert said(world, "a") == ["one"]
    log(world, "b").person("two")
    passing[0] += jobs.LOOK_MS - 1
    assert not step(at_work)
    passing[0] += 1
    assert step(at_work)
    assert said(world, "b") == ["two"]


def test_a_living_session_is_read_on_though_no_hook_ever_told_of_it_and_so_is_its_second_file(world, at_work, passing):
    first = log(world, "a", start=1).person("one")
    step(at_work)
    at_work._poll()
    first.agent("two")
    assert at_work._poll()
    assert said(world, "a") == ["one", "two"]
    plain_host.Log(world.root_of_host / "live" / "p" / "a2.jsonl", session="a", start=2, at=world.now).person("three")
    passing[0] += jobs.LOOK_MS
    step(at_work)
    first.agent("late")
    assert at_work._poll()
    assert said(world, "a") == ["one", "two", "late", "three"]


def test_a_file_that_can_never_be_read_does_not_keep_the_process_up(world, at_work, passing, home):
    path = log(world, "a").person("one").path
    step(at_work)
    path.unlink()
    os.symlink(home / "nothing", path)
    passing[0] += jobs.LOOK_MS
    assert step(at_work)
    passing[0] += jobs.LOOK_MS
    assert not step(at_work)


def test_nothing_is_looked_for_while_another_process_does_or_capture_is_off(world, at_work, passing):
    log(world, "a").person("one")
    with writing(world.db):
        leases.take(world.db, RECONCILE, "afl reconcile", world.now)
    assert not step(at_work)
    passing[0] += jobs.LOOK_MS
    world.now += leases.LEASE_MS
    with writing(world.db):
        status.set_meta(world.db, "capture_enabled", "0")
    assert not step(at_work)
    with writing(world.db):
        status.set_meta(world.db, "capture_enabled", "1")
    assert step(at_work)


def test_a_look_gives_its_lease_back(world, at_work):
    step(at_work)
    assert leases.held(world.db, RECONCILE, world.now) is None
