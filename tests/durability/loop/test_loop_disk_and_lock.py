"""A full disk, a database that somebody else holds, a file size limit: nothing is lost, and the log says what was wrong."""

from __future__ import annotations

import contextlib
import copy
import os
import pathlib
import resource
import sqlite3
import subprocess
import threading
import time

import pytest


@contextlib.contextmanager
def small_disk(folder: str, size: str):
    """A file system of its own, where the tests may mount one."""
    os.makedirs(folder, 0o700, exist_ok=True)
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size},mode=0700", "tmpfs", folder], capture_output=True)
    if done.returncode != 0:
        pytest.skip("a file system cannot be mounted here (not root)")
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", folder], check=True)


@pytest.fixture
def cramped(home, make):
    """The product with its data on a disk of 3 MiB, and its log on another."""
    data = home / ".agent" / "feedback-loop-data"
    with contextlib.ExitStack() as stack:
        stack.enter_context(small_disk(str(data), "3m"))
        stack.enter_context(small_disk(str(data / "logs"), "1m"))
        product = make()
        yield product
        product.stop()


def fill(product) -> pathlib.Path:
    """Leave no byte on the disk."""
    filler = pathlib.Path(product.paths.data, "filler")
    with filler.open("wb", buffering=0) as handle, contextlib.suppress(OSError):
        while True:
            handle.write(bytes(512))
    return filler


def test_a_disk_that_fills_up_in_the_middle_of_a_session_costs_nothing_once_there_is_space(cramped, undisturbed):
    expected = undisturbed("the correction and the card")
    cramped.warm()
    filler = None
    for number, moment in enumerate(cramped.moments("interrupted_text", cramped.host)):
        if number == 2:  # the session is known, its first prompt was kept
            filler = fill(cramped)
        [printed] = cramped.host.run_hooks(moment.payload)
        assert printed in ("", "{}")
    cramped.until(lambda: "feedback-loop.sqlite3 is full" in cramped.log(), "a line that says it")
    assert cramped.one("SELECT count(*) FROM reviews") == 0
    filler.unlink()

    cramped.begin_later()
    cramped.until_reviewed()
    assert cramped.ask_later()
    cramped.answer_later()
    cramped.until_calm()
    made = cramped.picture()
    for one in (made, copy.deepcopy(expected)):
        for event in one["events"]:
            event["seen"].pop("hook", None)  # what hooks could not keep was found in the transcript
        del one["prompts and stops"]
        if one is not made:
            assert made == one
    cramped.check_leftovers()


def test_a_disk_that_is_full_at_the_commit_of_a_review_is_made_good_when_there_is_space(cramped, undisturbed):
    expected = undisturbed("the correction alone", lambda one: (one.replay("interrupted_text"), one.until_calm()))
    (cramped.faults / "hold").touch()
    cramped.set(afl_core__review__run___LEASE_MS=4_000, afl_core__review__run___RENEW_MS=3_500)
    cramped.replay("interrupted_text")
    cramped.until(lambda: cramped.pids("child"), "the reviewer")
    filler = fill(cramped)
    (cramped.faults / "hold").unlink()
    cramped.until(lambda: not cramped.pids("child"), "the reviewer's end")
    cramped.until(lambda: "full" in cramped.log() or "store_failed" in cramped.log(), "a line that says it")
    assert cramped.one("SELECT count(*) FROM lessons") == cramped.one("SELECT count(*) FROM receipts") == 0
    filler.unlink()
    cramped.until_reviewed()
    cramped.until_calm()
    assert cramped.picture() == expected
    cramped.check_leftovers()


def test_a_process_that_may_not_write_long_files_goes_on_when_it_may_again(product, undisturbed):
    expected = undisturbed("the correction and the card")
    product.warm()
    product.begin_later()
    product.ask_later(9)
    [jobs] = product.until(lambda: product.pids("jobs"), "the jobs process")
    product.until_calm()
    limit = resource.prlimit(jobs, resource.RLIMIT_FSIZE)
    before = product.log()
    resource.prlimit(jobs, resource.RLIMIT_FSIZE, (1, limit[1]))
    product.replay("interrupted_text")
    time.sleep(1)
    assert product.one("SELECT count(*) FROM events WHERE session_id LIKE '%75eb474a%'") == 0
    assert product.pids("jobs") == [jobs]  # it says so as soon as it may write, and does not die of it
    resource.prlimit(jobs, resource.RLIMIT_FSIZE, limit)
    product.until_reviewed()
    assert product.pids("jobs") == [jobs]
    assert product.log() != before
    assert product.picture()["signals"] == expected["signals"]
    product.check_leftovers()


@pytest.mark.parametrize("seconds", [3.0, 6.5])
def test_a_database_that_another_process_holds_for_seconds_loses_nothing(product, undisturbed, seconds):
    expected = undisturbed("the correction and the card")
    product.warm()
    held = threading.Event()

    def hold() -> None:
        with contextlib.closing(sqlite3.connect(product.paths.database, isolation_level=None)) as db:
            db.execute("BEGIN IMMEDIATE")
            held.set()
            time.sleep(seconds)
            db.execute("ROLLBACK")

    holder = threading.Thread(target=hold)
    holder.start()
    held.wait(10)
    product.replay("interrupted_text")
    assert product.spooled()
    holder.join()
    product.begin_later()
    product.until_reviewed()
    assert product.ask_later()
    product.answer_later()
    product.until_calm()
    assert product.picture() == expected
    product.check_leftovers()


def test_a_front_that_cannot_give_hooks_a_spool_key_answers_all_the_same(product):
    os.unlink(product.paths.spool_key)
    os.mkdir(product.paths.spool_key)  # stands for every reason why the file cannot be replaced
    product.replay("interrupted_text")
    product.until(lambda: "later: IsADirectoryError" in product.log(), "a line that says it")
    assert len(product.pids("front")) == 1
    product.until_reviewed()
    product.begin_later()
    assert product.ask_later()

    os.rmdir(product.paths.spool_key)
    product.until(lambda: os.path.isfile(product.paths.spool_key), "the spool key")
    assert [name for name in os.listdir(product.paths.run) if name.startswith("spool.key.")] == []
    assert product.log().count(" serves, build ") == 1
