"""An undo is a change like any other: it can be undone, which does the change again; and a lesson that an undo took away stays in view."""

from __future__ import annotations

import ast
import json
import pathlib

import pytest

import afl_core
from afl_core.changes import gates, history, naming
from afl_core.changes.audit import verify_chain
from afl_core.changes.operations import image
from afl_core.model.card_text import short_id
from afl_core.model.errors import ChangeError
from afl_core.model.lesson import Severity
from afl_core.store import audit as rows
from afl_core.store import grains, lessons, projection
from afl_core.store.connection import writing

NOW = 1_767_225_600_000


@pytest.fixture
def undo(db):
    def run(n, now=NOW + 100):
        with writing(db):
            return gates.undo(db, n=n, actor="user:me", reason="", now=now)

    return run


@pytest.fixture
def switch(db):
    def run(lesson_id="L1", on=False, now=NOW + 50):
        with writing(db):
            return gates.switch(db, lesson_id=lesson_id, on=on, actor="user:me", reason="", now=now)

    return run


def refused(call):
    with pytest.raises(ChangeError) as error:
        call()
    return error.value


def whole(db):
    return image(db, "L1"), [tuple(row) for row in db.execute("SELECT hash, superseded_by FROM grains ORDER BY hash")]


def test_undoing_the_undo_of_a_new_lesson_brings_it_back_as_it_was(db, teach, undo):
    added = teach("L1").audit[-1]
    before, row = whole(db), lessons.get(db, "L1")
    first = undo(added)
    assert lessons.get(db, "L1") is None
    undo(first)
    assert lessons.get(db, "L1") == row
    assert whole(db) == before
    assert [each.lesson_id for each in projection.for_project(db, "p")] == ["L1"]
    assert verify_chain(db) is None


def test_undo_and_redo_can_go_on(db, teach, undo):
    n = teach("L1").audit[-1]
    states = [whole(db)]
    for _ in range(4):
        n = undo(n)
        states.append(whole(db))
    assert states[0] == states[2] == states[4]
    assert states[1] == states[3] != states[0]


def test_a_revision_and_a_switch_are_done_again_by_undoing_their_undo(db, teach, undo, switch):
    teach("L1")
    revised = teach("L1", base_revision=1, now=NOW + 1, severity=Severity.CRITICAL, card={"must_do": "run it twice"})
    with_revision = whole(db)
    undone = undo(revised.audit[-1])
    assert lessons.get(db, "L1").revision == 1
    undo(undone)
    assert whole(db) == with_revision
    assert lessons.card_of(db, "L1").must_do == "run it twice"
    off = switch()
    again = undo(undo(off))
    assert lessons.get(db, "L1").status == "disabled"
    undo(again)
    assert lessons.get(db, "L1").status == "active"


def test_a_promotion_is_done_again_in_the_global_namespace(db, teach, undo):
    blocker = {"severity": Severity.BLOCKER, "rule_action": "propose_global_rule", "family_id": "f"}
    teach("L0", lineage="one", incident_id="i1", **blocker)
    promoted = teach("L1", lineage="two", incident_id="i2", project_id="q", **blocker).audit[-1]
    assert rows.get(db, promoted).action == "lesson.promote"
    before = whole(db)
    undone = undo(promoted)
    assert lessons.get(db, "L1").project_id == "q"
    undo(undone)
    assert whole(db) == before
    assert lessons.get(db, "L1").project_id is None


def test_an_undo_keeps_to_the_post_image_like_any_change(db, teach, undo, switch):
    added = teach("L1").audit[-1]
    first = undo(added)
    teach("L1", now=NOW + 200)
    error = refused(lambda: undo(first))
    assert "(lesson.add)" in error.sentence
    assert error.hint == "undo those first, the newest first"
    undo(switch(now=NOW + 300))  # back where it was: only what is still in the way is named
    assert "disable" not in refused(lambda: undo(first)).sentence


def test_a_change_that_is_undone_already_names_the_undo_by_which_it_comes_back(db, teach, undo):
    added = teach("L1").audit[-1]
    first = undo(added)
    error = refused(lambda: undo(added))
    assert error.sentence == f"change {added} is undone already, by change {first}"
    assert error.hint.endswith(f"afl memory undo {first}")
    undo(first)
    undo(added)
    assert lessons.get(db, "L1") is None


def test_a_text_that_was_erased_is_not_brought_back(db, teach, undo):
    decision = teach("L1")
    first = undo(decision.audit[-1])
    with writing(db):
        db.execute("DELETE FROM grains WHERE hash = ?", (decision.grain_hash,))
    assert "erased" in refused(lambda: undo(first)).sentence
    assert lessons.get(db, "L1") is None


def test_a_retracted_lesson_is_known_with_its_card_and_the_change_that_took_it(db, teach, undo):
    first = undo(teach("L1").audit[-1])
    [gone] = history.retracted(db)
    assert (gone.row.lesson_id, gone.row.status, gone.row.severity, gone.change) == ("L1", "retracted", Severity.MAJOR, first)
    assert history.find_retracted(db, short_id("L1")) == [gone]
    assert history.find_retracted(db, "L") == [gone]
    assert naming.called(db, "L1") == f"{short_id('L1')} (claiming that a migration is finished)"
    assert grains.get(db, gone.row.grain_hash).superseded_by == grains.WITHDRAWN
    undo(first)
    assert history.retracted(db) == []
    assert history.retraction(db, "L1") is None


def test_switching_a_retracted_lesson_says_how_to_bring_it_back(db, teach, undo, switch):
    first = undo(teach("L1").audit[-1])
    error = refused(switch)
    assert error.code == "AFL-CHANGE-005"
    assert "was retracted" in error.sentence
    assert error.hint.endswith(f"afl memory undo {first}")


def test_what_is_so_already_is_said_so(db, teach, switch):
    teach("L1")
    switch()
    error = refused(switch)
    assert error.sentence == f"lesson {short_id('L1')} (claiming that a migration is finished) is disabled already"
    assert error.hint


def test_earlier_states_can_be_asked_for_by_time(db, teach, undo, switch):
    added = teach("L1", now=NOW + 10).audit[-1]
    off = switch(now=NOW + 20)
    undo(off, now=NOW + 30)
    undo(added, now=NOW + 40)
    earlier = history.states(db, "L1")
    found = [history.state_at(earlier, None, NOW + at) for at in (5, 15, 25, 35, 45)]
    assert [row and row.status for row in found] == [None, "active", "disabled", "active", None]


def test_an_undo_says_which_change_it_undid(db, teach, undo):
    added = teach("L1").audit[-1]
    row = rows.get(db, undo(added))
    assert history.undone_by(db, row) == added
    assert history.undone_by(db, rows.get(db, added)) is None
    assert json.loads(rows.text(db, row.body_hash))["undone"] == rows.get(db, added).hash


def test_names_are_cut_at_a_word_with_an_ellipsis():
    assert naming.brief("short\n and  plain") == "short and plain"
    cut = naming.brief("one two three four five six seven", 20)
    assert cut == "one two three four…"
    assert naming.brief("x" * 100, 20) == "x" * 19 + "…"


def test_every_error_of_a_change_has_a_next_step():
    bare = []
    for path in pathlib.Path(afl_core.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "ChangeError":
                hints = [keyword.value for keyword in node.keywords if keyword.arg == "hint"]
                if not hints or (isinstance(hints[0], ast.Constant) and not hints[0].value):
                    bare.append(f"{path.name}:{node.lineno}")
    assert bare == []
