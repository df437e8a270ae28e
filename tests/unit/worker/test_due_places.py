"""The due rules over a backlog: once for each project and host, in short transactions, the same reviews as word by word; a plan changes nothing."""

from __future__ import annotations

import contextlib
import itertools
from unittest import mock

import pytest
import review_world as world
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from afl_core.review import queue
from afl_core.settings.schema import Settings
from afl_core.store import queue as queue_rows
from afl_core.store import reviews as review_rows
from afl_core.store.connection import connect, writing
from afl_core.worker import due

LATER = world.NOW + 10 * world.MINUTE


@pytest.fixture
def db(home):
    opened = world.open_store(world.create(home))
    yield opened
    opened.close()


def backlog(db, count, *, immediate=lambda _number: True, project=world.PROJECT, first=0):
    """Words that wait, one millisecond apart, stored in one go."""
    world.session(db, project=project)
    with writing(db):
        for number in range(first, first + count):
            event_id = f"w{number:05}"
            db.execute(
                "INSERT INTO events (event_id, session_id, project_id, seq, generation, offset, part, epoch, kind, role, text, manifest_json,"
                " data_class, completeness, captured_ms) VALUES (?, ?, ?, ?, 1, ?, 0, 1, 'message', 'user', 'x', '{}', 'normal', 'whole', ?)",
                (event_id, world.SESSION, project, number, number, world.NOW),
            )
            queue_rows.insert(db, event_id, project, immediate=immediate(number), now=world.NOW + number)


def held(db):
    """The events of every review, oldest review first."""
    rows = db.execute("SELECT review_id, event_id FROM queue WHERE review_id IS NOT NULL ORDER BY review_id, event_id").fetchall()
    found = {}
    for review_id, event_id in rows:
        found.setdefault(review_id, []).append(event_id)
    return list(found.values())


def traced(db, act):
    """The statements `act` runs."""
    said = []
    db.set_trace_callback(said.append)
    try:
        act()
    finally:
        db.set_trace_callback(None)
    return said


def test_a_backlog_costs_one_statement_a_word_and_a_few_a_review(db):
    backlog(db, 2_000)
    said = traced(db, lambda: due.evaluate(db, Settings(), LATER))
    assert sorted(event for review in held(db) for event in review) == [f"w{number:05}" for number in range(2_000)]
    reads = [line for line in said if line.startswith("SELECT") and "queue.status = 'pending'" in line]
    assert len(reads) <= 3
    assert len(said) < 2_000 + 10 * len(held(db)) + 100


def test_a_mixed_backlog_costs_no_more(db):
    backlog(db, 2_000, immediate=lambda number: number % 2 == 0)
    said = traced(db, lambda: due.evaluate(db, Settings(), LATER))
    waiting = queue_rows.waiting(db, world.PROJECT, "claude")
    assert not any(row.immediate for row in waiting)
    assert len(said) < 2_000 + 10 * len(held(db)) + 100


def test_the_write_lock_is_given_back_after_every_few_reviews(db):
    backlog(db, 2_000)
    said = traced(db, lambda: due.evaluate(db, Settings(), LATER))
    sizes, size = [], 0
    for line in said:
        size = 0 if line.startswith("BEGIN") else size + 1
        if line.startswith("COMMIT"):
            sizes.append(size)
    assert len(sizes) > 5
    assert max(sizes) < 2 * due.WORDS_PER_TRANSACTION


def test_a_second_evaluation_writes_nothing(db):
    backlog(db, 100, immediate=lambda number: number < 3)
    found = due.evaluate(db, Settings(), LATER)
    said = traced(db, lambda: due.evaluate(db, Settings(), LATER + 1))
    assert not any(line.startswith("BEGIN") for line in said)
    assert due.evaluate(db, Settings(), LATER + 1) == found


def test_reviews_that_are_off_are_not_even_looked_for(db):
    backlog(db, 100)
    assert traced(db, lambda: due.evaluate(db, Settings(reviews_per_day=0), LATER)) == []
    assert due.plan(db, Settings(reviews_per_day=0), LATER) == []


