"""Whatever goes wrong in a review, it ends with a named reason: trouble of the machine only delays it, anything else is an attempt with its cost."""

from __future__ import annotations

import os
import pathlib
import re
import sqlite3

import attrs
import pytest

from afl_core.model.codec import compact
from afl_core.model.errors import ModelError, PathError, StoreError
from afl_core.review import context, queue
from afl_core.review.run import Result, postpone_unready, run_review
from afl_core.settings.schema import Settings
from afl_core.spec.reviewer import ReviewerAnswer, ReviewerCommand, Usage, Viability
from afl_core.store import reviews as review_rows
from afl_core.store import spend as spend_rows
from afl_core.store.connection import writing

SECRET = "words of a person"
STEPS = (
    "prompt.instructions",
    "handoff.collect",
    "handoff.serialise",
    "run.review_files",
    "run.child_environment",
    "run.processes.run",
    "run.cleaned",
    "run.parse_receipt",
    "run.commit_review",
    "commit.settle",
)
LOCAL = (
    PathError("a directory is not yours"),
    StoreError("the disk is full", code="AFL-STORE-006"),
    OSError(28, "No space left on device", "/there"),
    PermissionError(13, "Permission denied"),
    sqlite3.OperationalError("disk I/O error"),
    sqlite3.DatabaseError("database disk image is malformed"),
)
FOREIGN = (
    ValueError(SECRET),
    RecursionError(SECRET),
    MemoryError(SECRET),
    sqlite3.IntegrityError(SECRET),
    UnicodeEncodeError("utf-8", SECRET, 0, 1, SECRET),
)


class Provider:
    """A reviewer whose command prints nothing and whose answer is given; it costs something."""

    name = host = "claude"
    label = "Claude"
    usage = Usage(900, 100, 0.01, "small-model")

    def __init__(self, answer) -> None:
        self.answer = answer

    def viable(self, environ):
        return Viability(ok=True)

    def command(self, request, environ):
        return ReviewerCommand(("true",), b"")

    def read(self, result):
        return self.answer


@pytest.fixture
def review(db, world):
    return world.waiting_review(db)[0]


@pytest.fixture
def clock(world):
    return world.Ticking()


@pytest.fixture
def go(db, paths, world, review, clock):
    """Run the waiting review with a reviewer that answers so; gives the outcome."""

    def run(answer, *, redact=world.same, settings=None):
        environ = {"PATH": os.environ["PATH"], "HOME": paths.home}
        return run_review(db, paths, settings or Settings(), [Provider(answer)], environ, review, clock, redact)

    return run


def good(world) -> ReviewerAnswer:
    return ReviewerAnswer(world.receipt(world.lesson()), usage=Provider.usage)


def breaks(monkeypatch, step, error):
    def broken(*arguments, **more):
        raise error

    monkeypatch.setattr(f"afl_core.review.{step}", broken)


def nothing_learnt(db) -> bool:
    tables = ("lessons", "incidents", "receipts", "reports", "effects", "grains", "audit")
    return all(db.execute(f"SELECT count(*) FROM {table}").fetchone()[0] == 0 for table in tables)


# ------------------------------------------------------------------------------------------------------------------ trouble of the machine


def waits_through_trouble(db, world, review, go, clock, reason="store_failed"):
    """However often it is tried, no attempt is used up and the words wait."""
    for _ in range(5):
        outcome = go(good(world))
        assert (outcome.result, outcome.reason) == (Result.POSTPONED, reason)
        row = review_rows.get(db, review)
        assert (row.status.value, row.attempt, row.reason, row.detail) == ("pending", 0, reason, outcome.detail)
        assert row.next_wake_ms > clock.now
        assert world.status_of(db, "said") == "pending"
        clock.now = row.next_wake_ms
    return outcome.detail


def test_a_directory_of_hand_offs_that_is_a_file_delays_reviews_and_is_named(db, paths, world, review, go, clock):
    pathlib.Path(paths.contexts).write_text("x", "utf-8")
    assert waits_through_trouble(db, world, review, go, clock) == f"{paths.contexts} is not a directory of yours"
    os.unlink(paths.contexts)
    assert go(good(world)).result is Result.COMPLETED


def test_a_disk_that_fills_up_while_the_hand_off_is_written_delays_it(db, paths, world, review, go, clock, monkeypatch):
    breaks(monkeypatch, "context._write", OSError(28, "No space left on device"))
    assert waits_through_trouble(db, world, review, go, clock) == "No space left on device"
    assert os.listdir(paths.contexts) == []
    monkeypatch.undo()
    assert go(good(world)).result is Result.COMPLETED


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("error", LOCAL, ids=lambda error: type(error).__name__)
def test_trouble_of_the_disk_or_the_store_is_no_attempt_wherever_it_comes(db, world, review, go, monkeypatch, step, error):
    breaks(monkeypatch, step, error)
    outcome = go(good(world))
    assert (outcome.result, outcome.reason) == (Result.POSTPONED, "store_failed")
    assert outcome.detail
    assert review_rows.get(db, review).attempt == 0
    assert all(run.outcome == "store_failed" for run in spend_rows.of_review(db, review))
    assert nothing_learnt(db)


