"""What people are told of reviews: why one failed, what to do, what keeps one waiting and until when; and a plan that is what a pass does."""

from __future__ import annotations

import json

import pytest

from afl_core.api import reviews
from afl_core.review import queue
from afl_core.review.spend import BREAKER_FAILURES, BREAKER_MS
from afl_core.settings.schema import Settings
from afl_core.store import spend
from afl_core.store.connection import writing
from afl_core.worker import reconcile

MINUTE = 60_000


@pytest.fixture
def review(world, words):
    """A review of one complaint that may start; gives its id."""
    world.now = words.NOW + MINUTE
    return words.waiting_review(world.db)[0]


def at_work(world, review_id):
    with writing(world.db):
        return queue.claim(world.db, review_id, "me", world.now, 90_000)


def failed(world, review_id, reason="receipt_evidence", detail="lessons[0].quote: is not in event e1", attempts=1):
    lease = at_work(world, review_id)
    with writing(world.db):
        queue.fail(world.db, lease, reason, detail, Settings(review_max_attempts=attempts), world.now)


def ran(world, review_id, number=0, outcome="receipt_evidence", model=None):
    run = spend.Run(f"run-{review_id}-{number}", review_id, "p", "claude", model, world.now, None, None, 0, 0, None)
    ended = spend.Run(f"run-{review_id}-{number}", review_id, "p", "claude", model, world.now, world.now, outcome, 7, 5, None)
    with writing(world.db):
        spend.begin(world.db, run)
        spend.finish(world.db, ended)


@pytest.fixture
def clocked(world, monkeypatch):
    """Commands see the world's clock."""
    monkeypatch.setattr("afl_core.api.home.Home.__init__.__kwdefaults__", {"clock": lambda: world.now, "killable": False})


@pytest.mark.usefixtures("clocked")
def test_a_review_that_was_given_up_says_why_with_every_detail_and_a_command_that_works(afl, world, review):
    failed(world, review)
    ran(world, review)
    status, text = afl("review", "show", review)
    assert status == 0
    assert "why: retry_exhausted: all attempts were used up" in text
    assert "detail: receipt_evidence: lessons[0].quote: is not in event e1 (the reviewer cited a quote" in text
    assert "by claude: receipt_evidence: the reviewer cited a quote" in text
    [step] = [line for line in text.splitlines() if "next:" in line]
    assert step == f"  next: run: afl review retry {review[:12]}"
    assert "<id>" not in text
    assert afl(*step.split("afl ")[1].split())[0] == 0


@pytest.mark.usefixtures("clocked")
def test_a_review_that_waits_says_why_and_until_when_and_never_names_the_command_just_run(afl, world, review):
    failed(world, review, attempts=3)
    _, text = afl("review", "show", review)
    assert "why: receipt_evidence: the reviewer cited a quote or an event that the evidence does not hold" in text
    assert "detail: lessons[0].quote: is not in event e1" in text
    assert "waits until: 2026-01-01 00:06" in text
    assert "afl review show" not in text
    assert text.count("UTC") == 1


@pytest.mark.usefixtures("clocked")
def test_no_reason_of_any_review_leads_back_to_itself_or_to_a_placeholder(afl, world, review):
    from afl_core.review.reasons import REASONS

    for code in REASONS:
        for status in ("pending", "failed"):
            with writing(world.db):
                world.db.execute("UPDATE reviews SET reason = ?, status = ?, next_wake_ms = ?", (code, status, world.now + 5))
            one = reviews.shown(world.home, review)
            assert one["reason_sentence"] == REASONS[code].sentence
            assert "<id>" not in one["next_step"]
            assert "afl review show" not in one["next_step"]
            assert "afl review list" not in one["next_step"]


def test_an_empty_model_is_not_shown(afl, world, review):
    ran(world, review)
    ran(world, review, 1, model="haiku")
    _, text = afl("review", "show", review)
    assert "by claude: " in text
    assert "by claude (haiku): " in text


