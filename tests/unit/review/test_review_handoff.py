"""What a reviewer is handed: bounded, in order, with what was learnt before."""

from __future__ import annotations

import json

import attrs
import pytest

from afl_core.model.errors import ReviewError
from afl_core.model.event import Event, EventKind, Place, Role
from afl_core.model.lesson import Card, LessonRow, Severity
from afl_core.review import handoff
from afl_core.review.handoff import ShownLesson, cut_middle, nearest_lessons
from afl_core.store import reviews as review_rows
from afl_core.store.connection import writing
from afl_core.store.deliveries import Delivery


def hand(db, review_id) -> dict:
    return json.loads(handoff.serialise(handoff.collect(db, review_rows.get(db, review_id), "en")))


def ids(handed) -> list[str]:
    return [event["event_uid"] for event in handed["events"]]


def test_the_complaint_goes_with_its_act_its_signal_and_the_language(db, world):
    review_id, act, said = world.waiting_review(db)
    handed = hand(db, review_id)
    assert ids(handed) == ["ask", act, said]
    assert handed["feedback_candidate_event_ids"] == [said]
    assert handed["signals"] == [{"event_id": said, "kind": "interruption", "referent_event_id": act}]
    assert handed["report_language"] == "en"
    assert [event["queued_for_review"] for event in handed["events"]] == [False, False, True]
    assert handed["job"]["last_rejection"] is None


def test_six_events_before_and_two_after_go_along_in_the_order_of_their_places(db, world):
    review_id, _, _ = world.waiting_review(db, base=1000)
    for offset in (20, 10, 40, 30, 70, 60, 50):
        world.event(db, f"before-{offset}", "earlier", "assistant", offset=offset)
    for offset in (3000, 2000, 4000):
        world.event(db, f"after-{offset}", "later", "assistant", offset=offset)
    assert ids(hand(db, review_id)) == [*(f"before-{n}" for n in (40, 50, 60, 70)), "ask", "act", "said", "after-2000", "after-3000"]


def test_the_referent_of_a_signal_goes_along_however_far_back_it_is(db, world):
    review_id, act, said = world.waiting_review(db)
    with writing(db):
        db.execute("UPDATE events SET offset = 1 WHERE event_id = ?", (act,))
    for number in range(10):
        world.event(db, f"e{number}", "between", "assistant", offset=50 + number)
    handed = ids(hand(db, review_id))
    assert handed[0] == act
    assert handed[-1] == said


def test_the_machines_own_words_canaries_and_other_projects_stay_out(db, world):
    review_id, _, _ = world.waiting_review(db)
    world.event(db, "notice", "summary of the conversation so far", "system", offset=99)
    world.event(db, "canary", "test", offset=98, data_class="synthetic_canary")
    world.event(db, "cut", "", "system", offset=97, kind="turn_cut")
    assert ids(hand(db, review_id)) == ["cut", "ask", "act", "said"]


def test_a_long_text_is_cut_in_its_middle_and_said_to_be(db, world):
    review_id, _, _ = world.waiting_review(db)
    world.event(db, "long", "head " + "x" * 100_000 + " tail", "assistant", offset=100, part=1)
    handed = hand(db, review_id)
    (long,) = [event for event in handed["events"] if event["event_uid"] == "long"]
    assert len(long["redacted_text"]) == handoff.MAX_EVENT_CHARS
    assert long["redacted_text"].startswith("head ")
    assert long["redacted_text"].endswith(" tail")
    assert handed["truncated_event_ids"] == ["long"]


def test_even_many_long_chinese_texts_fit_into_the_limit(db, world):
    review_id, _, _ = world.waiting_review(db)
    with writing(db):
        db.execute("DELETE FROM queue")
    for number in range(128):
        world.event(db, f"c{number:03}", "证据" * 20_000, offset=1000 + number)
        with writing(db):
            db.execute("INSERT INTO queue VALUES (?, ?, 0, 'pending', ?, ?)", (f"c{number:03}", world.PROJECT, review_id, number))
    text = handoff.serialise(handoff.collect(db, review_rows.get(db, review_id), "zh"))
    assert len(text.encode()) <= handoff.MAX_BYTES
    handed = json.loads(text)
    assert len(handed["events"]) == handoff.MAX_EVENTS
    assert all(event["context_truncated"] for event in handed["events"])


def test_what_cannot_fit_is_refused_with_its_reason(db, world, monkeypatch):
    review_id, _, _ = world.waiting_review(db)
    monkeypatch.setattr(handoff, "MAX_BYTES", 500)
    with pytest.raises(ReviewError) as caught:
        hand(db, review_id)
    assert caught.value.reason == "reviewer_context_too_large"


def test_a_review_that_was_refused_is_told_why(db, world):
    review_id, _, _ = world.waiting_review(db)
    row = review_rows.get(db, review_id)
    with writing(db):
        review_rows.update(db, attrs.evolve(row, reason="receipt_shape", detail="lessons[0].card.when: missing"))
    assert hand(db, review_id)["job"]["last_rejection"] == {"reason": "receipt_shape", "detail": "lessons[0].card.when: missing"}


@pytest.mark.parametrize("limit", [40, 41, 100])
def test_a_cut_text_has_exactly_the_limit(limit):
    text = "".join(chr(97 + number % 26) for number in range(500))
    cut = cut_middle(text, limit)
    assert len(cut) == limit
    assert cut_middle("short", limit) == "short"


def shown(name, *, must_do="do it", severity=Severity.MAJOR, session=None, updated=0) -> ShownLesson:
    row = LessonRow(
        name, "/p", "project:/p", "h", 1, severity, "f", "m", "c", "active", "none", "conditional", "project", True, 1, "s", 0, updated
    )
    given = (Delivery("d", name, 1, session, 1, "n", "emitted", 1, "i", "{}", 0, None),) if session else ()
    return ShownLesson(row, Card("when", must_do, "not", "verify", "why", "none", ("e",)), given)


@pytest.mark.parametrize("text", ["the tests of the checkout fail again", "结账流程的测试又失败了"])
def test_the_nearest_lessons_come_first(text):
    complaint = Event("e", "claude:s", "/p", Place(1, 1, 0), 1, EventKind.MESSAGE, Role.USER, text)
    lessons = [
        shown("old"),
        shown("severe", severity=Severity.BLOCKER),
        shown("new", updated=5),
        shown("alike", must_do=f"run before: {text}"),
        shown("given", session="claude:s"),
        shown("given elsewhere", session="claude:t"),
    ]
    found = [lesson.row.lesson_id for lesson in nearest_lessons(lessons, [complaint])]
    assert found == ["given", "alike", "severe", "new", "old", "given elsewhere"]