def test_a_policy_that_cannot_be_read_stops_a_review_before_it_costs_anything(db, paths, world, review, go, clock):
    os.makedirs(os.path.dirname(paths.policy_file))
    pathlib.Path(paths.policy_file).write_text("lessons = ", "utf-8")
    assert "is not valid TOML" in waits_through_trouble(db, world, review, go, clock, "reviewer_settings")
    assert spend_rows.of_review(db, review) == []


def test_an_answer_is_not_lost_because_its_hand_off_cannot_be_removed(db, paths, world, go, monkeypatch):
    unlink = os.unlink

    def refuse(path, **more):
        if str(path).endswith(".json"):
            raise PermissionError(13, "Operation not permitted", path)
        unlink(path, **more)

    monkeypatch.setattr(context.os, "unlink", refuse)
    assert go(good(world)).result is Result.COMPLETED
    monkeypatch.undo()
    assert context.sweep(paths) == 1


def test_a_store_that_cannot_even_take_the_reason_raises_the_first_error(db, world, review, go, monkeypatch):
    breaks(monkeypatch, "handoff.collect", StoreError("the first"))
    breaks(monkeypatch, "queue.postpone", StoreError("the second"))
    with pytest.raises(StoreError, match="the first"):
        go(good(world))


# ---------------------------------------------------------------------------------------------------------------------- anything else


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("error", FOREIGN, ids=lambda error: type(error).__name__)
def test_an_error_nobody_thought_of_is_an_attempt_with_its_type_place_and_cost(db, paths, world, review, go, monkeypatch, step, error):
    breaks(monkeypatch, step, error)
    outcome = go(good(world))
    assert (outcome.result, outcome.reason) == (Result.RETRY, "reviewer_broken")
    assert re.fullmatch(rf"{type(error).__name__} at test_review_trouble\.py:\d+", outcome.detail)
    row = review_rows.get(db, review)
    assert (row.status.value, row.attempt, row.reason, row.owner) == ("pending", 1, "reviewer_broken", None)
    begun = step in STEPS[STEPS.index("run.processes.run") :]
    read = step in STEPS[STEPS.index("run.cleaned") :]
    assert [(run.outcome, run.input_tokens, run.ended_ms) for run in spend_rows.of_review(db, review)] == (
        [("reviewer_broken", 900 if read else 0, world.NOW)] if begun else []
    )
    assert nothing_learnt(db)
    assert not os.path.exists(paths.contexts) or os.listdir(paths.contexts) == []


def test_our_own_error_out_of_its_place_is_told_in_its_own_words(world, go, monkeypatch):
    breaks(monkeypatch, "prompt.schema", ModelError("the schema is torn"))
    outcome = go(good(world))
    assert (outcome.reason, outcome.detail) == ("reviewer_broken", "the schema is torn")


def test_a_redactor_that_raises_anything_ends_the_review_and_nothing_of_the_detail_is_kept(db, world, review, go):
    def redact(text):
        raise ZeroDivisionError(text)

    outcome = go(good(world), redact=redact)
    assert (outcome.result, outcome.reason, outcome.detail) == (Result.RETRY, "reviewer_broken", "")
    assert [run.input_tokens for run in spend_rows.of_review(db, review)] == [900]


class Torn(dict):
    """A mapping that cannot be read."""

    def items(self):
        raise LookupError(SECRET)


@pytest.mark.parametrize(
    "answer",
    [
        None,
        {"receipt": 1},
        ReviewerAnswer(Torn(a=1)),
        ReviewerAnswer(None, reason=7),
        ReviewerAnswer(None, reason="half \ud800"),
        ReviewerAnswer(None, reason="x", detail=b"bytes"),
        ReviewerAnswer(None, reason="x", counts="no"),
        ReviewerAnswer(None, usage=None),
        ReviewerAnswer(None, usage=Usage("many", 0)),
        ReviewerAnswer(None, usage=Usage(0, None)),
        ReviewerAnswer(None, usage=Usage(-1, 0)),
        ReviewerAnswer(None, usage=Usage(2**70, 0)),
        ReviewerAnswer(None, usage=Usage(0, 0, float("nan"))),
        ReviewerAnswer(None, usage=Usage(0, 0, "0.01")),
        ReviewerAnswer(None, usage=Usage(0, 0, None, ["model"])),
        ReviewerAnswer(None, usage=Usage(0, 0, None, "half \udc00")),
    ],
    ids=repr,
)
def test_an_answer_that_is_none_is_the_plug_ins_fault_and_an_attempt(db, review, go, answer):
    outcome = go(answer)
    assert (outcome.result, outcome.reason) == (Result.RETRY, "reviewer_broken")
    assert SECRET not in outcome.detail
    assert [run.outcome for run in spend_rows.of_review(db, review)] == ["reviewer_broken"]


