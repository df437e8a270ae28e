"""What people are shown of a lesson: its card, its family, how far it is from global, what it did, and why a session got it."""

from __future__ import annotations

import json

import pytest

from afl_core.lessons import cards
from afl_core.lessons.delivery import emit, settle
from afl_core.lessons.effect import effect
from afl_core.lessons.explain import REASONS, explain
from afl_core.lessons.families import family_id
from afl_core.lessons.promotion import standing
from afl_core.model.card_text import short_id
from afl_core.model.lesson import Card, Scope, Severity
from afl_core.store import lessons
from afl_core.store.connection import writing

NOW = 1_767_225_600_000


@pytest.fixture
def give(db, pick):
    def run(prompt, intake_id="i1", nonce="1" * 16, now=NOW):
        chosen = pick(prompt)
        with writing(db):
            emit(db, chosen, session_id="claude:s", epoch=1, intake_id=intake_id, nonce=nonce, now=now)
        return chosen

    return run


def test_a_family_has_the_golden_id():
    golden = "4dd84d517da57aedf99a588e541b3584b462fb4f3317a41adc45d51d927cd43b"
    assert family_id("verification-closure", "claim-without-evidence") == golden


def test_a_lesson_is_shown_as_agents_get_it(db, teach, pick):
    teach("L1", severity=Severity.BLOCKER)
    row = lessons.get(db, "L1")
    assert cards.shown(db, row) == pick("x").cards[0].text
    assert cards.shown(db, row).startswith(f"Blocker · lesson {short_id('L1')} · learnt 2026-01-01 from your words\nWhen: ")


def test_the_limits_can_be_asked_before_a_proposal():
    good = Card("a", "b", "c", "d", "e", "f", ("s",))
    assert cards.faults(good, Scope()) == ()
    assert cards.faults(Card("", "b", "c", "d", "e", "f", ("s",)), Scope(tools=(" ",))) == (
        "card.when is empty",
        "scope.tools holds a blank entry or one longer than 200 characters",
    )


def test_a_lessons_standing_says_what_is_missing(db, teach):
    teach("L1", lineage="one")
    found = standing(db, "L1")
    assert (found.lineages, found.incidents) == (1, 1)
    assert [sentence.split(",")[0] for sentence in found.missing] == [
        "its severity is Major",
        "its reviewer did not propose a global rule",
        "its family was seen in 1 independent code bases",
        "its family was seen in 1 incidents",
    ]
    assert standing(db, "nobody") is None


def test_a_taught_lesson_comes_back_for_a_prompt_that_fits_and_says_why(db, teach, give):
    teach("L1")
    chosen = give("The migrations are finished, aren't they? Claiming so")
    assert [(card.lesson_id, card.match) for card in chosen.cards] == [("L1", {"words": ["claiming", "migration", "finished"]})]
    assert "Must not: infer the result" in chosen.cards[0].text


def test_an_effect_counts_what_reached_what_followed_and_what_was_violated(db, teach, give, happened):
    teach("L1", severity=Severity.BLOCKER)
    assert effect(db, "L1").words == "never selected"
    happened("before")  # at NOW + 1 s
    give("x", now=NOW + 1_500)
    assert effect(db, "L1").words == "given, waiting for proof"
    with writing(db):
        settle(db, session_id="claude:s", shown=[], answered_ms=NOW + 1_600, now=NOW)
    assert effect(db, "L1").words == "given, not confirmed by a transcript"
    with writing(db):
        settle(db, session_id="claude:s", shown=[("1" * 16, NOW + 1_700)], answered_ms=None, now=NOW)
    assert effect(db, "L1").words == "reached, no turn since"
    happened("u1")
    happened("a1", "assistant")
    happened("u2")
    happened("elsewhere", session_id="claude:t")
    happened("later window", epoch=2)
    found = effect(db, "L1")
    assert (found.reached, found.turns, found.sessions, found.violations) == (1, 2, 1, 0)
    assert found.words == "reached, no complaint seen in 2 turns"
    family = lessons.get(db, "L1").family_id
    with writing(db):
        for incident, event, of in (("x1", "u2", family), ("x2", "before", family), ("x3", "u1", "another family")):
            db.execute("INSERT INTO incidents VALUES (?, 'p', 'v', 'Major', ?, 'L1', ?, 'quote', 1)", (incident, of, event))
    teach("L1", severity=Severity.BLOCKER, base_revision=1, now=NOW + 9_000, incident_id="x1")
    found = effect(db, "L1")
    assert (found.violations, found.recurrences) == (1, 1)
    assert found.words == "reached, then violated once in 2 turns"
    assert effect(db, "nobody") is None


def test_an_explanation_names_what_was_given_what_was_left_and_why(db, teach, give, project):
    teach("L1", severity=Severity.BLOCKER)
    project("big", "Critical", tokens=5_000)
    project("far")
    with writing(db):
        db.execute(
            "INSERT INTO sessions (session_id, host, native_id, project_id, cwd, started_ms, seen_ms)"
            " VALUES ('claude:s', 'claude', 's', 'p', '/repo', ?, ?)",
            (NOW, NOW),
        )
    give("x")
    found = explain(db, "claude:s")
    assert (found.project_id, found.epoch) == ("p", 1)
    assert [(one.lesson_id, one.severity, one.state, one.match) for one in found.given] == [("L1", "Blocker", "emitted", {"severe": True})]
    assert [(one.lesson_id, one.reason) for one in found.left] == [("big", "oversize"), ("far", "no_match")]
    assert all(one.meaning == REASONS[one.reason] for one in found.left)
    assert found.holds == ("memory_overflow_hold in epoch 1",)


def test_an_unknown_session_has_an_empty_explanation(db):
    found = explain(db, "nobody")
    assert (found.project_id, found.given, found.left, found.holds) == (None, (), (), ())


def test_a_retracted_lesson_is_still_explained_with_its_severity(db, teach, give):
    decision = teach("L1", severity=Severity.BLOCKER)
    give("x")
    from afl_core.changes import gates

    with writing(db):
        gates.undo(db, n=decision.audit[-1], actor="user:me", reason="", now=NOW + 5)
    assert [(one.lesson_id, one.severity) for one in explain(db, "claude:s").given] == [("L1", "Blocker")]


def test_every_reason_a_selection_gives_has_a_meaning(project, pick):
    project("place", paths=["src/api"], signals=["部署"])
    project("disputed", signals=["部署"], conflict="safety_hold")
    project("trend", signals=["部署"], load_policy="trend_only")
    project("far")
    for number in range(20):
        project(f"m{number:02}", signals=["部署"], tokens=50)
    project("twin", signals=["部署"], family_id="family of m00")
    chosen = pick("部署 docs/x.md")
    assert {reason for _, reason in chosen.omitted} <= REASONS.keys()
    assert {"other_place", "conflict", "trend_only", "no_match", "candidate_limit", "family"} <= {reason for _, reason in chosen.omitted}
    assert json.dumps(chosen.cards[0].match)
