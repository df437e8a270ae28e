"""When words become a review."""

from __future__ import annotations

import pytest

from afl_core.model.errors import ReviewError
from afl_core.review import queue
from afl_core.settings.schema import Settings
from afl_core.store import queue as queue_rows
from afl_core.store import reviews as review_rows
from afl_core.store.connection import writing
from afl_core.store.reviews import ReviewStatus

LEASE = 90_000


def claim(db, review_id, now, owner="me"):
    with writing(db):
        return queue.claim(db, review_id, owner, now, LEASE)


def fail(db, lease, now, settings=None, reason="receipt_shape"):
    with writing(db):
        return queue.fail(db, lease, reason, "told", settings or Settings(), now)


def complete(db, lease, now):
    with writing(db):
        queue.complete(db, lease, "receipt", "report", now)


def held(db, review_id):
    return [row.event_id for row in queue_rows.of_review(db, review_id)]


def test_three_remarks_make_one_review_and_asking_again_gives_the_same(db, world):
    world.words(db, 2)
    assert world.submit(db).status == "not_due"
    world.words(db, 1, first=2)
    made = world.submit(db)
    assert (made.status, made.event_count, made.existing) == ("pending", 3, False)
    again = world.submit(db)
    assert (again.review_id, again.existing) == (made.review_id, True)
    assert {row.status for row in queue_rows.of_review(db, made.review_id)} == {"pending"}


def test_a_single_remark_is_reviewed_when_it_is_old_enough(db, world):
    world.words(db, 1)
    settings = Settings()
    ripe = world.NOW + settings.review_max_age * 1000
    assert queue.next_due_ms(db, settings, world.NOW) == ripe
    assert world.submit(db, now=ripe - 1).reason == "too_early"
    assert world.submit(db, now=ripe).event_count == 1


def test_only_remarks_that_no_review_holds_are_counted(db, world):
    world.words(db, 3)
    first = world.submit(db)
    lease = claim(db, first.review_id, world.NOW)
    world.words(db, 1, first=3)
    complete(db, lease, world.NOW)
    later = world.NOW + Settings().review_cooldown * 1000
    assert world.submit(db, now=later).reason == "too_early"


def test_a_batch_waits_for_the_cooldown_after_the_end_of_the_last_review_not_its_making(db, world):
    world.words(db, 3)
    lease = claim(db, world.submit(db).review_id, world.NOW)
    ended = world.NOW + 60_000
    complete(db, lease, ended)
    world.words(db, 3, first=3)
    cool = ended + Settings().review_cooldown * 1000
    assert world.submit(db, now=cool - 1).status == "not_due"
    assert queue.next_due_ms(db, Settings(), ended) == cool
    assert world.submit(db, now=cool).status == "pending"


def test_a_signal_is_reviewed_at_once_in_spite_of_the_cooldown(db, world):
    world.words(db, 3)
    complete(db, claim(db, world.submit(db).review_id, world.NOW), world.NOW)
    _, said = world.complaint(db)
    made = world.submit(db, now=world.NOW + 1, immediate_event=said)
    assert (made.status, made.immediate, made.existing) == ("pending", True, False)


def test_a_signal_whose_submission_was_lost_is_found_by_the_next_pass(db, world):
    world.complaint(db)
    assert queue.next_due_ms(db, Settings(), world.NOW) == world.NOW
    with writing(db):
        (made,) = queue.submit_all_due(db, Settings(), world.NOW)
    assert made.immediate


def test_a_signal_takes_the_place_of_the_oldest_ordinary_remark_in_a_full_review_without_deleting_it(db, world):
    settings = Settings(review_batch_max=3)
    ids = world.words(db, 3)
    made = world.submit(db, settings)
    _, said = world.complaint(db)
    joined = world.submit(db, settings, immediate_event=said)
    assert (joined.review_id, joined.event_count, joined.immediate) == (made.review_id, 3, True)
    assert set(held(db, made.review_id)) == {said, *ids[1:]}
    displaced = queue_rows.get(db, ids[0])
    assert (displaced.status, displaced.review_id) == ("pending", None)


def test_signals_never_displace_each_other(db, world):
    settings = Settings(review_batch_max=1)
    _, first = world.complaint(db, prefix="a-")
    _, second = world.complaint(db, prefix="b-", base=200)
    one = world.submit(db, settings, immediate_event=first)
    two = world.submit(db, settings, immediate_event=second)
    assert one.review_id != two.review_id
    with writing(db):
        assert queue.submit_all_due(db, settings, world.NOW) == []


def test_a_signal_gets_a_review_of_its_own_when_the_open_one_runs_or_was_tried(db, world):
    world.words(db, 3)
    made = world.submit(db)
    lease = claim(db, made.review_id, world.NOW)
    _, said = world.complaint(db, prefix="a-")
    while_running = world.submit(db, immediate_event=said)
    assert while_running.review_id != made.review_id
    fail(db, lease, world.NOW)
    fail(db, claim(db, while_running.review_id, world.NOW), world.NOW)
    _, later = world.complaint(db, prefix="b-", base=300)
    assert world.submit(db, immediate_event=later).review_id not in (made.review_id, while_running.review_id)


def test_a_signal_joins_a_postponed_review_and_wakes_it(db, world):
    review_id, _, _ = world.waiting_review(db)
    lease = claim(db, review_id, world.NOW)
    with writing(db):
        queue.postpone(db, lease, "reviewer_login_missing", "", world.NOW + 300_000, world.NOW)
    assert claim(db, review_id, world.NOW + 1) is None
    _, said = world.complaint(db, prefix="b-", base=300)
    assert world.submit(db, immediate_event=said).review_id == review_id
    assert claim(db, review_id, world.NOW + 2) is not None


