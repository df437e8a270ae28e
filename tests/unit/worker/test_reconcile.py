"""One pass over everything known: what hooks missed is repaired, and one broken session stops no other."""

from __future__ import annotations

import os

import capture_world as worlds
import pytest

from afl_core.model.errors import ReviewError, StoreError
from afl_core.store import status
from afl_core.store.connection import writing
from afl_core.worker import reconcile, todo


@pytest.fixture
def world(home):
    made = worlds.World(home, now=worlds.RECORDED_MS + 60_000)
    yield made
    made.close()


@pytest.fixture
def two(world, home):
    """Two sessions whose hooks told of them once and never again."""
    for name in ("a", "b"):
        worlds.Tape(home / f"{name}.jsonl", prefix=name).person(f"do {name}").agent("wrongly").cut().person(f"no, {name}!")
        world.session(home / f"{name}.jsonl", f"claude:{name}")
    return world


def dump(world):
    return "\n".join(line for line in world.db.iterdump() if "plugin_ledger" not in line)


def test_a_plan_says_what_would_be_read_and_changes_nothing(two, home):
    before = dump(two)
    planned = reconcile.plan(two.home)
    assert [(one["session"], one["unread"]) for one in planned["transcripts"]] == [
        ("claude:a", (home / "a.jsonl").stat().st_size),
        ("claude:b", (home / "b.jsonl").stat().st_size),
    ]
    assert planned["reviews"] == []
    assert dump(two) == before


def test_missed_hooks_cost_no_evidence(two):
    body = reconcile.run(two.home, review=False)
    assert (body["status"], body["filesScanned"], body["eventsCaptured"], body["immediateSignals"]) == ("completed", 2, 6, 2)
    assert [signal[1] for signal in two.signals()] == ["no, a!", "no, b!"]
    assert reconcile.plan(two.home)["transcripts"] == []
    assert len(reconcile.plan(two.home)["reviews"]) == 1


def test_a_second_pass_captures_nothing(two):
    reconcile.run(two.home, review=False)
    body = reconcile.run(two.home, review=False)
    assert (body["filesScanned"], body["eventsCaptured"], body["duplicateEvents"]) == (0, 0, 0)


def test_one_session_that_cannot_be_read_stops_no_other(two, home):
    os.rename(home / "a.jsonl", home / "real.jsonl")
    os.symlink(home / "real.jsonl", home / "a.jsonl")
    body = reconcile.run(two.home, review=False)
    assert body["status"] == "completed_with_errors"
    assert [(error["path"], error["code"]) for error in body["errors"]] == [(str(home / "a.jsonl"), "AFL-CAPTURE-003")]
    assert two.messages("claude:b")[0] == ("user", "do b")
    assert reconcile.plan(two.home)["unreadable"] == [{"session": "claude:a", "path": str(home / "a.jsonl")}]


@pytest.mark.parametrize("bad", [StoreError("the disk is full", code="AFL-STORE-006"), OSError(28, "No space left on device")])
def test_one_session_that_fails_stops_no_other(two, monkeypatch, bad):
    whole = reconcile.absorb

    def absorb(home, session_id, **more):
        if session_id == "claude:a":
            raise bad
        return whole(home, session_id, **more)

    monkeypatch.setattr(reconcile, "absorb", absorb)
    body = reconcile.run(two.home, review=False)
    assert len(body["errors"]) == 1
    assert body["eventsCaptured"] == 3
    assert two.messages("claude:b")[0] == ("user", "do b")


def test_one_review_that_fails_stops_no_other(two, monkeypatch):
    with writing(two.db):
        two.db.execute("UPDATE sessions SET project_id = 'p-2' WHERE session_id = 'claude:b'")
    ran = []

    def review(_home, review_id):
        ran.append(review_id)
        if len(ran) == 1:
            raise ReviewError("lost", reason="lease_lost", code="AFL-REVIEW-002")
        return "completed"

    monkeypatch.setattr(reconcile, "run_one", review)
    body = reconcile.run(two.home)
    assert [one["outcome"] for one in body["reviews"]] == ["AFL-REVIEW-002", "completed"]
    assert [error["code"] for error in body["errors"]] == ["AFL-REVIEW-002"]


