"""When a review is due and who may work on it: pure rules over rows and the time. Reads and writes nothing.

A review belongs to one project and one host. Times are ms since the epoch; a stored time further ahead than its own maximum counts as due,
for then the clock was wrong.
"""

from __future__ import annotations

import enum
from collections.abc import Sequence

import attrs

from afl_core.settings.schema import Settings
from afl_core.store.queue import Queued, Waiting
from afl_core.store.reviews import ReviewRow, ReviewStatus

MAX_LEASE_MS = 3_660_000
"""The longest lease anybody takes: the longest reviewer timeout and a minute."""

MAX_WAIT_MS = 21_600_000
"""The longest pause between two tries of a review: six hours. A longer wake cooldown is cut to it."""


class Due(enum.Enum):
    """What the due rules say."""

    NOT_DUE = "not_due"
    EXISTING = "existing"
    JOINED = "joined"
    FRESH = "fresh"


@attrs.frozen
class DueDecision:
    """`review_id` for EXISTING and JOINED; `displaced`: leaves that review for a later one; `taken`: events for FRESH or JOINED."""

    due: Due
    reason: str
    review_id: str | None = None
    taken: tuple[str, ...] = ()
    displaced: str | None = None
    immediate: bool = False


@attrs.frozen
class Lease:
    """The right to work on a review until `until_ms`, proved by `fence`: a later lease has a higher one."""

    review_id: str
    project_id: str
    host: str
    owner: str
    fence: int
    attempt: int
    until_ms: int


def expired(review: ReviewRow, now: int) -> bool:
    """Whether a running review's lease ended."""
    until = review.lease_until_ms or 0
    return review.status is ReviewStatus.RUNNING and (until < now or until > now + MAX_LEASE_MS)


def wakes_at(review: ReviewRow, now: int) -> int:
    """When a pending review may start."""
    return now if review.next_wake_ms > now + MAX_WAIT_MS else review.next_wake_ms


def batch_due_at(waiting: Sequence[Waiting], last_end_ms: int | None, settings: Settings, now: int) -> int | None:
    """When the batch rules make a review of what waits due; None when nothing waits. A signal among it makes it due at once."""
    if not waiting:
        return None
    if any(row.immediate for row in waiting):
        return now
    oldest = waiting[0].created_ms
    full = len(waiting) >= settings.review_min_entries
    ripe = now if full or oldest > now else oldest + settings.review_max_age * 1000
    cool = now if last_end_ms is None or last_end_ms > now else last_end_ms + settings.review_cooldown * 1000
    return max(ripe, cool)


def decide_due(
    *,
    waiting: Sequence[Waiting],
    open_reviews: Sequence[tuple[ReviewRow, Sequence[Queued]]],
    last_end_ms: int | None,
    settings: Settings,
    now: int,
    immediate_event: str | None,
) -> DueDecision:
    """The due rules over what waits and the open reviews (newest first, with their queue rows) of one project and host.

    A signal joins a pending review that was never really attempted, at the cost of the oldest ordinary event when it is full; otherwise it
    gets a review of its own, whatever the cooldown. Ordinary events make one review at a time.
    """
    if settings.reviews_per_day == 0:
        return DueDecision(Due.NOT_DUE, "reviews_off")
    asked = immediate_event or next((row.event_id for row in waiting if row.immediate), None)
    if asked is not None:
        return _decide_immediate(asked, waiting, open_reviews, settings)
    if open_reviews:
        return DueDecision(Due.EXISTING, "open", open_reviews[0][0].review_id)
    due_at = batch_due_at(waiting, last_end_ms, settings, now)
    if due_at is None:
        return DueDecision(Due.NOT_DUE, "nothing_waits")
    if due_at > now:
        return DueDecision(Due.NOT_DUE, "too_early")
    return DueDecision(Due.FRESH, "batch", taken=tuple(row.event_id for row in waiting[: settings.review_batch_max]))


def _decide_immediate(
    asked: str,
    waiting: Sequence[Waiting],
    open_reviews: Sequence[tuple[ReviewRow, Sequence[Queued]]],
    settings: Settings,
) -> DueDecision:
    for review, held in open_reviews:
        if any(row.event_id == asked for row in held):
            return DueDecision(Due.EXISTING, "held", review.review_id, immediate=True)
    if all(row.event_id != asked for row in waiting):
        return DueDecision(Due.NOT_DUE, "immediate_event_unavailable")
    if open_reviews:
        review, held = open_reviews[0]
        if review.status is ReviewStatus.PENDING and review.attempt == 0:
            ordinary = [row.event_id for row in held if not row.immediate]
            if len(held) < settings.review_batch_max:
                return DueDecision(Due.JOINED, "signal", review.review_id, (asked,), immediate=True)
            if ordinary:
                return DueDecision(Due.JOINED, "signal", review.review_id, (asked,), ordinary[0], immediate=True)
    others = [row.event_id for row in waiting if row.event_id != asked]
    return DueDecision(Due.FRESH, "signal", taken=(asked, *others[: settings.review_batch_max - 1]), immediate=True)


def claimable(review: ReviewRow, now: int) -> bool:
    """Whether a review may be leased now: pending and its pause over, or running with an ended lease."""
    if review.status is ReviewStatus.PENDING:
        return wakes_at(review, now) <= now
    return expired(review, now)


def holds(review: ReviewRow | None, lease: Lease, now: int) -> bool:
    """Whether the lease still gives the right to write: nobody took the review over and the lease has not ended."""
    return (
        review is not None
        and review.status is ReviewStatus.RUNNING
        and (review.owner, review.fence) == (lease.owner, lease.fence)
        and not expired(review, now)
    )
