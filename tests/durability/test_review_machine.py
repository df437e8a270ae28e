"""Whatever happens to queue and leases in whatever order: no word is lost, none is reviewed twice, and no stale lease writes."""

from __future__ import annotations

import itertools
import sqlite3

import hypothesis
import hypothesis.strategies as st
import review_world as world
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, initialize, invariant, multiple, rule

from afl_core.model.errors import ReviewError
from afl_core.review import queue
from afl_core.review.run import LEASE_MS
from afl_core.settings.schema import Settings
from afl_core.store import queue as queue_rows
from afl_core.store import reviews as review_rows
from afl_core.store.connection import writing
from afl_core.store.reviews import ReviewStatus

SETTINGS = Settings(review_min_entries=2, review_batch_max=3, review_max_attempts=2, review_max_age=600, review_cooldown=120)


class Reviews(RuleBasedStateMachine):
    """The queue of one project of one host, its leases and a clock that also jumps back."""

    leases = Bundle("leases")

    def __init__(self) -> None:
        super().__init__()
        # Reviews of the same millisecond are listed by their ids: with ids of chance the same steps would lead to other states.
        numbers = itertools.count(1)
        self.made_ids, queue.new_id = queue.new_id, lambda: f"review-{next(numbers):06}"
        self.db = sqlite3.connect(":memory:", isolation_level=None)
        self.db.row_factory = sqlite3.Row
        self.db.deserialize(world.empty())
        world.session(self.db)
        self.now = world.NOW
        self.said: list[str] = []
        self.acknowledged: dict[str, int] = {}
        self.current: dict[str, int] = {}

    def teardown(self) -> None:
        queue.new_id = self.made_ids
        self.db.close()

    def reviews(self):
        return review_rows.latest(self.db, limit=1000)

    @initialize(target=leases, words=st.integers(1, 5))
    def begin(self, words):
        """Most histories start with words and somebody at work on them."""
        for _ in range(words):
            self.say(immediate=True, submits=False)
        self.tick()
        return self.claim()

    @rule(immediate=st.booleans(), submits=st.booleans())
    def say(self, immediate, submits):
        event_id = f"e{len(self.said):03}"
        world.event(self.db, event_id, "words", offset=len(self.said))
        with writing(self.db):
            assert queue.enqueue(self.db, event_id, world.PROJECT, immediate, self.now)
        self.said.append(event_id)
        if immediate and submits:
            due = world.submit(self.db, SETTINGS, now=self.now, immediate_event=event_id)
            assert due.immediate
            held = {row.event_id for row in queue_rows.of_review(self.db, due.review_id)}
            assert event_id in held

    @rule()
    def say_again(self):
        if self.said:
            with writing(self.db):
                assert not queue.enqueue(self.db, self.said[-1], world.PROJECT, False, self.now)

    @rule()
    def tick(self):
        with writing(self.db):
            queue.submit_all_due(self.db, SETTINGS, self.now)

    @rule(ms=st.sampled_from([1, 1000, LEASE_MS, LEASE_MS + 1, 300_000, 3_600_000, 365 * 86_400_000, -1000, -3_600_000, -365 * 86_400_000]))
    def pass_time(self, ms):
        self.now += ms

    @rule(target=leases)
    def claim(self):
        for review_id in queue.due_reviews(self.db, SETTINGS, self.now):
            before = review_rows.get(self.db, review_id)
            with writing(self.db):
                if before.attempt >= SETTINGS.review_max_attempts:
                    queue.give_up(self.db, before, self.now)
                    continue
                lease = queue.claim(self.db, review_id, "owner", self.now, LEASE_MS)
            assert lease is not None
            assert lease.fence == before.fence + 1
            with writing(self.db):
                assert queue.claim(self.db, review_id, "other", self.now, LEASE_MS) is None
            self.current[review_id] = lease.fence
            return lease
        return multiple()

    def attempt(self, lease, action) -> bool:
        """A write under a lease works only while it is the newest one and has not ended."""
        row = review_rows.get(self.db, lease.review_id)
        valid = row.status is ReviewStatus.RUNNING and row.fence == lease.fence and self.now <= row.lease_until_ms <= self.now + 3_660_000
        refused = None
        try:
            with writing(self.db):
                action()
        except ReviewError as bad:
            refused = bad.reason
        assert refused == (None if valid else "lease_lost")
        if refused:
            return False
        assert self.current[lease.review_id] == lease.fence
        return True

    @rule(target=leases)
    def lose_and_take_over(self):
        """Whoever had a lease was lost; somebody else works now, and the old lease is still around."""
        self.now += LEASE_MS + 1
        self.recover()
        return self.claim()

    @rule()
    def wait_for_what_is_due(self):
        due = queue.next_due_ms(self.db, SETTINGS, self.now)
        if due is not None:
            self.now = due
            self.tick()
            # A time that was announced is one at which there is something to do.
            running = [row.lease_until_ms for row in self.reviews() if row.status is ReviewStatus.RUNNING]
            assert queue.due_reviews(self.db, SETTINGS, self.now) or due in [until + 1 for until in running]

    @rule(lease=leases, then=st.sampled_from(["complete", "fail", "postpone"]))
    def end_but_remember(self, lease, then):
        """A lease that was used and is used again later."""
        if then == "postpone":
            self.postpone(lease, 0)
        else:
            getattr(self, then)(lease)

    @rule(lease=consumes(leases))
    def complete(self, lease):
        held = [row.event_id for row in queue_rows.of_review(self.db, lease.review_id) if row.status == "pending"]
        if self.attempt(lease, lambda: queue.complete(self.db, lease, "receipt", "report", self.now)):
            assert held
            for event_id in held:
                self.acknowledged[event_id] = self.acknowledged.get(event_id, 0) + 1

    @rule(lease=consumes(leases))
    def fail(self, lease):
        self.attempt(lease, lambda: queue.fail(self.db, lease, "receipt_shape", "", SETTINGS, self.now))

    @rule(lease=consumes(leases), wait=st.sampled_from([0, 60_000, 10**12]))
    def postpone(self, lease, wait):
        before = review_rows.get(self.db, lease.review_id)
        if self.attempt(lease, lambda: queue.postpone(self.db, lease, "reviewer_network", "", self.now + wait, self.now)):
            assert review_rows.get(self.db, lease.review_id).attempt == before.attempt - 1

    @rule(lease=leases)
    def renew(self, lease):
        self.attempt(lease, lambda: queue.renew(self.db, lease, self.now, LEASE_MS))

    @rule()
    def recover(self):
        with writing(self.db):
            for review_id in queue.recover(self.db, self.now):
                assert review_rows.get(self.db, review_id).status is ReviewStatus.PENDING

    @rule()
    def retry(self):
        for row in self.reviews():
            if row.status is ReviewStatus.FAILED:
                with writing(self.db):
                    assert queue.retry(self.db, row.review_id, self.now) > 0

    @invariant()
    def no_word_is_lost_or_reviewed_twice(self):
        rows = {event_id: queue_rows.get(self.db, event_id) for event_id in self.said}
        for event_id, row in rows.items():
            assert row is not None
            assert self.acknowledged.get(event_id, 0) == (1 if row.status == "acknowledged" else 0)
            if row.review_id is None:
                assert row.status == "pending"
                continue
            status = review_rows.get(self.db, row.review_id).status
            expected = {ReviewStatus.COMPLETED: "acknowledged", ReviewStatus.FAILED: "exhausted"}.get(status, "pending")
            assert row.status == expected

    @invariant()
    def reviews_are_bounded_and_hold_something(self):
        for row in self.reviews():
            held = queue_rows.of_review(self.db, row.review_id)
            assert 1 <= len(held) <= SETTINGS.review_batch_max
            assert row.attempt <= SETTINGS.review_max_attempts
            assert (row.status is ReviewStatus.RUNNING) == (row.owner is not None) == (row.lease_until_ms is not None)

    @invariant()
    def whatever_is_open_is_due_at_a_known_time_not_too_far_away(self):
        due = queue.next_due_ms(self.db, SETTINGS, self.now)
        unfinished = any(queue_rows.get(self.db, event_id).status == "pending" for event_id in self.said)
        assert (due is not None) == unfinished
        if due is not None:
            assert self.now <= due <= self.now + 21_600_000


Reviews.TestCase.settings = hypothesis.settings(max_examples=250, stateful_step_count=40, deadline=None)
TestReviews = Reviews.TestCase
