"""When the front goes home, and when the jobs process is started without being asked."""

from __future__ import annotations

import pytest

from afl_core.store import sessions
from afl_core.worker.leaving import AFTER_LAST_MS, TIMER_MS, Now, is_due, may_leave

NOW = 1_767_225_600_000
IDLE = Now(now=NOW, quiet_ms=AFTER_LAST_MS, alive_until=0, jobs_run=False, next_ms=0)


def test_it_leaves_twenty_minutes_after_the_last_live_session_and_not_before():
    assert may_leave(IDLE._replace(alive_until=NOW - AFTER_LAST_MS - 1))
    assert not may_leave(IDLE._replace(alive_until=NOW - AFTER_LAST_MS))
    assert not may_leave(IDLE._replace(alive_until=NOW + sessions.ALIVE_MS))


@pytest.mark.parametrize("change", [{"quiet_ms": AFTER_LAST_MS - 1}, {"jobs_run": True}, {"next_ms": NOW + 1}, {"next_ms": NOW + TIMER_MS}])
def test_it_stays_while_something_is_asked_runs_or_waits_for_its_age(change):
    assert may_leave(IDLE)
    assert not may_leave(IDLE._replace(**change))


def test_where_a_schedule_is_installed_it_does_not_stay_for_evidence_that_waits_for_its_age():
    assert may_leave(IDLE._replace(next_ms=NOW + 1, scheduled=True))
    assert not may_leave(IDLE._replace(next_ms=NOW + 1, scheduled=True, jobs_run=True))
    assert not may_leave(IDLE._replace(alive_until=NOW + sessions.ALIVE_MS, scheduled=True))


def test_it_does_not_stay_for_a_timer_of_another_day():
    assert may_leave(IDLE._replace(next_ms=NOW + TIMER_MS + 1))


def test_a_timer_is_due_when_its_time_has_come_or_it_cannot_be_meant():
    assert not is_due(NOW, 0)
    assert not is_due(NOW, NOW + 1)
    assert is_due(NOW, NOW)
    assert is_due(NOW, NOW + TIMER_MS + 1)
