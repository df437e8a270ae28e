"""A fault that comes back: the earlier lesson is accounted for with what the store knows, and the severity rises."""

from __future__ import annotations

import json
import os

import hypothesis
import hypothesis.strategies as st
import pytest

from afl_core.lessons.effect import effect
from afl_core.model.lesson import FAILURE_MODES, Effectiveness, LessonRow, Severity
from afl_core.review import handoff
from afl_core.review.recurrence import UNSTATED, account, best, needed_severity
from afl_core.review.run import Result, run_review
from afl_core.store import deliveries as delivery_rows
from afl_core.store import lessons as lesson_rows
from afl_core.store import reviews as review_rows
from afl_core.store.connection import writing
from afl_core.store.deliveries import Delivery, Emission


@pytest.fixture
def go(db, paths, home, world):
    """Complain once more, answer with a receipt, run the review; gives the outcome."""
    turns = iter(range(1, 100))

    def run(*lessons, session_id="claude:s-2", project=world.PROJECT, **changes):
        turn = next(turns)
        prefix = f"t{turn}-"
        now = world.NOW + turn * world.MINUTE
        review_id, act, said = world.waiting_review(
            db, prefix=prefix, base=1000 * turn, session_id=session_id, project=project, now=now + 10 * world.MINUTE
        )
        made = [lesson(act, said) if callable(lesson) else lesson for lesson in lessons]
        settings = world.answering(home, world.receipt(*made, **changes))
        environ = {"PATH": os.environ["PATH"]}
        return run_review(db, paths, settings, (), environ, review_id, world.Ticking(now + 10 * world.MINUTE), world.same)

    return run


@pytest.fixture
def first(db, world, go):
    """A committed Major lesson; gives its id."""
    outcome = go(world.lesson, session_id="claude:s-1")
    assert outcome.result is Result.COMPLETED, outcome
    return outcome.committed.decisions[0].lesson_id


def delivered(db, world, lesson_id, *, state="emitted", session_id="claude:s-2", revision=1, at=None) -> str:
    with writing(db):
        emission = Emission(lesson_id, revision, session_id, 1, "0" * 16, f"intake-{session_id}", "{}", at or world.NOW)
        delivery_rows.emitted(db, [emission])
        found = delivery_rows.delivery_id(session_id, 1, lesson_id, revision)
        if state != "emitted":
            db.execute("UPDATE deliveries SET state = ? WHERE delivery_id = ?", (state, found))
    return found


def effects(db) -> list[dict]:
    return [dict(row) for row in db.execute("SELECT * FROM effects ORDER BY created_ms, effect_id")]


def again(world, previous, *, base=1, severity="Critical", **account_changes):
    """A lesson that revises the earlier one."""

    def made(act, said):
        more = world.severe(severity, effectiveness=world.effectiveness(previous, **account_changes))
        return world.lesson(act, said, lesson_id=previous, base_revision=base, revision=base + 1, **more)

    return made


def test_the_same_fault_again_revises_its_lesson_and_records_the_effect(db, world, first, go):
    application = delivered(db, world, first, state="reached")
    told = {"application_id": application, "delivery_state": "reached", "failure_mode": "loaded_not_applied"}
    outcome = go(again(world, first, **told))
    assert outcome.result is Result.COMPLETED, outcome
    row = lesson_rows.get(db, first)
    assert (row.revision, row.severity, row.recurrence) == (2, Severity.CRITICAL, 2)
    (effect,) = effects(db)
    assert (effect["previous_lesson_id"], effect["delivery_id"], effect["delivery_state"]) == (first, application, "reached")
    assert (effect["failure_mode"], effect["was_followed"], effect["expected_revision"]) == ("loaded_not_applied", 0, 1)


