"""Which lessons may be given at all: families, projects, repeats, conflicts, trends and lessons born in the session."""

from __future__ import annotations

import pytest

from afl_core.lessons.delivery import compose, emit
from afl_core.lessons.selection import reselect
from afl_core.store.connection import writing

NOW = 1_767_225_600_000


@pytest.fixture
def give(db, pick):
    """Select and emit, as a turn does; every call is another prompt."""
    count = 0

    def run(prompt="", *, epoch=1, **changed):
        nonlocal count
        count += 1
        chosen = pick(prompt, epoch=epoch, **changed)
        with writing(db):
            emit(db, chosen, session_id="claude:s", epoch=epoch, intake_id=f"i{count}", nonce=f"{count:016x}", now=NOW + count)
        return chosen

    return run


def again(db, epoch):
    limits = {"limit_chars": 9_900, "limit_bytes": None, "budget_tokens": 0}
    return reselect(db, project_id="p", session_id="claude:s", epoch=epoch, **limits)


def ids(selection):
    return [card.lesson_id for card in selection.cards]


def set_state(db, state):
    with writing(db):
        db.execute("UPDATE deliveries SET state = ?", (state,))


def test_no_lesson_gives_an_empty_selection(pick):
    assert pick("anything") == ((), (), None, "", 0)


def test_another_projects_lessons_are_never_given_and_global_ones_always_may(project, pick):
    project("theirs", "Blocker", project_id="q")
    project("everybody's", "Blocker", project_id="", is_global=1)
    assert ids(pick("x")) == ["everybody's"]


def test_one_card_a_family(project, pick):
    project("major", signals=["部署"], family_id="f", revision=9)
    project("severe", "Critical", family_id="f")
    project("old", "Blocker", family_id="g", revision=1)
    project("new", "Blocker", family_id="g", revision=2)
    project("local", "Critical", family_id="h")
    project("global", "Critical", family_id="h", project_id="", is_global=1)
    chosen = pick("部署")
    assert ids(chosen) == ["new", "global", "severe"]
    assert dict(chosen.omitted) == {"major": "family", "old": "family", "local": "family"}


def test_a_card_is_given_once_an_epoch(project, give):
    project("b", "Blocker")
    assert ids(give("x")) == ["b"]
    repeated = give("x")
    assert (ids(repeated), repeated.omitted) == ([], (("b", "delivered"),))
    assert ids(give("x", epoch=2)) == ["b"]


def test_a_new_revision_is_given_again(project, give):
    project("b", "Blocker")
    give("x")
    project("b", "Blocker", revision=2)
    assert [(card.lesson_id, card.revision) for card in give("x").cards] == [("b", 2)]


def test_without_proof_a_card_is_given_twice_and_not_more(project, give, db):
    project("b", "Blocker")
    give("x")
    set_state(db, "unconfirmed")
    assert ids(give("x")) == ["b"]
    set_state(db, "unconfirmed")
    third = give("x")
    assert (ids(third), third.omitted) == ([], (("b", "unconfirmed"),))
    assert db.execute("SELECT emissions FROM deliveries").fetchone()[0] == 2


def test_the_severe_that_did_not_fit_follow_with_the_next_prompt_and_the_hold_is_told_once(project, give):
    for number in range(7):
        project(f"s{number}", "Critical")
    first, second, third = give("x"), give("x"), give("x")
    assert (ids(first), first.hold) == (["s0", "s1", "s2", "s3"], "memory_overflow_hold")
    assert (ids(second), second.hold) == (["s4", "s5", "s6"], None)
    assert (ids(third), third.hold, third.hold_text) == ([], None, "")


def test_a_lesson_that_can_never_fit_holds_once_an_epoch(project, give):
    project("big", "Blocker", tokens=5_000)
    assert [give("x").hold, give("x").hold, give("x", epoch=2).hold, give("x", epoch=2).hold] == [
        "memory_overflow_hold",
        None,
        "memory_overflow_hold",
        None,
    ]


def test_a_safety_conflict_gives_no_card_once_and_then_everything_but_the_disputed(project, give):
    project("disputed", "Blocker", conflict="safety_hold")
    project("fine", "Critical")
    first, second = give("x"), give("x")
    assert (ids(first), first.hold) == ([], "safety_hold")
    assert "state=safety_hold" in first.hold_text
    assert (ids(second), second.hold, second.omitted) == (["fine"], None, (("disputed", "conflict"),))


def test_a_disputed_major_is_left_out_without_a_hold(project, pick):
    project("disputed", signals=["部署"], conflict="safety_hold")
    chosen = pick("部署")
    assert (chosen.cards, chosen.hold, chosen.omitted) == ((), None, (("disputed", "conflict"),))


def test_a_trend_is_not_given_unless_it_is_severe_and_never_displaces_its_family(project, pick):
    project("trend", signals=["部署"], load_policy="trend_only", family_id="f", revision=5)
    project("card", signals=["部署"], family_id="f")
    project("severe", "Critical", load_policy="trend_only")
    assert ids(pick("部署")) == ["severe", "card"]


def test_a_lesson_born_in_this_session_comes_with_its_next_prompt_once(project, give):
    project("new", origin_session="claude:s")
    project("elsewhere", origin_session="claude:t")
    first = give("nothing that fits")
    assert [(card.lesson_id, card.match) for card in first.cards] == [("new", {"born_here": True})]
    assert ids(give("nothing that fits")) == []
    assert ids(give("nothing that fits", epoch=2)) == []


def test_a_lesson_born_in_this_session_comes_again_while_its_arrival_is_not_proved(project, give, db):
    project("new", origin_session="claude:s")
    assert ids(give("nothing that fits")) == ["new"]
    set_state(db, "unconfirmed")
    assert ids(give("nothing that fits")) == ["new"]
    set_state(db, "unconfirmed")
    assert ids(give("nothing that fits")) == []


def test_a_selector_adds_candidates_and_decides_nothing_else(project, pick):
    project("added", tokens=60)
    project("unknown here", project_id="q")
    project("dear", tokens=2_000)
    chosen = pick("x", extra=["added", "unknown here", "dear", "nonsense"])
    assert [(card.lesson_id, card.match) for card in chosen.cards] == [("added", {"selector": True})]
    assert dict(chosen.omitted)["dear"] == "oversize"


def test_a_fresh_window_gets_what_the_session_had_and_all_severe_cards(project, give, db):
    project("b", "Blocker")
    project("had", signals=["部署"])
    project("not had", signals=["测试"])
    give("部署")
    fresh = again(db, 2)
    assert [(card.lesson_id, card.match) for card in fresh.cards] == [("b", {"again": True, "severe": True}), ("had", {"again": True})]
    assert fresh.omitted == (("not had", "no_match"),)
    with writing(db):
        emit(db, fresh, session_id="claude:s", epoch=2, intake_id="start", nonce="f" * 16, now=NOW)
    assert ids(again(db, 2)) == []
    assert ids(give("部署", epoch=2)) == []


def test_a_hold_stands_before_the_cards_and_names_what_is_missing(project, pick):
    project("big", "Blocker", tokens=5_000)
    project("c", "Critical")
    text = compose(pick("x"), "0123456789abcdef")
    hold, _, memory = text.partition("\n\n")
    assert hold.startswith("[agent-feedback-loop checkpoint hold]\nstate=memory_overflow_hold\n")
    assert "too long for any prompt" in hold
    assert memory == "[agent-feedback-loop memory]\nCritical card c\nWhen: always\nnonce=0123456789abcdef"