@pytest.mark.parametrize("detail", ["half a character \ud800 in it", "a\0b"])
def test_a_detail_that_is_not_quite_text_is_stored_all_the_same(db, review, go, detail):
    assert go(ReviewerAnswer(None, reason="reviewer_refused", detail=detail)).reason == "reviewer_refused"
    assert review_rows.get(db, review).detail == detail.replace("\ud800", "?")


def test_a_member_named_with_half_a_character_is_refused_and_stored(db, world, review, go):
    outcome = go(ReviewerAnswer(world.receipt() | {"\ud800": 1}))
    assert (outcome.result, outcome.reason, outcome.detail) == (Result.RETRY, "receipt_shape", "?: unknown")


# ------------------------------------------------------------------------------------------------------------------------- deep answers


def nested(depth, kind):
    inner: object = "x"
    for _ in range(depth):
        inner = [inner] if kind == "list" else {"deep": inner}
    return inner


@pytest.mark.parametrize("kind", ["list", "object"])
@pytest.mark.parametrize("depth", [64, 400, 5_000])
def test_a_deep_answer_is_refused_for_its_shape_and_its_cost_is_kept(db, world, review, go, depth, kind):
    outcome = go(ReviewerAnswer(world.receipt() | {"deep": nested(depth, kind)}, usage=Provider.usage))
    assert (outcome.result, outcome.reason) == (Result.RETRY, "receipt_shape")
    assert outcome.detail == "receipt: is nested deeper than 64 levels"
    (run,) = spend_rows.of_review(db, review)
    assert (run.outcome, run.input_tokens, run.output_tokens, run.cost_usd) == ("receipt_shape", 900, 100, 0.01)


def test_an_answer_within_the_limit_is_judged_by_its_members(world, go):
    assert go(ReviewerAnswer(world.receipt() | {"deep": nested(63, "list")})).detail == "deep: unknown"


@pytest.mark.parametrize(("depth", "reason"), [(900, "receipt_shape"), (200_000, "reviewer_output_unreadable")])
def test_a_commands_deep_output_is_an_attempt(db, home, world, review, go, depth, reason):
    settings = world.answering(home, {})
    (home / "answer.json").write_text(f'{compact(world.receipt())[:-1]}, "deep": {"[" * depth}{"]" * depth}}}', "utf-8")
    outcome = go(None, settings=settings)
    assert (outcome.result, outcome.reason) == (Result.RETRY, reason)
    assert [run.outcome for run in spend_rows.of_review(db, review)] == [reason]


# ------------------------------------------------------------------------------------------------------------- what cannot be prepared


def test_a_review_whose_settings_cannot_be_read_is_postponed_with_the_reason_and_no_attempt(db, world, review, clock):
    before = review_rows.get(db, review)
    outcome = postpone_unready(db, review, "reviewer_settings", "REVIEWER_TIMEOUT_MS: 3m is no number", clock)
    assert (outcome.result, outcome.reason, outcome.detail) == (
        Result.POSTPONED,
        "reviewer_settings",
        "REVIEWER_TIMEOUT_MS: 3m is no number",
    )
    row = review_rows.get(db, review)
    assert attrs.evolve(row, wakes=0, fence=0, next_wake_ms=0, reason=None, detail=None, updated_ms=0) == attrs.evolve(before, updated_ms=0)
    assert (row.reason, row.detail, row.next_wake_ms) == ("reviewer_settings", outcome.detail, world.NOW + 300_000)
    assert queue.due_reviews(db, Settings(), clock.now) == []
    assert queue.next_due_ms(db, Settings(), clock.now) == row.next_wake_ms
    assert postpone_unready(db, review, "reviewer_settings", "again", clock).result is Result.NOT_CLAIMED
    clock.now = row.next_wake_ms
    assert postpone_unready(db, review, "reviewer_settings", "again", clock).result is Result.POSTPONED


def test_a_review_that_somebody_works_on_is_not_postponed_by_another(db, world, review, clock):
    with writing(db):
        lease = queue.claim(db, review, "busy", clock.now, 90_000)
    assert postpone_unready(db, review, "reviewer_settings", "", clock).result is Result.NOT_CLAIMED
    with writing(db):
        assert queue.held(db, lease, clock.now).owner == "busy"
    assert postpone_unready(db, "nobody", "reviewer_settings", "", clock).result is Result.NOT_CLAIMED
