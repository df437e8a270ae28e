"""An explanation goes prompt by prompt and says of every lesson of the project why that prompt got it or not."""

from __future__ import annotations

import pytest

from afl_core.changes import gates
from afl_core.lessons.delivery import emit, settle
from afl_core.lessons.explain import REASONS, explain
from afl_core.model.lesson import Severity
from afl_core.store.connection import writing

NOW = 1_767_225_600_000
SESSION = "claude:s"


@pytest.fixture(autouse=True)
def session(db):
    with writing(db):
        db.execute(
            "INSERT INTO sessions (session_id, host, native_id, project_id, cwd, started_ms, seen_ms) VALUES (?, 'claude', 's', 'p', '/r', ?, ?)",
            (SESSION, NOW, NOW),
        )


@pytest.fixture
def prompt(db, pick):
    """`prompt("i1", "words", at)` is what the front does at a prompt."""

    def run(intake_id, words, at, kind="prompt"):
        chosen = pick(words)
        with writing(db):
            db.execute(
                "INSERT INTO intake (intake_id, host, event, kind, session_id, project_id, total_bytes, received_ms)"
                " VALUES (?, 'claude', 'UserPromptSubmit', ?, ?, 'p', 1, ?)",
                (intake_id, kind, SESSION, at),
            )
            emit(db, chosen, session_id=SESSION, epoch=1, intake_id=intake_id, nonce=intake_id * 8, now=at)

    return run


def switch(db, lesson_id, at, *, on=False):
    with writing(db):
        return gates.switch(db, lesson_id=lesson_id, on=on, actor="user:me", reason="", now=at)


def told(db):
    return [(one.intake_id, {each.lesson_id: each.reason for each in one.lessons}) for one in explain(db, SESSION).prompts]


def test_every_prompt_is_named_with_its_time_and_every_lesson_with_its_reason(db, teach, prompt):
    teach("L1", severity=Severity.BLOCKER, now=NOW)
    teach("L2", now=NOW + 1)
    prompt("i1", "something else", NOW + 10)
    prompt("i2", "claiming that the migration is finished", NOW + 20)
    found = explain(db, SESSION)
    assert [(one.intake_id, one.kind, one.at_ms) for one in found.prompts] == [("i1", "prompt", NOW + 10), ("i2", "prompt", NOW + 20)]
    assert told(db) == [("i1", {"L1": "given", "L2": "no_match"}), ("i2", {"L1": "delivered", "L2": "given"})]
    first = found.prompts[1].lessons[0]
    assert (first.severity, first.status, first.meaning) == ("Blocker", "active", "delivered already in this context window")
    assert first.gist == "claiming that a migration is finished"


def test_a_prompt_at_which_nothing_new_was_chosen_is_explained_too(db, teach, prompt):
    teach("L1", severity=Severity.BLOCKER)
    for number in (1, 2, 3):
        prompt(f"i{number}", "x", NOW + 10 * number)
    assert [reasons["L1"] for _, reasons in told(db)] == ["given", "delivered", "delivered"]


def test_a_lesson_is_explained_as_it_was_at_that_prompt(db, teach, prompt):
    prompt("i0", "x", NOW - 10)
    added = teach("L1", severity=Severity.BLOCKER, now=NOW).audit[-1]
    off = switch(db, "L1", NOW + 10)
    prompt("i1", "x", NOW + 20)
    with writing(db):
        gates.undo(db, n=off, actor="user:me", reason="", now=NOW + 30)
    prompt("i2", "x", NOW + 40)
    with writing(db):
        gates.undo(db, n=added, actor="user:me", reason="", now=NOW + 50)
    prompt("i3", "x", NOW + 60)
    assert [reasons["L1"] for _, reasons in told(db)] == ["later", "disabled", "given", "retracted"]
    assert {(each.severity, each.status) for one in explain(db, SESSION).prompts for each in one.lessons} == {("Blocker", "retracted")}


def test_a_card_that_was_given_again_is_named_at_both_prompts(db, teach, prompt):
    teach("L1", severity=Severity.BLOCKER)
    prompt("i1", "x", NOW + 10)
    with writing(db):
        settle(db, session_id=SESSION, shown=[], answered_ms=NOW + 15, now=NOW + 15)
    prompt("i2", "x", NOW + 20)
    assert [reasons["L1"] for _, reasons in told(db)] == ["again", "given"]


def test_without_a_record_it_is_said_that_there_is_none(db, teach, prompt):
    teach("L1", severity=Severity.BLOCKER)
    prompt("i1", "x", NOW + 10)
    with writing(db):
        db.execute("DELETE FROM deliveries")
    assert [reasons["L1"] for _, reasons in told(db)] == ["not_recorded"]


def test_a_hold_stands_at_its_prompt(db, teach, prompt, project):
    project("big", "Critical", tokens=5_000)
    prompt("i1", "x", NOW + 10)
    prompt("i2", "x", NOW + 20)
    assert [one.holds for one in explain(db, SESSION).prompts] == [("memory_overflow_hold in epoch 1",), ()]


def test_a_session_start_is_named_only_when_cards_were_chosen_for_it(db, teach, prompt):
    with writing(db):
        db.execute(
            "INSERT INTO intake (intake_id, host, event, kind, session_id, project_id, total_bytes, received_ms)"
            " VALUES ('s0', 'claude', 'SessionStart', 'session_start', ?, 'p', 1, ?)",
            (SESSION, NOW),
        )
    teach("L1", severity=Severity.BLOCKER)
    prompt("s1", "x", NOW + 10, kind="session_start")
    assert [(one.intake_id, one.kind) for one in explain(db, SESSION).prompts] == [("s1", "session_start")]


def test_every_reason_has_a_meaning(db, teach, prompt):
    teach("L1")
    prompt("i1", "x", NOW + 10)
    assert all(each.meaning in REASONS.values() for one in explain(db, SESSION).prompts for each in one.lessons if each.reason != "given")
