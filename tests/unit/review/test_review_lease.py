"""Leases: one holder at a time, proved by a fence."""

from __future__ import annotations

import pytest

from afl_core.model.errors import ReviewError
from afl_core.review import queue
from afl_core.settings.schema import Settings
from afl_core.store import reviews as review_rows
from afl_core.store.connection import writing

LEASE = 90_000


@pytest.fixture
def review(db, world):
    return world.waiting_review(db)[0]


def claim(db, review_id, owner, now):
    with writing(db):
        return queue.claim(db, review_id, owner, now, LEASE)


def refused(db, action) -> str:
    with pytest.raises(ReviewError) as caught, writing(db):
        action()
    return caught.value.reason


def test_a_leased_review_cannot_be_leased_again(db, world, review):
    assert claim(db, review, "one", world.NOW).fence == 1
    assert claim(db, review, "two", world.NOW + LEASE) is None


def test_after_its_end_another_may_lease_it_with_a_higher_fence_and_the_first_may_write_nothing(db, world, review):
    first = claim(db, review, "one", world.NOW)
    later = world.NOW + LEASE + 1
    second = claim(db, review, "two", later)
    assert (second.fence, second.attempt) == (2, 2)
    for action in (
        lambda: queue.complete(db, first, "receipt", "report", later),
        lambda: queue.fail(db, first, "receipt_shape", "", Settings(), later),
        lambda: queue.postpone(db, first, "reviewer_network", "", later, later),
        lambda: queue.renew(db, first, later, LEASE),
    ):
        assert refused(db, action) == "lease_lost"
    assert review_rows.get(db, review).owner == "two"


def test_an_ended_lease_may_write_nothing_even_when_nobody_took_over(db, world, review):
    lease = claim(db, review, "one", world.NOW)
    assert refused(db, lambda: queue.complete(db, lease, "receipt", "report", world.NOW + LEASE + 1)) == "lease_lost"


def test_a_renewed_lease_goes_on(db, world, review):
    lease = claim(db, review, "one", world.NOW)
    with writing(db):
        lease = queue.renew(db, lease, world.NOW + 60_000, LEASE)
    assert claim(db, review, "two", world.NOW + LEASE + 1) is None
    with writing(db):
        queue.complete(db, lease, "receipt", "report", world.NOW + LEASE + 1)


def test_a_failed_review_waits_for_the_wake_cooldown(db, world, review):
    lease = claim(db, review, "one", world.NOW)
    with writing(db):
        queue.fail(db, lease, "receipt_shape", "", Settings(), world.NOW)
    again = world.NOW + Settings().review_wake_cooldown * 1000
    assert claim(db, review, "one", again - 1) is None
    assert queue.next_due_ms(db, Settings(), world.NOW) == again
    assert claim(db, review, "one", again).attempt == 2


def test_a_postponed_review_keeps_its_attempts(db, world, review):
    for turn in range(10):
        lease = claim(db, review, "one", world.NOW + turn * 1000)
        assert lease.attempt == 1
        with writing(db):
            queue.postpone(db, lease, "reviewer_network", "", world.NOW + turn * 1000 + 1000, world.NOW + turn * 1000)
    row = review_rows.get(db, review)
    assert (row.attempt, row.wakes, row.fence) == (0, 10, 10)


def test_a_success_clears_the_reason_of_an_earlier_failure(db, world, review):
    lease = claim(db, review, "one", world.NOW)
    with writing(db):
        queue.fail(db, lease, "receipt_shape", "told", Settings(review_wake_cooldown=0), world.NOW)
        queue.complete(db, queue.claim(db, review, "one", world.NOW, LEASE), "receipt", "report", world.NOW)
    row = review_rows.get(db, review)
    assert (row.reason, row.detail, row.receipt_id, row.owner, row.lease_until_ms) == (None, None, "receipt", None, None)


def test_recovery_requeues_what_was_lost_and_nothing_else(db, world, review):
    claim(db, review, "one", world.NOW)
    with writing(db):
        assert queue.recover(db, world.NOW + LEASE) == []
        assert queue.recover(db, world.NOW + LEASE + 1) == [review]
        assert queue.recover(db, world.NOW + LEASE + 1) == []
    row = review_rows.get(db, review)
    assert (row.status.value, row.reason, row.attempt) == ("pending", "lease_expired", 1)


def test_there_is_no_lease_on_what_is_not_there_or_done(db, world, review):
    assert claim(db, "no-such-review", "one", world.NOW) is None
    lease = claim(db, review, "one", world.NOW)
    with writing(db):
        queue.complete(db, lease, "receipt", "report", world.NOW)
    assert claim(db, review, "one", world.NOW + 10 * LEASE) is None