def test_a_plan_names_what_an_evaluation_makes_and_writes_nothing(db):
    backlog(db, 60, immediate=lambda number: number % 7 == 0)
    backlog(db, 5, immediate=lambda _number: False, project="/home/dev/other", first=900)
    said = traced(db, lambda: due.plan(db, Settings(), LATER))
    assert all(line.startswith("SELECT") for line in said)
    planned = due.plan(db, Settings(), LATER)
    due.evaluate(db, Settings(), LATER)
    assert sorted(sorted(step.taken) for step in planned) == sorted(held(db))
    assert sorted(step.messages for step in planned) == sorted(len(review) for review in held(db))


def test_a_signal_joins_a_review_that_waits_and_it_may_start_at_once(db):
    backlog(db, 3, immediate=lambda _number: False)
    [review_id] = due.evaluate(db, Settings(), LATER)
    with writing(db):
        lease = queue.claim(db, review_id, "me", LATER, 90_000)
        queue.postpone(db, lease, "reviewer_login_missing", "", LATER + 300_000, LATER)
    backlog(db, 1, first=10)
    [step] = due.plan(db, Settings(), LATER + 1)
    assert (step.review_id, step.fresh, step.taken, step.messages) == (review_id, False, ("w00010",), 4)
    assert due.evaluate(db, Settings(), LATER + 1) == [review_id]
    row = review_rows.get(db, review_id)
    assert (row.immediate, row.next_wake_ms) == (True, 0)


def test_a_lease_that_ended_is_given_back_first(db):
    backlog(db, 3, immediate=lambda _number: False)
    [review_id] = due.evaluate(db, Settings(), LATER)
    with writing(db):
        queue.claim(db, review_id, "me", LATER, 90_000)
    backlog(db, 1, immediate=lambda _number: False, first=10)
    assert due.evaluate(db, Settings(), LATER + 100_000) == [review_id]
    assert review_rows.get(db, review_id).reason == "lease_expired"


def test_what_another_process_did_meanwhile_is_worked_out_again(db, home, monkeypatch):
    backlog(db, 30)
    whole, other = due._submit, connect(world.Paths(home).database)

    def submit(connection, place, now):
        monkeypatch.setattr(due, "_submit", whole)
        due.evaluate(other, Settings(), now)
        return whole(connection, place, now)

    monkeypatch.setattr(due, "_submit", submit)
    due.evaluate(db, Settings(), LATER)
    other.close()
    assert sorted(len(review) for review in held(db)) == [6, 24]


def test_words_taken_meanwhile_leave_no_half_review(db, monkeypatch):
    backlog(db, 3)
    place = due._plan_place(db, world.PROJECT, "claude", Settings(), LATER)
    with writing(db):
        db.execute("UPDATE queue SET status = 'acknowledged' WHERE event_id = 'w00001'")
    assert due._submit(db, place, LATER) == []
    assert db.execute("SELECT count(*) FROM reviews").fetchone()[0] == 0
    assert len(queue_rows.waiting(db, world.PROJECT, "claude")) == 2


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    kinds=st.lists(st.booleans(), min_size=1, max_size=40),
    batch_max=st.integers(1, 6),
    min_entries=st.integers(1, 8),
    now=st.sampled_from([world.NOW + 50, LATER, LATER + 120 * world.MINUTE]),
)
def test_a_place_gets_the_reviews_that_its_words_get_one_by_one(tmp_path_factory, kinds, batch_max, min_entries, now):
    rules = Settings(review_batch_max=batch_max, review_min_entries=min_entries)
    outcomes = []
    for way in ("at once", "one by one"):
        one = world.open_store(world.create(tmp_path_factory.mktemp("store")))
        ids = (
            f"{number:032x}" for number in itertools.count()
        )  # which of two reviews of one millisecond is the newer one must not be chance
        with contextlib.closing(one), mock.patch.object(due, "new_id", ids.__next__), mock.patch.object(queue, "new_id", ids.__next__):
            backlog(one, len(kinds), immediate=lambda number: kinds[number])
            if way == "at once":
                due.evaluate(one, rules, now)
            else:
                for number, signalled in enumerate(kinds):
                    if signalled:
                        with writing(one):
                            queue.submit_due(one, world.PROJECT, "claude", rules, now, f"w{number:05}")
                with writing(one):
                    queue.submit_all_due(one, rules, now)
            outcomes.append((held(one), queue_rows.waiting(one, world.PROJECT, "claude")))
    assert outcomes[0] == outcomes[1]
