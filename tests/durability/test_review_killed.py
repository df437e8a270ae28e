"""A review whose process is killed at any step goes on with the next one, and nothing is there twice."""

from __future__ import annotations

import os
import pathlib
import signal
import subprocess
import sys
import textwrap
import time

import pytest
import review_world as world

from afl_core.changes.audit import verify_chain
from afl_core.model.errors import StoreError
from afl_core.review import context, queue
from afl_core.review.run import LEASE_MS, Result, run_review
from afl_core.store import reviews as review_rows
from afl_core.store import spend as spend_rows
from afl_core.store.connection import writing

BUILDERS = pathlib.Path(world.__file__).parent

STEPS = {
    "after the claim": """
        from afl_core.review import handoff
        handoff.collect = die
    """,
    "after the context was written": """
        from afl_core.review import operator
        operator.command = die
    """,
    "while the child runs": """
        from afl_core.review import run
        def renew(self):
            if os.path.exists(CHILD) and open(CHILD).read():
                die()
        run._Work.renew = renew
    """,
    "after the child ended": """
        from afl_core.review import run
        run.parse_receipt = die
    """,
    "in the commit, after the report": """
        from afl_core.review import commit
        commit.settle = die
    """,
    "in the commit, after a lesson": """
        from afl_core.store import receipts
        receipts.insert_receipt = die
    """,
    "in the commit, before its end": """
        from afl_core.changes import audit
        from afl_core.review import commit
        record = audit.record
        def last(db, *, action, **more):
            row = record(db, action=action, **more)
            return die() if action == "review.commit" else row
        audit.record = last
    """,
}

PROGRAM = """
    import os, signal, sys
    sys.path.insert(0, {builders!r})
    import review_world as world
    from afl_core.settings.paths import Paths
    CHILD = {child!r}
    def die(*arguments, **more):
        os.kill(os.getpid(), signal.SIGKILL)
    {step}
    from afl_core.review.run import run_review
    from afl_core.settings.schema import Settings
    paths = Paths({home!r})
    settings = Settings(reviewer_command={command!r})
    run_review(world.open_store(paths), paths, settings, (), dict(os.environ), {review!r}, world.Ticking(), world.same)
    print("not killed")
"""


def alive(pid: int) -> bool:
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def killed_at(step: str, home: pathlib.Path, review: str, command: str) -> subprocess.CompletedProcess:
    patch = textwrap.indent(textwrap.dedent(STEPS[step]).strip(), "    ").strip()
    text = textwrap.dedent(PROGRAM).format(
        builders=str(BUILDERS),
        child=str(home / "child"),
        step=patch.replace("\n    ", "\n"),
        home=str(home),
        command=command,
        review=review,
    )
    environment = {**os.environ, "HOME": str(home), "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    return subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, env=environment)


@pytest.mark.parametrize("step", STEPS)
def test_the_next_run_goes_on_after_a_kill(step, home):
    paths = world.create(home)
    db = world.open_store(paths)
    review, _, said = world.waiting_review(db)
    before = world.dump(db)
    waits = "import time; time.sleep(600)" if step == "while the child runs" else "pass"
    slow = f"""
        import os
        open({str(home / "child")!r}, "w").write(str(os.getpid()))
        {waits}
        print(open({str(home / "answer.json")!r}, encoding="utf-8").read())
    """
    settings = world.answering(home, world.receipt(world.lesson()))
    died = killed_at(step, home, review, world.script(home, slow, "slow.py"))
    assert died.returncode == -signal.SIGKILL, died.stderr

    # Only the lease, and the run's row if it was started, were written.
    after = world.dump(db)
    assert {name for name in before if before[name] != after[name]} <= {"reviews", "review_runs"}
    assert review_rows.get(db, review).status.value == "running"
    if (home / "child").exists():
        pid = int((home / "child").read_text("utf-8"))
        while alive(pid):  # the time limit of the test run ends a hang
            time.sleep(0.02)

    # Nobody may take it before its lease ends; then it is recovered, its leftovers are swept, and it completes.
    clock = world.Ticking()
    environ = {"PATH": os.environ["PATH"]}
    assert run_review(db, paths, settings, (), environ, review, clock, world.same).result is Result.NOT_CLAIMED
    clock.now += LEASE_MS + 1
    with writing(db):
        assert queue.recover(db, clock.now) == [review]
    context.sweep(paths)
    assert not os.path.exists(paths.contexts) or os.listdir(paths.contexts) == []
    outcome = run_review(db, paths, settings, (), environ, review, clock, world.same)
    assert outcome.result is Result.COMPLETED, outcome
    for table in ("lessons", "incidents", "receipts", "reports", "family_evidence"):
        assert world.count(db, table) == (0 if table == "family_evidence" else 1)
    assert world.status_of(db, said) == "acknowledged"
    assert verify_chain(db) is None
    outcomes = [run.outcome for run in spend_rows.of_review(db, review)]
    assert outcomes in (["completed"], ["lease_expired", "completed"])
    assert run_review(db, paths, settings, (), environ, review, clock, world.same).result is Result.NOT_CLAIMED
    db.close()


def test_a_review_that_kills_its_process_every_time_is_given_up(home):
    paths = world.create(home)
    db = world.open_store(paths)
    review, _, said = world.waiting_review(db)
    clock = world.Ticking()
    settings = world.answering(home, world.receipt(world.lesson()))
    for _ in range(settings.review_max_attempts):
        with writing(db):
            assert queue.claim(db, review, "lost", clock.now, LEASE_MS) is not None
        clock.now += LEASE_MS + 1
        with writing(db):
            queue.recover(db, clock.now)
    assert queue.next_due_ms(db, settings, clock.now) == clock.now
    outcome = run_review(db, paths, settings, (), {}, review, clock, world.same)
    assert (outcome.result, outcome.reason, world.status_of(db, said)) == (Result.FAILED, "retry_exhausted", "exhausted")
    assert queue.next_due_ms(db, settings, clock.now) is None
    db.close()


def test_a_store_that_cannot_be_written_at_the_commit_keeps_the_review_and_its_attempts(home, monkeypatch):
    paths = world.create(home)
    db = world.open_store(paths)
    review, _, _ = world.waiting_review(db)
    settings = world.answering(home, world.receipt(world.lesson()))
    full = StoreError("the disk is full", code="AFL-STORE-006")

    def refuse(*arguments, **more):
        raise full

    monkeypatch.setattr("afl_core.store.receipts.insert_receipt", refuse)
    clock = world.Ticking()
    outcome = run_review(db, paths, settings, (), {}, review, clock, world.same)
    assert (outcome.result, outcome.reason, outcome.detail) == (Result.POSTPONED, "store_failed", "the disk is full")
    assert world.count(db, "lessons") == world.count(db, "reports") == world.count(db, "audit") == 0
    monkeypatch.undo()
    clock.now += settings.review_wake_cooldown * 1000
    assert run_review(db, paths, settings, (), {}, review, clock, world.same).result is Result.COMPLETED
    db.close()
