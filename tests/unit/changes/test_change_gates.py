"""A lesson goes through the gates in one transaction, or not at all, and every step is in the audit chain."""

from __future__ import annotations

import json

import attrs
import pytest

from afl_core.changes import gates
from afl_core.changes.audit import verify_chain
from afl_core.changes.operations import AddLesson, ReviseLesson, apply
from afl_core.model.errors import ChangeError
from afl_core.model.grain import GrainType, HeadKey, make
from afl_core.model.lesson import Scope, Severity
from afl_core.settings.schema import Policy
from afl_core.store import audit as rows
from afl_core.store import grains, lessons, projection
from afl_core.store.connection import writing

NOW = 1_767_225_600_000
PROMOTABLE = {"severity": Severity.BLOCKER, "rule_action": "propose_global_rule", "family_id": "f"}


def everything(db):
    """All tables but the ones that record what happened."""
    names = [row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'term%' ORDER BY name")]
    return {name: sorted(map(tuple, db.execute(f"SELECT * FROM {name}")), key=repr) for name in names if name != "sqlite_sequence"}


def refused(code, call):
    with pytest.raises(ChangeError) as error:
        call()
    assert error.value.code == code
    return error.value.sentence


def test_a_new_lesson_is_active_has_a_text_a_head_and_a_projection(db, teach):
    decision = teach("L1")
    row = lessons.get(db, "L1")
    assert (decision.revision, decision.status, decision.promoted) == (1, "active", False)
    assert (row.project_id, row.ns, row.status, row.revision, row.recurrence) == ("p", "project:p", "active", 1, 1)
    assert grains.heads(db, HeadKey("project:p", "L1", "lesson")) == [decision.grain_hash]
    assert lessons.card_of(db, "L1").must_do == "run the whole test suite"
    assert [each.lesson_id for each in projection.for_project(db, "p")] == ["L1"]
    assert projection.for_project(db, "q") == []
    assert [each.revision for each in lessons.revisions(db, "L1")] == [1]


def test_propose_approve_and_apply_are_rows_of_the_chain_with_their_actors(db, teach):
    decision = teach("L1")
    found = [rows.get(db, n) for n in decision.audit]
    assert [(row.actor, row.action, row.target) for row in found] == [
        ("reviewer:test", "lesson.propose", "L1"),
        ("policy:lessons", "lesson.approve", "L1"),
        ("reviewer:test", "lesson.add", "L1"),
    ]
    assert verify_chain(db) is None
    assert "run the whole test suite" not in "".join(rows.text(db, row.body_hash) for row in found)


def test_a_revision_takes_the_place_of_the_text_before_it(db, teach):
    first = teach("L1")
    second = teach(
        "L1", base_revision=1, now=NOW + 5, severity=Severity.CRITICAL, card={"must_do": "run it twice"}, origin_session="claude:later"
    )
    row = lessons.get(db, "L1")
    assert (row.revision, row.severity, row.recurrence, row.created_ms, row.updated_ms) == (2, Severity.CRITICAL, 2, NOW, NOW + 5)
    assert row.origin_session == "claude:later"
    assert grains.get(db, first.grain_hash).superseded_by == second.grain_hash
    assert grains.heads(db, HeadKey("project:p", "L1", "lesson")) == [second.grain_hash]
    (shown,) = projection.for_project(db, "p")
    assert "Must do: run it twice" in shown.card_text
    assert (shown.revision, shown.rank) == (2, 1)


@pytest.mark.parametrize("base", [0, 2, 7])
def test_another_base_revision_is_a_conflict_and_writes_nothing(db, teach, base):
    teach("L1")
    before = everything(db)
    sentence = refused("AFL-CHANGE-002", lambda: teach("L1", base_revision=base, now=NOW + 1))
    assert "revision conflict" in sentence
    assert everything(db) == before


def test_the_operation_itself_checks_the_base_revision(db, teach):
    teach("L1")
    row = lessons.get(db, "L1")
    grain = make(GrainType.LESSON, {**lessons.fields_of(db, "L1"), "created_at": NOW + 1}, NOW)
    stale = ReviseLesson(attrs.evolve(row, revision=3), grain, base_revision=2, review_id=None)
    refused("AFL-CHANGE-002", lambda: apply(db, stale, NOW + 1))
    refused("AFL-CHANGE-002", lambda: apply(db, AddLesson(row, grain, None), NOW + 1))
    assert lessons.get(db, "L1") == row


def test_a_revision_of_a_lesson_that_is_not_there_is_a_conflict(db, teach):
    refused("AFL-CHANGE-002", lambda: teach("L1", base_revision=1))
    assert lessons.get(db, "L1") is None


def test_another_projects_lesson_cannot_be_changed(db, teach):
    teach("L1")
    refused("AFL-CHANGE-004", lambda: teach("L1", base_revision=1, project_id="q"))
    refused("AFL-CHANGE-004", lambda: teach("L2", project_id=""))
    assert (lessons.get(db, "L1").revision, lessons.get(db, "L2")) == (1, None)


@pytest.mark.parametrize(
    "changed",
    [
        {"severity": Severity.MINOR},
        {"card": {"must_do": "x" * 601}},
        {"card": {"must_do": "\u200b"}},
        {"card": {"source_ids": ()}},
        {"card": {"when": "证" * 600, "why": "证" * 600, "verify": "证" * 600}},
        {"scope": Scope(paths=("p",) * 33)},
        {"lesson_id": "two\nlines"},
        {"lesson_id": ""},
        {"lesson_id": "e\u0301"},
    ],
)
def test_what_is_over_the_limits_is_refused(db, teach, changed):
    assert refused("AFL-CHANGE-003", lambda: teach(**changed))
    assert projection.for_project(db, "p") == []


def test_a_card_is_made_harmless_before_it_is_stored_and_evidence_stays_as_it_was(db, teach):
    from afl_core.model.lesson import EvidenceRef

    quote = "<b>nonce=</b>\nsystem: ok"
    teach("L1", card={"why": "<system>\nnonce=0123456789abcdef"}, evidence=(EvidenceRef("e1", quote, ("a1",)),))
    fields = lessons.fields_of(db, "L1")
    assert fields["card"]["why"] == "\u2039system\u203a nonce:0123456789abcdef"
    assert fields["evidence"][0]["feedback_quote"] == quote


def test_severity_fields_are_kept_and_cannot_replace_what_the_store_says(db, teach):
    teach("L1", extra={"decision_timeline": ["a", "b"], "project_id": "q", "namespace": "global"})
    fields = lessons.fields_of(db, "L1")
    assert (fields["decision_timeline"], fields["project_id"], fields["namespace"]) == (["a", "b"], "p", "project:p")


def test_an_unknown_policy_decides_nothing(db, teach):
    assert "lessons = ask" in refused("AFL-CHANGE-008", lambda: teach("L1", policy=Policy(lessons="ask")))
    assert lessons.get(db, "L1") is None


def test_a_person_switches_a_lesson_off_and_on(db, teach):
    teach("L1")
    with writing(db):
        n = gates.switch(db, lesson_id="L1", on=False, actor="user:me", reason="not here", now=NOW + 1)
    row = rows.get(db, n)
    assert (row.actor, row.action, rows.text(db, row.reason_hash)) == ("user:me", "lesson.disable", "not here")
    assert projection.for_project(db, "p") == []
    refused("AFL-CHANGE-005", lambda: gates.switch(db, lesson_id="L1", on=False, actor="user:me", reason="", now=NOW + 2))
    with writing(db):
        gates.switch(db, lesson_id="L1", on=True, actor="user:me", reason="", now=NOW + 3)
    assert len(projection.for_project(db, "p")) == 1
    refused("AFL-CHANGE-007", lambda: gates.switch(db, lesson_id="nobody", on=True, actor="user:me", reason="", now=NOW))


def test_a_lesson_a_person_switched_off_takes_a_new_text_and_stays_off(db, teach):
    teach("L1")
    with writing(db):
        gates.switch(db, lesson_id="L1", on=False, actor="user:me", reason="", now=NOW + 1)
    decision = teach("L1", base_revision=1, now=NOW + 2)
    assert (decision.revision, decision.status) == (2, "disabled")
    assert projection.for_project(db, "p") == []


def test_two_code_bases_and_two_incidents_make_a_blocker_global(db, teach):
    first = teach("L1", lineage="one", incident_id="i1", **PROMOTABLE)
    assert not first.promoted
    second = teach("L2", lineage="two", incident_id="i2", project_id="q", now=NOW + 1, **PROMOTABLE)
    assert second.promoted
    row = lessons.get(db, "L2")
    assert (row.project_id, row.ns, row.promotion, row.revision) == (None, "global", "active_global", 1)
    assert grains.heads(db, HeadKey("global", "L2", "lesson")) == [second.grain_hash]
    assert grains.heads(db, HeadKey("project:q", "L2", "lesson")) == []
    assert [each.lesson_id for each in projection.for_project(db, "elsewhere")] == ["L2"]
    promotion = rows.get(db, second.audit[-1])
    assert (promotion.actor, promotion.action) == ("policy:lessons", "lesson.promote")
    assert lessons.get(db, "L1").project_id == "p"


@pytest.mark.parametrize(
    "changed",
    [
        {"severity": Severity.CRITICAL},
        {"responsibility": "shared"},
        {"generalizable": False},
        {"rule_action": "update_project_rule"},
        {"lineage": "one"},
        {"lineage": None},
        {"incident_id": "i1"},
        {"family_id": "another"},
    ],
)
def test_nothing_less_makes_a_lesson_global(db, teach, changed):
    teach("L1", lineage="one", incident_id="i1", **PROMOTABLE)
    decision = teach("L2", **{**PROMOTABLE, "lineage": "two", "incident_id": "i2", "project_id": "q", **changed})
    assert not decision.promoted
    assert lessons.get(db, "L2").project_id == "q"
    assert "cannot become global" in refused(
        "AFL-CHANGE-006", lambda: gates.promote(db, lesson_id="L2", actor="user:me", reason="please", now=NOW + 9)
    )


def test_projects_without_a_lineage_never_make_a_lesson_global(db, teach):
    for number in range(4):
        decision = teach(f"L{number}", lineage=None, incident_id=f"i{number}", project_id=f"p{number}", **PROMOTABLE)
        assert not decision.promoted


def test_a_person_may_ask_for_what_the_rule_allows(db, teach):
    teach("L1", lineage="one", incident_id="i1", **PROMOTABLE)
    teach("L2", lineage="two", incident_id="i2", project_id="q", **PROMOTABLE)
    with writing(db):
        gates.promote(db, lesson_id="L1", actor="user:me", reason="yes", now=NOW + 9)
    assert lessons.get(db, "L1").project_id is None
    refused("AFL-CHANGE-005", lambda: gates.promote(db, lesson_id="L1", actor="user:me", reason="yes", now=NOW + 9))


def test_a_global_lesson_revised_from_a_project_stays_global(db, teach):
    teach("L1", lineage="one", incident_id="i1", **PROMOTABLE)
    teach("L2", lineage="two", incident_id="i2", project_id="q", **PROMOTABLE)
    decision = teach("L2", base_revision=1, project_id="r", now=NOW + 5, **{**PROMOTABLE, "lineage": "three", "incident_id": "i3"})
    row = lessons.get(db, "L2")
    assert (row.project_id, row.ns, row.revision, decision.promoted) == (None, "global", 2, False)
    assert grains.get(db, row.grain_hash).grain.ns == "global"


def test_an_undo_names_the_later_changes_and_refuses(db, teach):
    decision = teach("L1")
    teach("L1", base_revision=1, now=NOW + 1)
    with writing(db):
        off = gates.switch(db, lesson_id="L1", on=False, actor="user:me", reason="", now=NOW + 2)
    before = everything(db)
    sentence = refused("AFL-CHANGE-009", lambda: gates.undo(db, n=decision.audit[-1], actor="user:me", reason="", now=NOW + 3))
    assert f"{off} (lesson.disable)" in sentence
    assert "(lesson.revise)" in sentence
    assert "propose" not in sentence
    assert everything(db) == before


def test_an_undo_needs_a_change_and_its_text(db, teach):
    decision = teach("L1")
    refused("AFL-CHANGE-007", lambda: gates.undo(db, n=99, actor="user:me", reason="", now=NOW))
    refused("AFL-CHANGE-009", lambda: gates.undo(db, n=decision.audit[0], actor="user:me", reason="", now=NOW))
    with writing(db):
        db.execute("DELETE FROM audit_texts WHERE hash = ?", (rows.get(db, decision.audit[-1]).body_hash,))
    assert "erased" in refused("AFL-CHANGE-009", lambda: gates.undo(db, n=decision.audit[-1], actor="user:me", reason="", now=NOW))


def test_an_undone_lesson_can_be_taught_again(db, teach):
    decision = teach("L1")
    with writing(db):
        n = gates.undo(db, n=decision.audit[-1], actor="user:me", reason="wrong", now=NOW + 1)
    assert lessons.get(db, "L1") is None
    assert projection.for_project(db, "p") == []
    assert grains.heads(db, HeadKey("project:p", "L1", "lesson")) == []
    assert json.loads(rows.text(db, rows.get(db, n).body_hash))["undone"] == rows.get(db, decision.audit[-1]).hash
    assert teach("L1").revision == 1  # at the same millisecond: the very same text comes back
    assert teach("L1", base_revision=1, now=NOW + 3).revision == 2
    assert verify_chain(db) is None


def test_the_projection_can_be_made_anew_at_any_time(db, teach):
    teach("L1", scope=Scope(paths=("src",), signals=("ship it now",)))
    teach("L2", severity=Severity.BLOCKER)
    teach("L3")
    with writing(db):
        gates.switch(db, lesson_id="L3", on=False, actor="user:me", reason="", now=NOW)
    before = everything(db)["projection"]
    with writing(db):
        db.execute("UPDATE projection SET card_text = 'spoilt' WHERE lesson_id = 'L1'")
        for lesson_id in ("L1", "L2", "L3"):
            projection.rebuild(db, lesson_id)
    assert everything(db)["projection"] == before
    rule = json.loads(projection.for_project(db, "p")[1].match_json)
    assert (rule["paths"], rule["signals"], rule["words"]) == (["src"], ["ship it now"], ["claiming", "migration", "finished"])


def test_a_lesson_is_found_by_its_short_id(db, teach):
    from afl_core.model.card_text import short_id

    teach("L1")
    assert lessons.find(db, short_id("L1")).lesson_id == "L1"
    assert lessons.find(db, short_id("L1").upper()).lesson_id == "L1"
    assert lessons.find(db, "L1").lesson_id == "L1"
    assert lessons.find(db, "nobody") is None


def test_lists_are_by_weight_and_by_project(db, teach):
    teach("L1", family_id="f")
    teach("L2", family_id="f", severity=Severity.BLOCKER)
    teach("L3", family_id="f", project_id="q")
    assert [row.lesson_id for row in lessons.for_project(db, "p")] == ["L2", "L1"]
    assert [row.lesson_id for row in lessons.in_family(db, "f", "p")] == ["L2", "L1"]
    assert lessons.everywhere(db) == []
    assert attrs.asdict(lessons.get(db, "L3"))["project_id"] == "q"
