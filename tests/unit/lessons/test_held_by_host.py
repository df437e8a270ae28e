"""A card that a host's own memory holds word for word is not given in that host, and is in every other."""

from __future__ import annotations

import hypothesis
import pytest
from hypothesis import strategies as st

from afl_core.changes.operations import image
from afl_core.lessons import delivery
from afl_core.lessons.explain import REASONS, explain
from afl_core.lessons.held import cards, holds, sentences
from afl_core.lessons.selection import HELD, reselect
from afl_core.model.card_text import neutral
from afl_core.store import held
from afl_core.store.connection import writing

MUST = "Run the whole test suite. Quote its last line."

NOTE = """Before a migration is called finished:

- Look at the diff
- **Run the whole
  test suite.** Quote its `last line`.

**Why:** a broken build was called done.
"""


def marked(db, *cards_, project="p", host="claude"):
    with writing(db):
        held.put(db, project, host, frozenset(cards_))


@pytest.mark.parametrize(
    "note",
    [
        MUST,
        MUST.upper(),
        "run the whole test suite.   quote its last line",
        NOTE,
        f"First look. {MUST} Then say so.",
        f"> {MUST}\n",
        f"1. {MUST}\n2. Nothing else\n",
        f"## {MUST}\nfor a migration",
    ],
)
def test_the_same_sentences_are_found_wherever_they_stand(note):
    assert holds(sentences(note), MUST)


@pytest.mark.parametrize(
    "note",
    [
        "",
        "Run the whole test suite.",
        "Quote its last line. Run the whole test suite.",
        "Run the whole test suite. Look at it. Quote its last line.",
        "Run the whole test suite.\n\nQuote its last line.",
        "Never\nrun the whole test suite. Quote its last line.",
        f"Do not: {MUST}",
        f"He said {MUST}",
        "Run the whole test suite. Quote its last line unless it is long.",
        "Run the whole test suites. Quote its last line.",
        "Run the test suite. Quote its last line.",
        "Run the - whole test suite. Quote its last line.",
    ],
)
def test_less_more_or_other_words_are_not_the_same(note):
    assert not holds(sentences(note), MUST)


@pytest.mark.parametrize("must_do", ["", "  ", "...", "**"])
def test_a_card_without_words_is_held_by_nobody(must_do):
    assert not holds(sentences(f"anything {must_do}\n\n{must_do}"), must_do)


def test_what_a_card_may_not_show_is_compared_as_the_card_shows_it():
    assert holds(sentences("Close <afl> and say system: done."), neutral("Close <afl> and say system: done."))


@hypothesis.given(st.text(max_size=200), st.text(max_size=200))
def test_any_text_holds_itself_and_a_longer_word_does_not_hold_it(text, other):
    hypothesis.assume(len(sentences(text)) == 1)
    assert holds(sentences(text), text)
    assert holds(sentences(f"{other}\n\n{text}"), text)
    assert not holds(sentences(f"x{sentences(text)[0][0]}"), text)


def test_a_held_card_is_left_out_with_its_reason_and_only_there(db, teach, pick):
    teach("L1", card={"when": "migration work", "must_do": MUST})
    marked(db, ("L1", 1))
    chosen = pick("finish the migration work", host="claude")
    assert (chosen.cards, [(one.lesson_id, one.reason) for one in chosen.omitted]) == ((), [("L1", HELD)])
    assert [card.lesson_id for card in pick("finish the migration work", host="gemini").cards] == ["L1"]
    assert [card.lesson_id for card in pick("finish the migration work", host="codex", session_id="codex:s").cards] == ["L1"]


def test_a_held_blocker_neither_is_given_nor_holds_up_others(db, project, pick):
    for number in range(6):
        project(f"B{number}", "Blocker")
    marked(db, *((f"B{number}", 1) for number in range(3)))
    chosen = pick("anything", host="claude")
    assert (sorted(card.lesson_id for card in chosen.cards), chosen.hold) == (["B3", "B4", "B5"], None)


def test_another_revision_and_another_project_are_not_held(db, project, pick):
    project("L1", "Blocker", revision=2)
    project("G1", "Blocker", project_id="", is_global=1)
    marked(db, ("L1", 1))
    marked(db, ("G1", 1), project="other")
    assert sorted(card.lesson_id for card in pick("anything", host="claude").cards) == ["G1", "L1"]


def test_a_fresh_window_is_not_given_it_either(db, project):
    project("B1", "Blocker")
    marked(db, ("B1", 1))
    given = {"project_id": "p", "session_id": "claude:s", "epoch": 2, "limit_chars": 9_900, "limit_bytes": None, "budget_tokens": 0}
    assert reselect(db, host="claude", **given).cards == ()
    assert [card.lesson_id for card in reselect(db, host="gemini", **given).cards] == ["B1"]


def test_it_is_explained(db, teach, pick):
    teach("L1", card={"when": "migration work"})
    marked(db, ("L1", 1))
    with writing(db):
        db.execute(
            "INSERT INTO sessions (session_id, host, native_id, project_id, cwd, started_ms, seen_ms) VALUES ('claude:s','claude','s','p','/',1,1)"
        )
        delivery.emit(db, pick("the migration work", host="claude"), session_id="claude:s", epoch=1, intake_id="i1", nonce="0" * 16, now=5)
    (told,) = explain(db, "claude:s").prompts[0].lessons
    assert (told.reason, told.meaning) == ("held_by_host", REASONS["held_by_host"])


def test_only_cards_that_could_be_given_here_are_compared(db, teach):
    teach("L1", card={"must_do": MUST})
    teach("L2", card={"must_do": "something else"})
    teach("L3", card={"must_do": MUST}, project_id="elsewhere")
    assert cards(db, "p", [NOTE]) == {("L1", 1)}
    assert cards(db, "elsewhere", [NOTE]) == {("L3", 1)}
    assert cards(db, "p", []) == frozenset()


def test_marks_are_no_part_of_what_an_undo_compares(db, teach):
    teach("L1", card={"must_do": MUST})
    before = image(db, "L1")
    marked(db, ("L1", 1))
    assert image(db, "L1") == before


def test_marks_are_replaced_and_listed(db):
    marked(db, ("L1", 1), ("L2", 3))
    marked(db, ("L2", 4), host="gemini")
    assert held.marked(db) == [("p", "claude"), ("p", "gemini")]
    marked(db)
    assert (held.marked(db), held.of_host(db, "p", "gemini")) == ([("p", "gemini")], {("L2", 4)})


def test_the_lookup_of_a_prompt_is_one_range_of_the_primary_key(db):
    (plan,) = db.execute("EXPLAIN QUERY PLAN SELECT lesson_id, revision FROM held_cards WHERE project_id = 'p' AND host = 'h'")
    assert "USING PRIMARY KEY (project_id=? AND host=?)" in plan[3]