def test_the_reviewer_is_shown_what_it_needs_to_get_this_right(db, world, first):
    application = delivered(db, world, first, state="unconfirmed")
    review_id, _, _ = world.waiting_review(db, prefix="n-", base=50_000, session_id="claude:s-2")
    handed = json.loads(handoff.serialise(handoff.collect(db, review_rows.get(db, review_id), "zh")))
    (shown,) = handed["existing_lessons"]
    assert (shown["lesson_id"], shown["revision"], shown["severity"], shown["severity_if_it_recurs"]) == (first, 1, "Major", "Critical")
    assert (shown["method_class"], shown["class_id"]) == ("verification-closure", "claim-without-evidence")
    assert shown["card"]["must_do"] == "run the tests and read their output first"
    assert [(each["application_id"], each["delivery_state"]) for each in shown["deliveries"]] == [(application, "unconfirmed")]


def test_words_that_prove_two_faults_again_violate_both_lessons(db, world, first, go):
    def second(act, said):
        return world.lesson(act, said, lesson_id="other", method_class="communication-handoff", class_id="overstated-result")

    (decision,) = go(second, session_id="claude:s-1").committed.decisions
    lessons = (first, decision.lesson_id)
    for lesson_id in lessons:
        delivered(db, world, lesson_id, state="reached")

    def both(act, said, number):
        made = again(world, lessons[number])(act, said)
        return made if number == 0 else made | {"method_class": "communication-handoff", "class_id": "overstated-result"}

    outcome = go(lambda act, said: both(act, said, 0), lambda act, said: both(act, said, 1))
    assert outcome.result is Result.COMPLETED, outcome
    assert [effect(db, lesson_id).violations for lesson_id in lessons] == [1, 1]


def test_a_severity_that_does_not_rise_is_refused_by_name(db, world, first, go):
    outcome = go(again(world, first, severity="Major"))
    assert (outcome.result, outcome.reason) == (Result.RETRY, "receipt_recurrence")
    assert outcome.detail == f"lessons[0].severity: lesson {first} (Major) did not prevent this: at least Critical is needed"
    assert lesson_rows.get(db, first).revision == 1
    assert effects(db) == []


def test_the_severity_rises_to_blocker_and_stays_there(db, world, first, go):
    assert go(again(world, first, severity="Critical")).result is Result.COMPLETED
    assert go(again(world, first, base=2, severity="Critical", expected_revision=2)).reason == "receipt_recurrence"
    assert go(again(world, first, base=2, severity="Blocker", expected_revision=2)).result is Result.COMPLETED
    assert go(again(world, first, base=3, severity="Blocker", expected_revision=3)).result is Result.COMPLETED


def test_a_missing_account_is_completed_by_the_store_and_says_what_nobody_stated(db, world, first, go):
    application = delivered(db, world, first, state="unconfirmed")
    outcome = go(lambda act, said: world.lesson(act, said, lesson_id="mine", **world.severe("Critical")))
    assert outcome.result is Result.COMPLETED, outcome
    (effect,) = effects(db)
    assert (effect["previous_lesson_id"], effect["delivery_id"], effect["delivery_state"]) == (first, application, "unconfirmed")
    assert (effect["was_followed"], effect["failure_mode"], effect["corrective_action"]) == (None, "unknown", UNSTATED)


def test_the_stores_delivery_state_replaces_the_reviewers(db, world, first, go):
    application = delivered(db, world, first, state="unconfirmed")
    told = {"application_id": application, "delivery_state": "reached", "failure_mode": "loaded_not_applied"}
    assert go(again(world, first, **told)).result is Result.COMPLETED
    (effect,) = effects(db)
    assert (effect["delivery_state"], effect["failure_mode"]) == ("unconfirmed", "delivery_unconfirmed")


def test_an_invented_delivery_is_replaced_by_the_real_one_or_by_none(db, world, first, go):
    assert go(again(world, first, application_id="invented", delivery_state="reached", failure_mode="unknown")).result is Result.COMPLETED
    real = delivered(db, world, first, state="reached", revision=2)
    invented = {"application_id": "invented", "delivery_state": "reached", "expected_revision": 2}
    assert go(again(world, first, base=2, severity="Blocker", **invented)).result is Result.COMPLETED
    one, two = effects(db)
    assert (one["delivery_id"], one["delivery_state"]) == (None, "not_found")
    assert (two["delivery_id"], two["delivery_state"]) == (real, "reached")


