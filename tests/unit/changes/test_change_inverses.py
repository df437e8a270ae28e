"""After any history, undoing changes from the last back brings memory to exactly what it was, and undoing those undos to what it became: recall, heads, rows and projection."""

from __future__ import annotations

import sqlite3

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from afl_core.changes import gates
from afl_core.changes.audit import verify_chain
from afl_core.changes.operations import LessonProposal
from afl_core.model.errors import ChangeError
from afl_core.model.lesson import Card, EvidenceRef, Scope, Severity
from afl_core.settings.schema import Policy
from afl_core.store import lessons
from afl_core.store.connection import writing
from afl_core.store.schema import MIGRATIONS, SCHEMA_VERSION

IDS = st.sampled_from(["L1", "L2", "L3"])


def proposal(lesson_id, base, severity, words, lineage):
    return LessonProposal(
        lesson_id=lesson_id,
        project_id=f"project of {lesson_id}",
        base_revision=base,
        severity=severity,
        family_id="one family",
        method_class="state-context",
        class_id="c",
        scope=Scope(paths=(words or "x",)),
        card=Card("w" + words, "m", "n", "v", "y", "e", ("s",)),
        generalizable=True,
        responsibility="agent_fault",
        confidence="high",
        causal_chain=("a",) * 5,
        extra={},
        evidence=(EvidenceRef("e", "q", ("r",)),),
        report_id="r",
        review_id="v",
        origin_session="claude:s",
        lineage=lineage,
        incident_id=f"incident {lesson_id} {base}",
        rule_action="propose_global_rule",
    )


def state(db):
    """What an agent could be told, and by which way it would be found."""
    tables = (
        "SELECT * FROM lessons",
        "SELECT * FROM lesson_revisions",
        "SELECT * FROM projection",
        "SELECT ns, subject, relation, hash FROM grains WHERE head = 1",
    )
    live = "SELECT hash, ns, type, fields_json FROM grains WHERE superseded_by IS NULL"
    links = "SELECT hash, superseded_by FROM grains WHERE superseded_by IS NOT NULL AND superseded_by <> 'withdrawn'"
    return [sorted(tuple(row) for row in db.execute(query)) for query in (*tables, live, links)]


class History(RuleBasedStateMachine):
    """Lessons are taught, revised, switched, promoted and undone in any order."""

    @initialize()
    def start(self):
        self.db = sqlite3.connect(":memory:", isolation_level=None)
        self.db.row_factory = sqlite3.Row
        self.db.executescript("".join(MIGRATIONS) + f"PRAGMA user_version = {SCHEMA_VERSION};")
        self.now = 1_767_225_600_000
        self.done: list[tuple[int, str, list]] = []

    def change(self, call):
        """Run a change; remember its audit rows with the state before each, unless it is refused: then nothing may have changed."""
        self.now += 1
        before = state(self.db)
        try:
            with writing(self.db):
                numbers, target = call()
        except ChangeError:
            assert state(self.db) == before
            return
        self.done.append((numbers, target, before))

    @rule(
        lesson_id=IDS,
        severity=st.sampled_from([Severity.MAJOR, Severity.BLOCKER]),
        words=st.text(max_size=5),
        lineage=st.sampled_from([None, "a", "b"]),
    )
    def teach(self, lesson_id, severity, words, lineage):
        row = lessons.get(self.db, lesson_id)
        given = proposal(lesson_id, row.revision if row else 0, severity, "".join(c for c in words if c.isalnum()), lineage)

        def call():
            decision = gates.decide_lesson(self.db, proposal=given, actor="reviewer", policy=Policy(), now=self.now)
            return list(decision.audit[2:]), lesson_id

        self.change(call)

    @rule(lesson_id=IDS, on=st.booleans())
    def switch(self, lesson_id, on):
        self.change(lambda: ([gates.switch(self.db, lesson_id=lesson_id, on=on, actor="user:me", reason="", now=self.now)], lesson_id))

    @rule(lesson_id=IDS)
    def promote(self, lesson_id):
        self.change(lambda: ([gates.promote(self.db, lesson_id=lesson_id, actor="user:me", reason="", now=self.now)], lesson_id))

    @precondition(lambda self: self.done)
    @rule()
    def undo_the_last(self):
        numbers, _, before = self.done.pop()
        for n in reversed(numbers):
            self.undo(n)
        assert state(self.db) == before

    @precondition(lambda self: self.done)
    @rule()
    def undo_the_last_and_undo_that(self):
        numbers, _, before = self.done[-1]
        now = state(self.db)
        undone = [self.undo(n) for n in reversed(numbers)]
        assert state(self.db) == before
        again = [self.undo(n) for n in reversed(undone)]
        assert state(self.db) == now
        if self.now % 2:
            for n in reversed(again):
                self.undo(n)
            assert state(self.db) == before
            self.done.pop()

    def undo(self, n):
        with writing(self.db):
            return gates.undo(self.db, n=n, actor="user:me", reason="", now=self.now)

    @precondition(lambda self: len(self.done) > 1)
    @rule(data=st.data())
    def an_undo_under_later_changes_of_the_same_lesson_is_refused(self, data):
        index = data.draw(st.integers(0, len(self.done) - 2))
        numbers, target, _ = self.done[index]
        if not any(later == target for _, later, _ in self.done[index + 1 :]):
            return
        before = state(self.db)
        with pytest.raises(ChangeError) as refused, writing(self.db):
            gates.undo(self.db, n=numbers[-1], actor="user:me", reason="", now=self.now)
        assert refused.value.code == "AFL-CHANGE-009"
        assert state(self.db) == before

    @invariant()
    def the_chain_holds_and_every_lesson_has_one_live_text(self):
        if not hasattr(self, "db"):
            return
        assert verify_chain(self.db) is None
        texts = {row[0] for row in self.db.execute("SELECT grain_hash FROM lessons")}
        assert texts == {row[0] for row in self.db.execute("SELECT hash FROM grains WHERE superseded_by IS NULL")}
        assert texts == {row[0] for row in self.db.execute("SELECT hash FROM grains WHERE head = 1")}

    def teardown(self):
        if hasattr(self, "db"):
            self.db.close()


TestHistory = History.TestCase
