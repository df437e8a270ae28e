"""A process killed between any two statements of an apply leaves the old state or the new one, never something between."""

from __future__ import annotations

import signal
import sqlite3
import subprocess
import sys

import pytest

from afl_core.changes.audit import verify_chain
from afl_core.store.connection import connect
from afl_core.store.schema import APPLICATION_ID, MIGRATIONS, SCHEMA_VERSION

PROGRAM = """
import os, signal, sqlite3, sys
from afl_core.changes import gates
from afl_core.changes.operations import LessonProposal
from afl_core.model.lesson import Card, EvidenceRef, Scope, Severity
from afl_core.settings.schema import Policy
from afl_core.store.connection import connect, writing

path, step, kill_at = sys.argv[1], sys.argv[2], int(sys.argv[3])
NOW = 1_767_225_600_000


def proposal(lesson_id, project, base, words):
    return LessonProposal(
        lesson_id=lesson_id, project_id=project, base_revision=base, severity=Severity.BLOCKER, family_id="f", method_class="state-context",
        class_id="c", scope=Scope(), card=Card(words, "m", "n", "v", "y", "e", ("s",)), generalizable=True, responsibility="agent_fault",
        confidence="high", causal_chain=("a",) * 5, extra={}, evidence=(EvidenceRef("e", "q", ("r",)),), report_id="r", review_id="v",
        origin_session="claude:s", lineage=project, incident_id=project + str(base), rule_action="propose_global_rule",
    )


def decide(given, now):
    return gates.decide_lesson(db, proposal=given, actor="reviewer", policy=Policy(), now=now)


STEPS = {
    "first": lambda: decide(proposal("L1", "p", 0, "one"), NOW),
    "revise": lambda: decide(proposal("L1", "p", 1, "two"), NOW + 1),
    "promoted": lambda: decide(proposal("L2", "q", 0, "other"), NOW + 2),
    "undo": lambda: gates.undo(db, n=3, actor="user:me", reason="wrong", now=NOW + 3),
}
db = connect(path)
statements = 0


def count(_statement):
    global statements
    statements += 1
    if statements == kill_at:
        os.kill(os.getpid(), signal.SIGKILL)


db.set_trace_callback(count)
with writing(db, durable=True):
    STEPS[step]()
db.set_trace_callback(None)
print(statements)
"""
TABLES = ("lessons", "lesson_revisions", "family_evidence", "projection", "grains", "audit", "audit_texts", "meta")


def run(path, step, kill_at=0):
    return subprocess.run([sys.executable, "-c", PROGRAM, str(path), step, str(kill_at)], capture_output=True, text=True)


def state(path):
    db = connect(path)
    try:
        assert db.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
        assert verify_chain(db) is None
        return {table: sorted(tuple(row) for row in db.execute(f"SELECT * FROM {table}")) for table in TABLES}
    finally:
        db.close()


def copy(source, target):
    old, new = sqlite3.connect(source), sqlite3.connect(target)
    old.backup(new)
    old.close()
    new.close()


@pytest.fixture
def base(tmp_path):
    path = tmp_path / "base.sqlite3"
    made = sqlite3.connect(path)
    made.executescript("".join(MIGRATIONS) + f"PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {SCHEMA_VERSION};")
    made.close()
    return path


@pytest.mark.slow
@pytest.mark.parametrize(("before", "step"), [([], "first"), (["first"], "revise"), (["first"], "promoted"), (["first"], "undo")])
def test_a_kill_between_two_statements_leaves_the_old_state_or_the_new(base, tmp_path, before, step):
    for earlier in before:
        assert run(base, earlier).returncode == 0
    old = state(base)
    whole = tmp_path / "whole.sqlite3"
    copy(base, whole)
    done = run(whole, step)
    assert done.returncode == 0, done.stderr
    new = state(whole)
    assert new != old
    count = int(done.stdout)
    assert count > 15
    # Every third statement, the first ones and the last ones: the commit is among them.
    for kill_at in sorted({1, 2, *range(3, count, max(3, count // 8)), count - 1, count}):
        hurt = tmp_path / f"killed-{kill_at}.sqlite3"
        copy(base, hurt)
        killed = run(hurt, step, kill_at)
        assert killed.returncode == -signal.SIGKILL, killed.stderr
        left = state(hurt)
        assert left in (old, new)
        if left == old:
            again = run(hurt, step)
            assert again.returncode == 0, again.stderr
            assert state(hurt) == new


def test_a_change_that_is_refused_half_way_leaves_nothing(base):
    assert run(base, "first").returncode == 0
    old = state(base)
    refused = run(base, "first")
    assert refused.returncode == 1
    assert "revision conflict" in refused.stderr
    assert state(base) == old
