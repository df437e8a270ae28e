"""From emitted to reached or unconfirmed: what the transcript proves, and nothing more."""

from __future__ import annotations

import json

import pytest

from afl_core.lessons.delivery import compose, emit, settle
from afl_core.lessons.selection import Chosen, Omitted, Selection
from afl_core.model.ids import digest
from afl_core.store import deliveries
from afl_core.store.connection import writing

NOW = 1_767_225_600_000
N1, N2 = "1" * 16, "2" * 16


def selection(*lesson_ids, omitted=(), hold=None):
    cards = tuple(Chosen(each, 1, f"card {each}", 10, {"severe": True}) for each in lesson_ids)
    return Selection(cards, tuple(omitted), hold, f"hold {hold}" if hold else "", 10 * len(cards))


@pytest.fixture
def say(db):
    def run(chosen, nonce=N1, intake_id="i1", now=NOW, session_id="claude:s", epoch=1):
        with writing(db):
            emit(db, chosen, session_id=session_id, epoch=epoch, intake_id=intake_id, nonce=nonce, now=now)

    return run


@pytest.fixture
def prove(db):
    def run(*shown, answered=None, session_id="claude:s"):
        with writing(db):
            return settle(db, session_id=session_id, shown=list(shown), answered_ms=answered, now=NOW + 99)

    return run


def states(db):
    return {row.lesson_id: row.state for row in deliveries.of_session(db, "claude:s")}


def test_the_text_has_a_first_line_the_cards_and_the_nonce_line():
    assert compose(selection("a", "b"), N1) == f"[agent-feedback-loop memory]\ncard a\ncard b\nnonce={N1}"
    assert compose(selection(), N1) == ""
    assert compose(selection(hold="safety_hold"), N1) == "hold safety_hold"


def test_an_emission_is_recorded_with_why_under_a_stable_id(db, say):
    say(selection("a"))
    row = deliveries.get(db, digest("delivery:v1", "claude:s", "1", "a", "1"))
    assert row is not None
    assert (row.state, row.emissions, row.nonce, json.loads(row.match_json)) == ("emitted", 1, N1, {"severe": True})
    assert (row.intake_id, row.emitted_ms, row.reached_ms) == ("i1", NOW, None)


def test_the_same_intake_twice_counts_once(db, say):
    say(selection("a", omitted=[Omitted("x", "budget")]))
    before = [tuple(row) for row in db.execute("SELECT * FROM deliveries")]
    say(selection("a", omitted=[Omitted("x", "budget")]), nonce=N2, now=NOW + 5)
    assert [tuple(row) for row in db.execute("SELECT * FROM deliveries")] == before
    assert db.execute("SELECT count(*) FROM omissions").fetchone()[0] == 1


def test_a_nonce_in_the_transcript_proves_every_card_of_its_injection(db, say, prove):
    say(selection("a", "b"))
    say(selection("c"), nonce=N2, intake_id="i2")
    assert prove((N1, NOW + 7)) == ["a", "b"]
    assert states(db) == {"a": "reached", "b": "reached", "c": "emitted"}
    assert deliveries.latest_for(db, "a", 5)[0].reached_ms == NOW + 7
    assert prove((N1, NOW + 8)) == []


def test_an_answer_after_an_emission_without_its_nonce_leaves_it_unconfirmed(db, say, prove):
    say(selection("a"))
    assert prove(answered=NOW) == []
    assert states(db) == {"a": "emitted"}
    prove(answered=NOW + 1)
    assert states(db) == {"a": "unconfirmed"}


def test_a_late_proof_still_counts(db, say, prove):
    say(selection("a"))
    prove(answered=NOW + 1)
    assert prove((N1, NOW + 2), answered=NOW + 3) == ["a"]
    assert states(db) == {"a": "reached"}


def test_what_reached_is_never_taken_back(db, say, prove):
    say(selection("a"))
    prove((N1, NOW))
    prove(answered=NOW + 1_000)
    say(selection("a"), nonce=N2, intake_id="i2")
    assert states(db) == {"a": "reached"}


def test_a_nonce_proves_nothing_in_another_session(db, say, prove):
    say(selection("a"))
    assert prove((N1, NOW), session_id="claude:t") == []
    assert prove(("f" * 16, NOW)) == []
    assert states(db) == {"a": "emitted"}


def test_omissions_are_bounded_and_the_nearest_come_first(db, say):
    far = [Omitted(f"n{number:02}", "no_match") for number in range(40)]
    say(selection(omitted=[*far, Omitted("d", "delivered"), Omitted("near", "budget")]))
    rows = db.execute("SELECT lesson_id, reason FROM omissions").fetchall()
    assert len(rows) == 24
    assert ("near", "budget") in [tuple(row) for row in rows]
    assert "d" not in {row["lesson_id"] for row in rows}


def test_a_hold_is_remembered_for_its_epoch(db, say):
    say(selection(hold="safety_hold"))
    assert deliveries.hold_told(db, "claude:s", "safety_hold", 1)
    assert not deliveries.hold_told(db, "claude:s", "safety_hold", 2)
    assert not deliveries.hold_told(db, "claude:s", "memory_overflow_hold", 1)
    assert not deliveries.hold_told(db, "claude:t", "safety_hold", 1)


def test_the_latest_deliveries_of_a_lesson_come_first(db, say):
    for number in range(3):
        say(selection("a"), intake_id=f"i{number}", epoch=number, now=NOW + number)
    assert [row.epoch for row in deliveries.latest_for(db, "a", 2)] == [2, 1]