def test_reviews_whose_reviewer_was_killed_or_failed_are_tried_again_and_counted(two, monkeypatch):
    from afl_core.review import queue
    from afl_core.settings.schema import Settings

    with writing(two.db):
        two.db.execute("UPDATE sessions SET project_id = 'p-2' WHERE session_id = 'claude:b'")
    reconcile.run(two.home, review=False)
    killed, failed = queue.due_reviews(two.db, two.home.settings, two.now)
    with writing(two.db):
        queue.claim(two.db, killed, "a process that is gone", two.now, 1000)
        queue.fail(two.db, queue.claim(two.db, failed, "me", two.now, 1000), "reviewer_failed", "", Settings(), two.now)
    two.now += two.home.settings.review_wake_cooldown * 1000 + 1
    ran = []
    monkeypatch.setattr(reconcile, "run_one", lambda _home, review_id: (ran.append(review_id), "failed (retry_exhausted)")[1])
    body = reconcile.run(two.home)
    assert sorted(ran) == sorted([killed, failed])
    assert (body["reviewersLaunched"], body["recoveredReviewers"], body["exhaustedReviewerJobs"]) == (2, 2, 2)


def test_no_review_is_started_when_none_is_wanted(two, monkeypatch):
    monkeypatch.setattr(reconcile, "run_one", lambda *_: pytest.fail("a review was started"))
    assert reconcile.run(two.home, review=False)["reviews"] == []


def test_hook_rows_that_wait_without_a_transcript_get_their_events(world, home):
    world.session(home / "never.jsonl")
    world.hook("prompt", "only a hook saw this", at=world.now - 600_000)
    assert reconcile.run(world.home, review=False)["eventsCaptured"] == 1


def test_sessions_not_seen_for_a_month_are_left_alone(two):
    two.now += todo.LOOK_BACK_MS + 1000
    assert reconcile.plan(two.home)["transcripts"] == []


def test_capture_that_is_off_reads_nothing_and_says_so(two):
    with writing(two.db):
        status.set_meta(two.db, "capture_enabled", "0")
    assert reconcile.plan(two.home)["transcripts"] == []
    body = reconcile.run(two.home, review=False)
    assert (body["filesSkipped"], body["filesScanned"], body["eventsCaptured"]) == (2, 0, 0)
    assert two.db.execute("SELECT count(*) FROM cursors").fetchone()[0] == 0


def test_a_pass_leaves_its_summary(two):
    reconcile.run(two.home, review=False)
    assert status.get(two.db, "reconcile")["eventsCaptured"] == 6


def test_gaps_are_reported_with_their_file(world, home):
    from afl_core.capture.read import RECORD_LIMIT_BYTES

    (home / "t.jsonl").write_bytes(b'{"type":"user","x":"' + b"x" * (RECORD_LIMIT_BYTES + 1) + b'"}\n')
    world.session(home / "t.jsonl")
    body = reconcile.run(world.home, review=False)
    assert [(gap["path"], gap["kind"]) for gap in body["coverageGaps"]] == [(str(home / "t.jsonl"), "oversized_record")]


def test_progress_names_every_transcript(two, home):
    said = []
    reconcile.run(two.home, review=False, progress=said.append)
    assert [str(home / f"{name}.jsonl") in line for name, line in zip("ab", said, strict=True)] == [True, True]


def test_a_pass_begins_nothing_more_when_its_time_is_over_and_the_next_goes_on(two):
    body = reconcile.run(two.home, review=False, at_most_s=0)
    assert (body["status"], body["filesScanned"]) == ("completed", 0)
    assert reconcile.run(two.home, review=False)["filesScanned"] == 2


def test_a_pass_says_when_the_next_is_due_and_one_that_is_cut_off_says_at_once(two, monkeypatch):
    reconcile.run(two.home, review=False)
    told = status.get(two.db, "reconcile_next_ms")
    assert told is not None
    assert told["at_ms"] == two.home.clock() + 1  # two signals wait, which a pass without reviews may not start
    monkeypatch.setattr(reconcile.due, "evaluate", lambda *_args: (_ for _ in ()).throw(KeyboardInterrupt))
    two.db.execute("UPDATE status SET body_json = '{}' WHERE name = 'reconcile_next_ms'")
    with pytest.raises(KeyboardInterrupt):
        reconcile.run(two.home, review=False)
    assert status.get(two.db, "reconcile_next_ms")["at_ms"] == two.home.clock()