def test_words_that_do_not_wait_cannot_ask_for_a_review(db, world):
    world.complaint(db)
    assert world.submit(db, immediate_event="somebody-else").reason == "immediate_event_unavailable"
    assert world.submit(db, immediate_event="said", project="/other").reason == "immediate_event_unavailable"


def test_words_held_by_an_open_review_give_that_review(db, world):
    review_id, _, said = world.waiting_review(db)
    again = world.submit(db, immediate_event=said)
    assert (again.review_id, again.existing, again.immediate) == (review_id, True, True)


def test_every_review_has_an_id_of_its_own_even_for_the_same_words(db, world):
    settings = Settings(review_batch_max=1, review_min_entries=1, review_max_attempts=1, review_cooldown=0)
    (event_id,) = world.words(db, 1)
    first = world.submit(db, settings)
    with writing(db):
        queue_rows.unassign(db, event_id)
    complete(db, claim(db, first.review_id, world.NOW), world.NOW)
    assert world.submit(db, settings).review_id != first.review_id


def test_a_review_takes_the_words_of_one_host_only(db, world):
    world.words(db, 2)
    world.words(db, 2, first=2, host="codex")
    assert world.submit(db).reason == "too_early"
    world.words(db, 1, first=4, host="codex")
    made = world.submit(db, host="codex")
    assert made.event_count == 3
    assert review_rows.get(db, made.review_id).host == "codex"


def test_the_oldest_words_are_reviewed_first_and_the_signal_always(db, world):
    settings = Settings(review_batch_max=2)
    ids = world.words(db, 3, now=world.NOW - 1000)
    _, said = world.complaint(db)
    made = world.submit(db, settings, immediate_event=said)
    assert set(held(db, made.review_id)) == {said, ids[0]}


def test_reviews_that_are_switched_off_are_neither_made_nor_waited_for(db, world):
    settings = Settings(reviews_per_day=0)
    review_id, _, _ = world.waiting_review(db)
    world.complaint(db, prefix="b-", base=300)
    assert world.submit(db, settings).reason == "reviews_off"
    assert queue.due_reviews(db, settings, world.NOW) == []
    assert queue.next_due_ms(db, settings, world.NOW) is None
    assert queue.due_reviews(db, Settings(), world.NOW) == [review_id]


def test_an_expired_review_is_requeued_by_the_next_words(db, world):
    world.words(db, 3)
    made = world.submit(db)
    claim(db, made.review_id, world.NOW)
    after = world.NOW + LEASE + 1
    again = world.submit(db, now=after)
    assert (again.review_id, again.status) == (made.review_id, "pending")
    assert review_rows.get(db, made.review_id).reason == "lease_expired"


def test_a_given_up_review_releases_its_words_and_they_count_for_nothing(db, world):
    settings = Settings(review_max_attempts=1, review_cooldown=0)
    ids = world.words(db, 3)
    made = world.submit(db, settings)
    assert fail(db, claim(db, made.review_id, world.NOW), world.NOW, settings) is ReviewStatus.FAILED
    assert {world.status_of(db, event_id) for event_id in ids} == {"exhausted"}
    row = review_rows.get(db, made.review_id)
    assert (row.reason, row.detail) == ("retry_exhausted", "receipt_shape: told")
    world.words(db, 1, first=3)
    assert world.submit(db, settings, now=world.NOW + 10).event_count == 1
    assert queue.next_due_ms(db, settings, world.NOW + 10) > world.NOW + 10


def test_a_given_up_review_can_be_retried_with_all_its_attempts(db, world):
    settings = Settings(review_max_attempts=1)
    ids = world.words(db, 3)
    made = world.submit(db, settings)
    fail(db, claim(db, made.review_id, world.NOW), world.NOW, settings)
    with writing(db):
        assert queue.retry(db, made.review_id, world.NOW + 1) == 3
    assert {world.status_of(db, event_id) for event_id in ids} == {"pending"}
    assert claim(db, made.review_id, world.NOW + 1).attempt == 1


def test_a_completed_running_or_unknown_review_cannot_be_retried(db, world):
    review_id, _, _ = world.waiting_review(db)
    lease = claim(db, review_id, world.NOW)
    for prepare in (lambda: None, lambda: complete(db, lease, world.NOW)):
        prepare()
        with pytest.raises(ReviewError) as caught, writing(db):
            queue.retry(db, review_id, world.NOW)
        assert caught.value.code == "AFL-REVIEW-004"
    with pytest.raises(ReviewError) as caught, writing(db):
        queue.retry(db, "no-such-review", world.NOW)
    assert caught.value.code == "AFL-REVIEW-003"


def test_a_clock_that_was_far_ahead_keeps_nothing_waiting(db, world):
    settings = Settings()
    year = 365 * 86_400_000
    world.words(db, 3, now=world.NOW + year)
    made = world.submit(db)
    assert made.status == "pending"
    lease = claim(db, made.review_id, world.NOW + year)
    assert queue.due_reviews(db, settings, world.NOW) == [made.review_id]
    assert queue.next_due_ms(db, settings, world.NOW) == world.NOW
    assert fail(db, lease, world.NOW + year) is ReviewStatus.PENDING
    assert queue.due_reviews(db, settings, world.NOW) == [made.review_id]
    complete(db, claim(db, made.review_id, world.NOW + year + 300_000), world.NOW + year + 300_000)
    world.words(db, 3, first=3)
    assert world.submit(db).status == "pending"


def test_nothing_waits_nothing_is_due(db):
    assert queue.next_due_ms(db, Settings(), 0) is None