def test_a_card_that_was_given_after_the_complaint_could_not_have_prevented_it(db, world, first, go):
    late = delivered(db, world, first, state="reached", at=world.NOW + 86_400_000)
    assert go(again(world, first, application_id=late, delivery_state="reached", failure_mode="unknown")).result is Result.COMPLETED
    (effect,) = effects(db)
    assert (effect["delivery_id"], effect["delivery_state"]) == (None, "not_found")


def test_a_lesson_that_changed_since_the_reviewer_saw_it_is_a_conflict(db, world, first, go):
    assert go(again(world, first)).result is Result.COMPLETED
    outcome = go(again(world, first, severity="Blocker"))
    assert (outcome.reason, outcome.detail) == ("receipt_revision", f"lessons[0].base_revision: lesson {first} is at revision 2, not 1")


def test_an_existing_lesson_cannot_be_proposed_as_new(db, world, first, go):
    outcome = go(lambda act, said: world.lesson(act, said, lesson_id=first, **world.severe("Critical")))
    assert outcome.reason == "receipt_revision"


def test_a_revision_keeps_its_family_whatever_the_reviewer_calls_it(db, world, first, go):
    def renamed(act, said):
        return again(world, first)(act, said) | {"class_id": "something-else"}

    assert go(renamed).result is Result.COMPLETED
    assert lesson_rows.get(db, first).class_id == "claim-without-evidence"


def test_two_reviewers_choosing_the_same_name_make_two_lessons(db, world, first, go):
    outcome = go(lambda act, said: world.lesson(act, said, class_id="something-else"))
    assert outcome.result is Result.COMPLETED, outcome
    assert outcome.committed.decisions[0].lesson_id != first
    assert lesson_rows.get(db, first).revision == 1


def test_another_projects_lesson_is_neither_seen_nor_revised(db, world, first, go):
    session_id, project = "claude:other", "/home/dev/other"
    outcome = go(again(world, first), session_id=session_id, project=project)
    assert (outcome.reason, outcome.detail) == ("receipt_revision", f"lessons[0].base_revision: there is no lesson {first} to revise")
    fresh = go(world.lesson, session_id=session_id, project=project)
    assert fresh.result is Result.COMPLETED
    assert lesson_rows.get(db, fresh.committed.decisions[0].lesson_id).project_id == project
    assert effects(db) == []


def test_a_projects_review_answers_a_global_lesson_with_one_of_its_own(db, world, first, go):
    with writing(db):
        db.execute("UPDATE lessons SET project_id = NULL, ns = 'global', promotion = 'active_global' WHERE lesson_id = ?", (first,))
    outcome = go(again(world, first))
    assert outcome.result is Result.COMPLETED, outcome
    own = lesson_rows.get(db, outcome.committed.decisions[0].lesson_id)
    assert (own.project_id, own.revision) == (world.PROJECT, 1)
    assert lesson_rows.get(db, first).revision == 1
    assert effects(db)[0]["previous_lesson_id"] == first


def test_two_independent_blockers_make_a_family_global(db, world, go):
    def blocker(act, said):
        return world.lesson(act, said, rule_action="propose_global_rule", **world.severe("Blocker"))

    world.session(db, "claude:a", "/a", lineage="line-a")
    world.session(db, "claude:b", "/b", lineage="line-b")
    one = go(blocker, session_id="claude:a", project="/a")
    assert one.result is Result.COMPLETED, one
    assert not one.committed.decisions[0].promoted
    two = go(blocker, session_id="claude:b", project="/b")
    assert two.committed.decisions[0].promoted
    assert lesson_rows.get(db, two.committed.decisions[0].lesson_id).project_id is None


