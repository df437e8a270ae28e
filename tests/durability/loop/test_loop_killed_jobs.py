"""The jobs process killed with its group at every step, wherever it stands: what is in the store at last is the same as if nothing had happened."""

from __future__ import annotations

import pathlib

import pytest

ABSORBING = {
    "before the first look into the spool": "afl_core.worker.jobs:drain_spool:before",
    "after raw texts were sealed": "absorb:sealed",
    "with events and cursor written, before the commit": "absorb:before-commit",
    "after events and cursor were committed": "absorb:committed",
    "after the transcript was read": "absorb:read",
    "after hook rows were looked at": "absorb:adopted",
    "in the transaction that makes the review": "afl_core.worker.due:_write:after",
    "after the review was submitted": "absorb:submitted",
}
REVIEWING = {
    "after the lease was committed": "afl_core.review.run:_Work.review:before",
    "after the hand-off was written": "afl_core.review.operator:command:before",
    "after the reviewer answered, before the commit": "afl_core.review.run:commit_review:before",
    "in the commit, after the report": "afl_core.store.receipts:insert_report:after",
    "in the commit, after the lesson": "afl_core.store.receipts:insert_receipt:after",
    "after the commit": "afl_core.review.run:commit_review:after",
    "in the middle of house-keeping": "afl_core.worker.upkeep:expire_events:after",
    "at the end of house-keeping": "afl_core.worker.upkeep:sweep_blobs:after",
}


@pytest.mark.parametrize("step", [*ABSORBING, *REVIEWING])
def test_the_next_jobs_process_goes_on_where_the_killed_one_was(step, product, undisturbed):
    expected = undisturbed("the correction and the card")
    product.crash_at({**ABSORBING, **REVIEWING}[step])
    product.story()
    product.until(product.crashed, "the kill")
    product.until_calm()
    assert product.picture() == expected
    product.check_leftovers()
    product.until(lambda: len((product.faults / "jobs.starts").read_text("utf-8").split()) >= 2, "the next jobs process")


@pytest.mark.parametrize("step", ["absorb:before-commit", "absorb:committed", "afl_core.lessons.delivery:settle:after"])
def test_the_proof_of_delivery_is_found_by_the_next_jobs_process(step, product, undisturbed):
    expected = undisturbed("the correction and the card")
    product.replay("interrupted_text")
    product.until_reviewed()
    product.crash_at(step)
    product.begin_later()
    assert product.ask_later()
    product.answer_later()
    product.until_calm()
    product.until(product.crashed, "the kill")
    product.until_calm()
    assert product.picture() == expected
    product.check_leftovers()


def test_a_reviewer_ends_with_the_jobs_process_that_was_killed_and_the_review_is_done_once(product, undisturbed):
    expected = undisturbed("the correction and the card")
    (product.faults / "hold").touch()
    product.replay("interrupted_text")
    children = product.until(lambda: product.pids("child"), "the reviewer")
    assert list(pathlib.Path(product.paths.contexts).iterdir())
    assert product.kill("jobs") == 1
    product.until(lambda: not set(children) & set(product.pids("child")), "the reviewer's end")
    (product.faults / "hold").unlink()
    product.until_reviewed()
    product.begin_later()
    assert product.ask_later()
    product.answer_later()
    product.until_calm()
    assert product.picture() == expected
    assert [row[0] for row in product.rows("SELECT outcome FROM review_runs ORDER BY started_ms")] == ["lease_expired", "completed"]
    product.check_leftovers()


@pytest.mark.parametrize(
    "step",
    ["absorb:before-commit", "absorb:submitted", "afl_core.review.operator:command:before", "afl_core.review.run:commit_review:before"],
)
def test_reconcile_goes_on_without_front_and_jobs(step, product, undisturbed):
    expected = undisturbed("the correction alone", lambda one: (one.replay("interrupted_text"), one.until_calm()))
    product.set(afl_core__worker__launch___BACKOFF_S=[600.0])
    product.crash_at(step)
    product.replay("interrupted_text")
    product.until(product.crashed, "the kill")
    product.kill("front")
    product.kill("jobs")
    product.until(lambda: product.reconciles_cleanly() and product.is_calm(), "calm by reconcile")
    assert product.picture() == expected
    assert product.pids("front") == product.pids("jobs") == []
    product.check_leftovers()
