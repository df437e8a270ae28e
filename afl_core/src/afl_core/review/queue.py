"""The queue of reviews: words that wait, reviews made of them, leases with a fencing token, retries. Runs nothing, decides nothing (`due.py` does).

Every function takes an open transaction, or only reads. Times are ms since the epoch.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

import attrs

from afl_core.model.errors import ReviewError
from afl_core.model.ids import new_id
from afl_core.review.due import MAX_LEASE_MS, MAX_WAIT_MS, Due, Lease, batch_due_at, claimable, decide_due, expired, holds, wakes_at
from afl_core.settings.schema import Settings
from afl_core.store import queue as queue_rows
from afl_core.store import reviews as review_rows
from afl_core.store import spend as spend_rows
from afl_core.store.reviews import ReviewRow, ReviewStatus


@attrs.frozen
class DueResult:
    """What was done. `status` is the review's, or `not_due`; `event_count` the events it holds, or those that wait."""

    review_id: str | None
    status: str
    event_count: int
    existing: bool
    immediate: bool
    reason: str


def enqueue(db: sqlite3.Connection, event_id: str, project_id: str, immediate: bool, now: int) -> bool:
    """Let a person's words wait for review; False when they wait already."""
    return queue_rows.insert(db, event_id, project_id, immediate=immediate, now=now)


def enqueue_all(db: sqlite3.Connection, words: Sequence[tuple[str, bool]], project_id: str, now: int) -> None:
    """Let what a person said wait for review: events of one project, each with whether it is to be judged at once."""
    if words:
        queue_rows.insert_all(db, words, project_id, now)


def submit_due(
    db: sqlite3.Connection, project_id: str, host: str, settings: Settings, now: int, immediate_event: str | None = None
) -> DueResult:
    """Apply the due rules to one project and host: at most one review is made or extended. Expired leases of theirs are requeued first."""
    for review in review_rows.open_for(db, project_id, host):
        if expired(review, now):
            _requeue(db, review, now)
    waiting = queue_rows.waiting(db, project_id, host)
    decision = decide_due(
        waiting=waiting,
        open_reviews=[(review, queue_rows.of_review(db, review.review_id)) for review in review_rows.open_for(db, project_id, host)],
        last_end_ms=review_rows.last_end(db, project_id, host),
        settings=settings,
        now=now,
        immediate_event=immediate_event,
    )
    if decision.due is Due.NOT_DUE:
        return DueResult(None, "not_due", len(waiting), existing=False, immediate=False, reason=decision.reason)
    review_id = decision.review_id or new_id()
    if decision.due is Due.FRESH:
        review_rows.insert(db, review_id, project_id, host, immediate=decision.immediate, now=now)
    if decision.displaced is not None:
        queue_rows.unassign(db, decision.displaced)
    for event_id in decision.taken:
        queue_rows.assign(db, event_id, review_id)
    stored = _existing(db, review_id)
    if decision.due is Due.JOINED:
        # A postponed one is tried again at once: the person is there now and may have logged in.
        stored = attrs.evolve(stored, immediate=True, next_wake_ms=0, updated_ms=now)
        review_rows.update(db, stored)
    return DueResult(
        review_id,
        stored.status.value,
        len(queue_rows.of_review(db, review_id)),
        existing=decision.due is not Due.FRESH,
        immediate=decision.immediate,
        reason=decision.reason,
    )


def submit_all_due(db: sqlite3.Connection, settings: Settings, now: int) -> list[DueResult]:
    """Apply the due rules to every project and host where words wait, so that the maximum age works without a new hook."""
    return [submit_due(db, project_id, host, settings, now) for project_id, host in queue_rows.places_waiting(db)]


def due_reviews(db: sqlite3.Connection, settings: Settings, now: int) -> list[str]:
    """Reviews that may be leased now, the immediate ones first, then the oldest."""
    if settings.reviews_per_day == 0:
        return []
    return [review.review_id for review in review_rows.all_open(db) if claimable(review, now)]


def next_due_ms(db: sqlite3.Connection, settings: Settings, now: int) -> int | None:
    """When the next review may start or become due, never before `now`; None when nothing waits."""
    times = []
    busy = set()
    for review in review_rows.all_open(db):
        busy.add((review.project_id, review.host))
        if review.status is ReviewStatus.RUNNING:
            times.append(now if expired(review, now) else (review.lease_until_ms or 0) + 1)
        elif settings.reviews_per_day:
            times.append(wakes_at(review, now))
    for place in queue_rows.places_waiting(db) if settings.reviews_per_day else ():
        waiting = queue_rows.waiting(db, *place)
        if place in busy:
            waiting = [row for row in waiting if row.immediate]
        due_at = batch_due_at(waiting, review_rows.last_end(db, *place), settings, now)
        if due_at is not None:
            times.append(due_at)
    return max(now, min(times)) if times else None


def claim(db: sqlite3.Connection, review_id: str, owner: str, now: int, lease_ms: int) -> Lease | None:
    """Lease a review: attempt, wakes and fence grow by one. None when it is not open, is leased, or its pause is not over."""
    review = review_rows.get(db, review_id)
    if review is None or not claimable(review, now):
        return None
    if review.status is ReviewStatus.RUNNING:
        review = _requeue(db, review, now)
    leased = attrs.evolve(
        review,
        status=ReviewStatus.RUNNING,
        owner=owner,
        attempt=review.attempt + 1,
        wakes=review.wakes + 1,
        fence=review.fence + 1,
        lease_until_ms=now + min(lease_ms, MAX_LEASE_MS),
        updated_ms=now,
    )
    review_rows.update(db, leased)
    return Lease(review_id, review.project_id, review.host, owner, leased.fence, leased.attempt, now + min(lease_ms, MAX_LEASE_MS))


