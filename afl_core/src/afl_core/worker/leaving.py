"""When the front goes home. Pure: times in, decision out."""

from __future__ import annotations

from typing import NamedTuple

AFTER_LAST_MS = 20 * 60_000
"""The front stays this long after the last live session, and after the last event."""

TIMER_MS = 2 * 3_600_000
"""Where no schedule is installed it stays for evidence that waits for its age, but not for a timer further away than this: that is another clock or another day."""


class Now(NamedTuple):
    """What the decision rests on; times in ms since the epoch, 0 for never. `quiet_ms`: since the last event or the start, by a clock that cannot jump.

    `scheduled`: a scheduled reconcile is installed, which sees to evidence that comes of age.
    """

    now: int
    quiet_ms: int
    alive_until: int
    jobs_run: bool
    next_ms: int
    scheduled: bool = False


def may_leave(at: Now) -> bool:
    """Whether nothing needs the front any more."""
    if at.jobs_run or at.quiet_ms < AFTER_LAST_MS:
        return False
    if not at.scheduled and at.now < at.next_ms <= at.now + TIMER_MS:
        return False
    return at.alive_until + AFTER_LAST_MS < at.now


def is_due(now: int, next_ms: int) -> bool:
    """Whether the jobs process asked to be started by now. A time that is too far away to be meant is due."""
    return next_ms != 0 and not now < next_ms <= now + TIMER_MS
