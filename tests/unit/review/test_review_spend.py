"""Caps and the breaker: what may be spent in a day, and a reviewer that keeps failing rests."""

from __future__ import annotations

import pytest

from afl_core.review import reasons, spend
from afl_core.settings.schema import Settings
from afl_core.store import spend as rows
from afl_core.store.connection import writing
from afl_core.store.spend import Run

HOUR = 3_600_000


def ran(db, number, *, at, outcome="completed", project="/p", reviewer="claude", tokens=0, usd=None) -> None:
    ended = None if outcome is None else at + 1000
    run = Run(f"run-{number:04}", "review", project, reviewer, None, at, ended, outcome, tokens, 0, usd)
    with writing(db):
        rows.begin(db, run)


def cap(db, now, **settings):
    return spend.cap_reached(db, "/p", Settings(**settings), now)


def test_a_days_reviews_are_capped_and_the_next_day_is_free(db, world):
    for number in range(3):
        ran(db, number, at=world.NOW - number * 1000, project=f"/p{number}")
    assert cap(db, world.NOW, reviews_per_day=3) == "cap_reviews"
    assert cap(db, world.NOW, reviews_per_day=4) is None
    assert cap(db, world.NOW + 24 * HOUR, reviews_per_day=3) is None


def test_one_projects_reviews_are_capped_by_themselves(db, world):
    for number in range(2):
        ran(db, number, at=world.NOW)
    ran(db, 9, at=world.NOW, project="/other")
    assert cap(db, world.NOW, reviews_per_day_and_project=2) == "cap_project_reviews"
    assert cap(db, world.NOW, reviews_per_day_and_project=3) is None


def test_tokens_and_money_are_capped(db, world):
    ran(db, 1, at=world.NOW, tokens=1000, usd=0.5)
    ran(db, 2, at=world.NOW, usd=None)
    assert cap(db, world.NOW, review_tokens_per_day=1000) == "cap_tokens"
    assert cap(db, world.NOW, review_tokens_per_day=1001) is None
    assert cap(db, world.NOW, review_usd_per_day=0.5) == "cap_usd"
    assert cap(db, world.NOW, review_usd_per_day=0.6) is None


def test_a_running_review_counts_and_one_that_could_not_start_does_not(db, world):
    ran(db, 1, at=world.NOW, outcome=None)
    ran(db, 2, at=world.NOW, outcome="reviewer_login_missing")
    assert cap(db, world.NOW, reviews_per_day=2) is None
    assert cap(db, world.NOW, reviews_per_day=1) == "cap_reviews"


def test_zero_switches_reviews_off(db, world):
    assert cap(db, world.NOW, reviews_per_day=0) == "reviews_off"


def test_a_clock_that_was_a_year_ahead_uses_nothing_up(db, world):
    ran(db, 1, at=world.NOW + 365 * 24 * HOUR)
    assert cap(db, world.NOW, reviews_per_day=1) is None


def test_five_failures_in_a_row_rest_a_reviewer_for_an_hour(db, world):
    for number in range(4):
        ran(db, number, at=world.NOW + number, outcome="receipt_shape", project=f"/p{number}")
    assert spend.rests_until(db, "claude", world.NOW + 2000) is None
    ran(db, 4, at=world.NOW + 4, outcome="reviewer_timeout")
    until = spend.rests_until(db, "claude", world.NOW + 2000)
    assert until == world.NOW + 4 + 1000 + HOUR
    assert spend.rests_until(db, "codex", world.NOW + 2000) is None
    assert spend.rests_until(db, "claude", until) is None


def test_one_try_after_the_rest_decides_whether_it_rests_again(db, world):
    for number in range(5):
        ran(db, number, at=world.NOW + number, outcome="receipt_shape")
    later = world.NOW + 2 * HOUR
    ran(db, 5, at=later, outcome="receipt_shape")
    assert spend.rests_until(db, "claude", later + 2000) is not None
    ran(db, 6, at=later + HOUR * 2)
    assert spend.rests_until(db, "claude", later + HOUR * 2 + 2000) is None


def test_a_success_or_a_postponement_in_between_does_not_count_as_a_failure(db, world):
    for number in range(9):
        ran(db, number, at=world.NOW + number, outcome="completed" if number == 5 else "receipt_shape")
    assert spend.rests_until(db, "claude", world.NOW + 2000) is None
    for number in range(10, 14):
        ran(db, number, at=world.NOW + number, outcome="reviewer_network")
    assert spend.rests_until(db, "claude", world.NOW + 2000) is None


@pytest.mark.parametrize("reason", reasons.REASONS.values(), ids=lambda reason: reason.code)
def test_every_reason_says_what_happened_and_what_to_do(reason):
    assert reason.sentence
    assert reason.next_step
    assert reasons.explain(reason.code) is reason


def test_a_providers_own_reason_is_explained_as_such():
    assert reasons.explain("odd_one").counts
    assert "odd_one" in reasons.explain("odd_one").sentence
