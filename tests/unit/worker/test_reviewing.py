"""What keeps one review from being begun postpones that review and no other."""

from __future__ import annotations

import capture_world as worlds
import pytest

from afl_core.api.home import Home
from afl_core.worker import reviewing
from afl_core.worker.due import evaluate


@pytest.fixture
def world(home):
    """Three messages of a person wait: a review is due."""
    made = worlds.World(home, now=worlds.RECORDED_MS + 60_000)
    made.session(home / "t.jsonl")
    worlds.Tape(home / "t.jsonl").person("say 1").person("say 2").person("say 3")
    made.absorb()
    evaluate(made.db, made.home.settings, made.now)
    yield made
    made.close()


def due(world):
    return world.db.execute("SELECT review_id, status, attempt, reason, next_wake_ms FROM reviews").fetchone()


def test_a_bad_variable_of_a_session_postpones_its_review_with_a_reason_and_no_attempt(world, home):
    with Home(str(home), {"AGENT_FEEDBACK_LOOP_REVIEWER_TIMEOUT_MS": "3m"}, clock=lambda: world.now) as opened:
        assert reviewing.review(opened, due(world)["review_id"]) == "postponed (reviewer_settings)"
    row = due(world)
    assert (row["status"], row["attempt"], row["reason"]) == ("pending", 0, "reviewer_settings")
    assert row["next_wake_ms"] > world.now


def test_a_review_that_cannot_be_begun_rests_and_the_process_goes_on(world, home, monkeypatch):
    def broken(*_arguments):
        raise LookupError("nobody foresaw this")

    monkeypatch.setattr(reviewing, "review", broken)
    reviews = reviewing.Reviews(str(home), {})
    reviews.start(due(world)["review_id"], {})
    reviews.join()
    assert reviews.rests(due(world)["review_id"])
    assert not reviews.rests("another")