def renew(db: sqlite3.Connection, lease: Lease, now: int, lease_ms: int) -> Lease:
    """Extend a lease; raises `ReviewError` (lease_lost) when it ended or somebody took the review over."""
    until = now + min(lease_ms, MAX_LEASE_MS)
    review_rows.update(db, attrs.evolve(held(db, lease, now), lease_until_ms=until, updated_ms=now))
    return attrs.evolve(lease, until_ms=until)


def held(db: sqlite3.Connection, lease: Lease, now: int) -> ReviewRow:
    """The review of a lease; raises `ReviewError` (lease_lost) when the lease no longer gives the right to write."""
    review = review_rows.get(db, lease.review_id)
    if review is None or not holds(review, lease, now):
        raise ReviewError(f"the lease of review {lease.review_id} ended or was taken over", reason="lease_lost", code="AFL-REVIEW-002")
    return review


def complete(db: sqlite3.Connection, lease: Lease, receipt_id: str, report_id: str, now: int) -> None:
    """End a review well: its words are acknowledged and the reason of an earlier failure is cleared."""
    review = held(db, lease, now)
    queue_rows.acknowledge(db, lease.review_id)
    review_rows.update(
        db,
        attrs.evolve(
            _free(review, now),
            status=ReviewStatus.COMPLETED,
            reason=None,
            detail=None,
            receipt_id=receipt_id,
            report_id=report_id,
            ended_ms=now,
        ),
    )


def fail(db: sqlite3.Connection, lease: Lease, reason: str, detail: str, settings: Settings, now: int) -> ReviewStatus:
    """One attempt failed: it waits for the next one, or it is given up and its words are released. Gives the new status."""
    review = attrs.evolve(_free(held(db, lease, now), now), reason=reason, detail=detail)
    if review.attempt >= settings.review_max_attempts:
        give_up(db, review, now)
        return ReviewStatus.FAILED
    wake = now + min(settings.review_wake_cooldown * 1000, MAX_WAIT_MS)
    review_rows.update(db, attrs.evolve(review, status=ReviewStatus.PENDING, next_wake_ms=wake))
    return ReviewStatus.PENDING


def postpone(db: sqlite3.Connection, lease: Lease, reason: str, detail: str, wake_ms: int, now: int) -> None:
    """Nothing could be tried (no login, binary, network or budget): it waits until `wake_ms` and the attempt is given back."""
    review = held(db, lease, now)
    review_rows.update(
        db,
        attrs.evolve(
            _free(review, now),
            status=ReviewStatus.PENDING,
            attempt=max(0, review.attempt - 1),
            reason=reason,
            detail=detail,
            next_wake_ms=min(wake_ms, now + MAX_WAIT_MS),
        ),
    )


def give_up(db: sqlite3.Connection, review: ReviewRow, now: int) -> None:
    """End a review whose attempts are used up. Its last reason becomes the detail; its words count for nothing until `retry`."""
    queue_rows.exhaust(db, review.review_id)
    told = review.reason if review.detail in (None, "") else f"{review.reason}: {review.detail}"
    ended = attrs.evolve(_free(review, now), status=ReviewStatus.FAILED, reason="retry_exhausted", detail=told, ended_ms=now)
    review_rows.update(db, ended)


def recover(db: sqlite3.Connection, now: int) -> list[str]:
    """Requeue every review whose lease ended, its reason `lease_expired`; gives their ids. The lost try was an attempt."""
    lost = [review for review in review_rows.all_open(db) if expired(review, now)]
    for review in lost:
        _requeue(db, review, now)
    return [review.review_id for review in lost]


def retry(db: sqlite3.Connection, review_id: str, now: int) -> int:
    """Let a failed or waiting review start now, with all its attempts; gives the number of events it holds. Raises `ReviewError`."""
    review = _existing(db, review_id)
    if review.status in (ReviewStatus.COMPLETED, ReviewStatus.RUNNING):
        raise ReviewError(
            f"review {review_id} is {review.status.value}", reason="not_retryable", code="AFL-REVIEW-004", hint="run: afl review list"
        )
    queue_rows.revive(db, review_id)
    count = sum(row.status == "pending" for row in queue_rows.of_review(db, review_id))
    if not count:
        raise ReviewError(f"the evidence of review {review_id} was erased", reason="not_retryable", code="AFL-REVIEW-004")
    review_rows.update(db, attrs.evolve(review, status=ReviewStatus.PENDING, attempt=0, next_wake_ms=0, ended_ms=None, updated_ms=now))
    return count


def _requeue(db: sqlite3.Connection, review: ReviewRow, now: int) -> ReviewRow:
    spend_rows.close_open(db, review.review_id, "lease_expired", now)
    freed = attrs.evolve(_free(review, now), status=ReviewStatus.PENDING, reason="lease_expired", detail=None, next_wake_ms=0)
    review_rows.update(db, freed)
    return freed


def _free(review: ReviewRow, now: int) -> ReviewRow:
    return attrs.evolve(review, owner=None, lease_until_ms=None, updated_ms=now)


def _existing(db: sqlite3.Connection, review_id: str) -> ReviewRow:
    review = review_rows.get(db, review_id)
    if review is None:
        raise ReviewError(f"there is no review {review_id}", reason="unknown_review", code="AFL-REVIEW-003", hint="run: afl review list")
    return review
