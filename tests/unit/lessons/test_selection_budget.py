"""Budgets, order and limits of a selection. Golden numbers are those of the reference where the formula is kept."""

from __future__ import annotations

import pytest

from afl_core.lessons.delivery import compose
from afl_core.lessons.selection import Budgets, budgets

NONCE = "0123456789abcdef"


def ids(selection):
    return [card.lesson_id for card in selection.cards]


def reasons(selection):
    return dict(selection.omitted)


def test_the_budgets_have_the_golden_numbers():
    assert budgets([57, 93, 57], 0) == Budgets(192, 384, 768)
    assert budgets([349] * 4, 0) == Budgets(419, 838, 1676)
    assert budgets([], 0) == Budgets(192, 384, 768)
    assert budgets([1_600] * 3, 0) == Budgets(1600, 3200, 6400)
    assert budgets([349], 100) == Budgets(419, 100, 100)


def test_the_95th_percentile_ignores_one_giant_in_twenty():
    assert budgets([100] * 19 + [1_600], 0).target == 192
    assert budgets([100] * 18 + [1_600] * 2, 0).target == 1600


def test_golden_selection_a_with_a_signal_of_two_words(project, pick):
    # The reference loads m by the single word "deploy"; ours asks for two words of a spaced script, because one is too common a word.
    project("b", "Blocker", tokens=57)
    project("c", "Critical", tokens=93)
    project("m", signals=["deploy now"], tokens=57)
    project("one word", signals=["deploy"], tokens=57)
    project("unscoped", tokens=57)
    chosen = pick("please Deploy now")
    assert ids(chosen) == ["b", "c", "m"]
    assert chosen.tokens == 207
    assert chosen.hold is None
    assert reasons(chosen) == {"one word": "no_match", "unscoped": "no_match"}


def test_golden_selection_b(project, pick):
    project("c", "Critical", tokens=349)
    for name in ("m1", "m2", "m3"):
        project(name, signals=["部署"], tokens=349)
    chosen = pick("请部署")
    assert ids(chosen) == ["c", "m1", "m2"]
    assert chosen.tokens == 1_047
    assert reasons(chosen) == {"m3": "budget"}


def test_golden_selection_c(project, pick):
    project("c", "Critical", tokens=349)
    chosen = pick("anything", budget_tokens=100)
    assert (chosen.hold, ids(chosen), chosen.tokens) == ("memory_overflow_hold", [], 0)
    assert reasons(chosen) == {"c": "budget"}


def test_an_oversized_major_is_skipped_without_a_hold(project, pick):
    project("big", signals=["部署"], tokens=1_601)
    project("small", signals=["部署"], tokens=60)
    chosen = pick("请部署")
    assert (chosen.hold, ids(chosen), reasons(chosen)) == (None, ["small"], {"big": "oversize"})


def test_an_oversized_severe_lesson_holds_and_the_others_are_still_given(project, pick):
    project("big", "Blocker", tokens=1_601)
    project("other", "Critical")
    project("major", signals=["部署"])
    chosen = pick("请部署")
    assert (chosen.hold, ids(chosen)) == ("memory_overflow_hold", ["other", "major"])
    assert "Blocker lesson" in chosen.hold_text


def test_of_many_severe_lessons_the_four_first_are_given_and_the_rest_is_named(project, pick):
    for number in range(6):
        project(f"s{number}", "Critical")
    project("b", "Blocker")
    chosen = pick("anything")
    assert ids(chosen) == ["b", "s0", "s1", "s2"]
    assert reasons(chosen) == {"s3": "severe_limit", "s4": "severe_limit", "s5": "severe_limit"}
    assert chosen.hold == "memory_overflow_hold"
    assert "3 severe" in chosen.hold_text


def test_no_more_than_twelve_cards_are_considered(project, pick):
    for number in range(14):
        project(f"m{number:02}", signals=["部署"], tokens=20)
    chosen = pick("请部署", budget_tokens=1_600)
    assert len(chosen.cards) == 12
    assert reasons(chosen) == {"m12": "candidate_limit", "m13": "candidate_limit"}


def test_a_lesson_that_matches_comes_before_one_that_is_only_severe(project, pick):
    project("a", "Critical")
    project("z", "Critical", signals=["部署"])
    project("b", "Blocker")
    assert ids(pick("请部署")) == ["b", "z", "a"]


@pytest.mark.parametrize("unit", ["chars", "bytes"])
def test_the_host_limit_counts_the_frame_and_the_nonce_line(project, pick, unit):
    project("b", "Blocker", card_text="警告" * 20)
    whole = compose(pick("x"), NONCE)
    size = len(whole) if unit == "chars" else len(whole.encode())
    limits = {"limit_chars": None, "limit_bytes": None, f"limit_{unit}": size}
    assert ids(pick("x", **limits)) == ["b"]
    limits[f"limit_{unit}"] = size - 1
    smaller = pick("x", **limits)
    assert (ids(smaller), smaller.hold, reasons(smaller)) == ([], "memory_overflow_hold", {"b": "host_limit"})
    assert compose(smaller, NONCE) == ""  # not even the hold fits; it is still recorded


def test_a_host_limit_makes_room_for_the_hold_with_majors_and_never_with_severe_cards(project, pick):
    project("big", "Blocker", tokens=2_000)
    project("c", "Critical", card_text="c" * 500)
    project("m", signals=["部署"], card_text="m" * 500)
    chosen = pick("请部署", limit_chars=1_200)
    assert ids(chosen) == ["c"]
    assert reasons(chosen) == {"big": "oversize", "m": "host_limit"}
    assert chosen.hold_text
    tight = pick("请部署", limit_chars=600)
    assert (ids(tight), tight.hold, tight.hold_text) == (["c"], "memory_overflow_hold", "")