def test_without_an_earlier_lesson_the_reviewer_cannot_account_for_one(db, world, go):
    outcome = go(lambda act, said: world.lesson(act, said, effectiveness=world.effectiveness("nobody")))
    assert outcome.reason == "receipt_recurrence"
    assert "nobody is no earlier lesson of this family" in outcome.detail


# -------------------------------------------------------------------------------------------------------------------------- pure rules


def row(lesson_id="l", severity=Severity.MAJOR, revision=1, status="active", created=0) -> LessonRow:
    return LessonRow(
        lesson_id,
        "/p",
        "project:/p",
        "hash",
        revision,
        severity,
        "f",
        "m",
        "c",
        status,
        "none",
        "conditional",
        "project",
        True,
        1,
        "s",
        created,
        0,
    )


def delivery(name, *, lesson_id="l", session_id="s", state="emitted", at=0) -> Delivery:
    return Delivery(name, lesson_id, 1, session_id, 1, "n", state, 1, "i", "{}", at, None)


def test_the_most_severe_lesson_speaks_for_a_family_and_withdrawn_ones_do_not():
    rows = [row("a"), row("b", Severity.CRITICAL), row("c", Severity.CRITICAL, revision=3), row("d", Severity.BLOCKER, status="retracted")]
    assert best(rows).lesson_id == "c"
    assert best([]) is None


def test_each_severity_has_one_above_and_blocker_is_the_last():
    assert [needed_severity(each) for each in (Severity.MAJOR, Severity.CRITICAL, Severity.BLOCKER)] == [
        Severity.CRITICAL,
        Severity.BLOCKER,
        Severity.BLOCKER,
    ]


def test_the_delivery_of_the_complaints_own_session_is_preferred_to_a_newer_one():
    given = [delivery("newest", session_id="other", at=3), delivery("own", at=2), delivery("older", at=1)]
    assert account(None, row(), None, given, "s", 10).application_id == "own"
    assert account(None, row(), None, given, "elsewhere", 10).application_id == "newest"


DELIVERIES = st.builds(
    delivery,
    st.sampled_from("abcd"),
    lesson_id=st.sampled_from(["l", "m"]),
    session_id=st.sampled_from("st"),
    state=st.sampled_from(["emitted", "reached", "unconfirmed"]),
    at=st.integers(0, 20),
)
SAID = st.none() | st.builds(
    Effectiveness,
    previous_lesson_id=st.sampled_from(["l", "m"]),
    expected_revision=st.integers(0, 3),
    application_id=st.none() | st.sampled_from("abcd"),
    delivery_state=st.sampled_from(["not_found", "selected", "emitted", "reached", "unconfirmed"]),
    was_applicable=st.booleans(),
    was_followed=st.none() | st.booleans(),
    failure_mode=st.sampled_from(FAILURE_MODES),
    control_owner=st.just("unknown"),
    corrective_action=st.just("x"),
)


@hypothesis.given(said=SAID, named=st.none() | DELIVERIES, given=st.lists(DELIVERIES, max_size=4), complaint=st.integers(0, 20))
def test_an_account_never_says_anything_about_delivery_that_the_store_does_not(said, named, given, complaint):
    told = account(said, row(), named, given, "s", complaint)
    known = {
        (each.delivery_id, each.state)
        for each in (*given, *([named] if named else []))
        if each.lesson_id == "l" and each.emitted_ms <= complaint
    }
    if told.application_id is None:
        assert told.delivery_state in ("not_found", "selected")
        assert not [each for each in given if each.lesson_id == "l" and each.emitted_ms <= complaint]
    else:
        assert (told.application_id, told.delivery_state) in known
    assert told.failure_mode != "delivery_unconfirmed" or told.delivery_state == "unconfirmed"
    if told.failure_mode == "loaded_not_applied":
        assert (told.delivery_state, told.was_applicable, told.was_followed) == ("reached", True, False)
    assert (told.previous_lesson_id, told.expected_revision) == ("l", 1)