def test_reviews_of_one_moment_have_names_of_their_own(afl, world, review):
    twin = review[:20] + ("0" * 12 if review[20:] != "0" * 12 else "1" * 12)
    with writing(world.db):
        world.db.execute(
            "INSERT INTO reviews (review_id, project_id, host, status, immediate, created_ms, updated_ms) VALUES (?, 'p', 'claude', 'pending', 0, 1, 1)",
            (twin,),
        )
    _, text = afl("review", "list")
    names = [line.split()[0] for line in text.splitlines()[1:]]
    assert len(set(names)) == 2
    assert all(afl("review", "show", name)[0] == 0 for name in names)
    status, text = afl("review", "show", review[:12])
    assert status == 1
    assert "means several reviews: " in text
    assert "no review is called 'moon'" in afl("review", "show", "moon")[1]


@pytest.mark.usefixtures("clocked")
def test_a_retry_says_until_when_the_reviewer_rests(afl, world, review):
    for number in range(BREAKER_FAILURES):
        ran(world, "earlier", number)
    status, text = afl("review", "retry", review)
    assert status == 0
    assert "not before 2026-01-01 01:01 UTC: the reviewer failed five times in a row" in text
    world.now += BREAKER_MS
    assert "; run: afl reconcile" in afl("review", "retry", review)[1]


@pytest.mark.usefixtures("clocked")
def test_a_retry_says_which_cap_is_met_and_which_setting_raises_it(afl, world, review, monkeypatch):
    monkeypatch.setenv("AGENT_FEEDBACK_LOOP_REVIEWS_PER_DAY", "1")
    ran(world, "earlier")
    _, text = afl("review", "retry", review)
    assert "the day's reviews are used up" in text
    assert "AGENT_FEEDBACK_LOOP_REVIEWS_PER_DAY" in text


@pytest.mark.usefixtures("clocked")
def test_a_pass_names_the_reviews_that_wait_with_reason_and_time(afl, world, review):
    failed(world, review, attempts=3)
    status, text = afl("reconcile")
    assert status == 0
    assert f"review {review[:12]} waits until 2026-01-01 00:06 UTC: the reviewer cited a quote" in text
    assert "(lessons[0].quote: is not in event e1)" in text


@pytest.mark.usefixtures("clocked")
def test_a_dry_run_says_what_a_pass_then_does(afl, world, words, monkeypatch):
    world.now = words.NOW + MINUTE
    words.words(world.db, 3)
    before = list(world.db.iterdump())
    _, text = afl("reconcile", "--dry-run")
    assert text == "would make a review of 3 messages said to claude in /home/dev/shop, and start it\n"
    assert [line for line in world.db.iterdump() if "plugin_ledger" not in line] == [line for line in before if "plugin_ledger" not in line]
    ran_now = []
    monkeypatch.setattr(reconcile, "run_one", lambda _home, review_id: ran_now.append(review_id) or "completed")
    afl("reconcile")
    assert len(ran_now) == 1
    assert world.db.execute("SELECT count(*) FROM queue WHERE review_id = ?", ran_now).fetchone()[0] == 3
    _, text = afl("reconcile", "--dry-run")
    assert text == f"would start review {reviews.handle(world.db, ran_now[0])}\n"
    assert "waits: it may start now" in afl("reconcile", "--dry-run", "--no-review")[1]


@pytest.mark.usefixtures("clocked")
def test_a_dry_run_knows_of_the_breaker_and_the_spool(afl, world, words):
    world.now = words.NOW + MINUTE
    words.words(world.db, 3)
    for number in range(BREAKER_FAILURES):
        ran(world, "earlier", number)
    with open(f"{world.home.paths.spool}/x.rec", "wb") as record:
        record.write(b"x")
    _, text = afl("reconcile", "--dry-run", "--json")
    body = json.loads(text)
    assert body["spool"] == 1
    assert body["reviews"] == []
    assert body["newReviews"][0]["stopped_by"]["reason"] == "breaker"
    assert body["newReviews"][0]["stopped_by"]["until_ms"] == world.now + BREAKER_MS


@pytest.mark.usefixtures("clocked")
def test_words_that_are_not_due_are_in_no_plan(afl, world, words):
    world.now = words.NOW + MINUTE
    words.words(world.db, 2)
    assert afl("reconcile", "--dry-run")[1] == "nothing to do\n"
