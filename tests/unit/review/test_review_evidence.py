"""What a receipt cites must be in the store, said by whom it says, exactly, and in that order."""

from __future__ import annotations

import pytest

from afl_core.model.errors import ReviewError
from afl_core.review import evidence
from afl_core.review.evidence import Citation


@pytest.fixture
def review(db, world):
    return world.waiting_review(db)


def verdict(db, world, review_id, **changes) -> str:
    given = {
        "path": "at",
        "feedback_event_id": "said",
        "feedback_quote": "you never ran them",
        "referent_event_ids": ("act",),
        "referent_quote": "all tests pass",
    } | changes
    citation = Citation(**given)
    known = evidence.gather(db, review_id, world.PROJECT, [citation])
    try:
        evidence.check(known, citation)
    except ReviewError as bad:
        return bad.sentence if bad.reason == "receipt_evidence" else f"wrong reason {bad.reason}"
    return "holds"


def test_exact_quotes_of_the_right_events_hold(db, world, review):
    assert verdict(db, world, review[0]) == "holds"


def test_an_invented_id_or_an_invented_quote_does_not_hold(db, world, review):
    assert verdict(db, world, review[0], feedback_event_id="nobody") == "at.feedback_event_id: nobody is not one of the words under review"
    assert "is not an exact part" in verdict(db, world, review[0], feedback_quote="you never ran those")
    assert "is not an event of this project" in verdict(db, world, review[0], referent_event_ids=("nobody",))
    assert "is not an exact part" in verdict(db, world, review[0], referent_quote="some tests pass")


def test_words_that_this_review_does_not_hold_are_no_complaint(db, world, review):
    world.complaint(db, prefix="b-", base=300)
    assert "not one of the words under review" in verdict(db, world, review[0], feedback_event_id="b-said")


def test_the_agent_and_the_machine_cannot_complain(db, world, review):
    for event_id, role in (("a-said", "assistant"), ("s-said", "system")):
        world.event(db, event_id, world.COMPLAINT, role, offset=500 + len(role))
        db.execute("INSERT INTO queue VALUES (?, ?, 0, 'pending', ?, 0)", (event_id, world.PROJECT, review[0]))
        assert "was not said by a person" in verdict(db, world, review[0], feedback_event_id=event_id)


def test_a_canary_cannot_complain(db, world, review):
    world.event(db, "canary", world.COMPLAINT, offset=600, data_class="synthetic_canary")
    db.execute("INSERT INTO queue VALUES ('canary', ?, 0, 'pending', ?, 0)", (world.PROJECT, review[0]))
    assert "was not said by a person" in verdict(db, world, review[0], feedback_event_id="canary")


def test_what_came_after_the_complaint_is_no_referent_whatever_the_order_of_birth(db, world, review):
    world.event(db, "late", "later", "assistant", offset=103, at=world.NOW - 86_400_000)
    assert "does not come before" in verdict(db, world, review[0], referent_event_ids=("late",), referent_quote="later")
    world.event(db, "early", "earlier", "assistant", offset=50)
    assert verdict(db, world, review[0], referent_event_ids=("early",), referent_quote="earlier") == "holds"


def test_a_replaced_transcript_comes_after_the_one_before(db, world, review):
    world.event(db, "next", "later", "assistant", offset=1, generation=2)
    assert "does not come before" in verdict(db, world, review[0], referent_event_ids=("next",), referent_quote="later")


def test_across_sessions_the_time_of_the_sources_decides(db, world, review):
    world.event(db, "before", "earlier", "assistant", offset=900, session_id="claude:s-0", at=world.NOW - 3_600_000)
    world.event(db, "after", "later", "assistant", offset=1, session_id="claude:s-2", at=world.NOW + 3_600_000)
    assert verdict(db, world, review[0], referent_event_ids=("before",), referent_quote="earlier") == "holds"
    assert "does not come before" in verdict(db, world, review[0], referent_event_ids=("after",), referent_quote="later")


def test_another_projects_events_are_no_referents(db, world, review):
    world.event(db, "there", "elsewhere", "assistant", offset=1, session_id="claude:o-1", project="/other", at=1)
    assert "is not an event of this project" in verdict(db, world, review[0], referent_event_ids=("there",), referent_quote="elsewhere")


def test_at_least_one_referent_is_something_the_agent_did(db, world, review):
    assert "names nothing that the agent said or did" in verdict(
        db, world, review[0], referent_event_ids=("ask",), referent_quote="checkout"
    )
    assert verdict(db, world, review[0], referent_event_ids=("ask", "act")) == "holds"


def test_a_tool_call_and_its_result_are_acts(db, world, review):
    world.event(db, "call", '{"command":"true"}', "assistant", offset=90, kind="tool_call", tool_name="Bash")
    world.event(db, "result", "exit 0", "user", offset=91, kind="tool_result", tool_name="Bash")
    assert verdict(db, world, review[0], referent_event_ids=("call",), referent_quote='"true"') == "holds"
    assert verdict(db, world, review[0], referent_event_ids=("result",), referent_quote="exit 0") == "holds"


def test_a_cut_off_answer_is_an_act_without_words(db, world, review):
    world.event(db, "cut", "", "assistant", offset=95, kind="turn_cut")
    assert verdict(db, world, review[0], referent_event_ids=("cut",), referent_quote="") == "holds"
    assert "is not an exact part" in verdict(db, world, review[0], referent_event_ids=("cut",), referent_quote="words")
    assert "has words to quote" in verdict(db, world, review[0], referent_event_ids=("cut", "act"), referent_quote="")


def test_a_minor_finding_needs_no_referent_quote(db, world, review):
    assert verdict(db, world, review[0], referent_quote=None) == "holds"
