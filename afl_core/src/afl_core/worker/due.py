"""Evaluating the due rules for everything that waits, once for each project and host: signalled words first, then one batch.

What is due is worked out from rows that are read once (`plan`, which writes nothing), then written in short transactions, each of which makes
sure that the rows are still as they were.
"""

from __future__ import annotations

import bisect
import sqlite3
from collections.abc import Sequence

import attrs

from afl_core.model.ids import new_id
from afl_core.review import queue
from afl_core.review.due import Due, DueDecision, decide_due, expired
from afl_core.settings.schema import Settings
from afl_core.store import queue as queue_rows
from afl_core.store import reviews as review_rows
from afl_core.store.connection import writing
from afl_core.store.queue import Queued, Waiting
from afl_core.store.reviews import ReviewRow, ReviewStatus

WORDS_PER_TRANSACTION = 256
"""Messages that are given to reviews in one transaction: it keeps a write lock short."""

TRIES = 4
"""How often a place is worked out again when somebody else changed it meanwhile; what is left then is found by the next evaluation."""


@attrs.frozen
class Step:
    """One review to be made, or a pending one that gets more. `taken` and `displaced` are events; `messages`: how many it holds then."""

    review_id: str
    project_id: str
    host: str
    fresh: bool
    immediate: bool
    taken: tuple[str, ...]
    displaced: tuple[str, ...]
    messages: int


@attrs.frozen
class Place:
    """What is due for one project and host. `open`: its open reviews when it was worked out; `standing`: one of them waits for the rest."""

    project_id: str
    host: str
    open: tuple[ReviewRow, ...]
    steps: tuple[Step, ...]
    standing: str | None


def evaluate(db: sqlite3.Connection, settings: Settings, now: int) -> list[str]:
    """Make or extend the reviews that are due; returns their ids, and those of reviews that what waits belongs to. Idempotent."""
    if settings.reviews_per_day == 0:
        return []
    found: dict[str, None] = {}
    for project_id, host in queue_rows.places_waiting(db):
        for _ in range(TRIES):
            place = _plan_place(db, project_id, host, settings, now)
            if any(expired(review, now) for review in place.open):
                with writing(db):
                    queue.recover(db, now)
                continue
            done = _submit(db, place, now)
            found.update(dict.fromkeys(step.review_id for step in done))
            if len(done) == len(place.steps):
                if place.standing is not None:
                    found[place.standing] = None
                break
    return list(found)


def plan(db: sqlite3.Connection, settings: Settings, now: int) -> list[Step]:
    """What `evaluate` would make or extend; changes nothing. The ids of reviews to be made are not theirs yet."""
    if settings.reviews_per_day == 0:
        return []
    return [step for place in queue_rows.places_waiting(db) for step in _plan_place(db, *place, settings, now).steps]


def _plan_place(db: sqlite3.Connection, project_id: str, host: str, settings: Settings, now: int) -> Place:
    work = _Work(project_id, host, settings, now, review_rows.last_end(db, project_id, host))
    opened = review_rows.open_for(db, project_id, host)
    if opened:
        work.open(opened[0], queue_rows.of_review(db, opened[0].review_id))
    for row in queue_rows.waiting(db, project_id, host):
        (work.signals if row.immediate else work.ordinary).append(row)
    standing = work.run()
    return Place(project_id, host, tuple(opened), work.steps(), standing)


@attrs.define
class _Work:
    """The due rules applied to one project and host until nothing more is due, in memory. Only the newest open review is ever extended."""

    project_id: str
    host: str
    settings: Settings
    now: int
    last_end_ms: int | None
    signals: list[Waiting] = attrs.field(factory=list)
    ordinary: list[Waiting] = attrs.field(factory=list)
    newest: ReviewRow | None = None
    held: dict[str, list[Queued]] = attrs.field(factory=dict)
    before: dict[str, tuple[str, ...]] = attrs.field(factory=dict)
    touched: dict[str, bool] = attrs.field(factory=dict)

    def open(self, review: ReviewRow, held: Sequence[Queued]) -> None:
        """Begin with the newest open review."""
        self.newest = review
        self.held[review.review_id] = list(held)
        self.before[review.review_id] = tuple(row.event_id for row in held)

    def run(self) -> str | None:
        """Decide until nothing more is due; gives the open review that what still waits belongs to."""
        while True:
            decision = decide_due(
                waiting=self._window(),
                open_reviews=[(self.newest, self.held[self.newest.review_id])] if self.newest else [],
                last_end_ms=self.last_end_ms,
                settings=self.settings,
                now=self.now,
                immediate_event=None,
            )
            if decision.due not in (Due.FRESH, Due.JOINED):
                return decision.review_id
            self._follow(decision)

    def steps(self) -> tuple[Step, ...]:
        """What is to be written: the review that was there first, for it gives words back that later ones take."""
        found = []
        for review_id, immediate in self.touched.items():
            before = self.before.get(review_id, ())
            after = tuple(row.event_id for row in self.held[review_id])
            found.append(
                Step(
                    review_id,
                    self.project_id,
                    self.host,
                    fresh=review_id not in self.before,
                    immediate=immediate,
                    taken=tuple(event for event in after if event not in before),
                    displaced=tuple(event for event in before if event not in after),
                    messages=len(after),
                )
            )
        return tuple(found)

    def _window(self) -> list[Waiting]:
        """The rows that decide: the oldest of each kind. More of them would change no decision."""
        size = max(self.settings.review_batch_max, self.settings.review_min_entries)
        return sorted([*self.signals[:size], *self.ordinary[:size]], key=_age)

    def _follow(self, decision: DueDecision) -> None:
        joined = self.newest if decision.due is Due.JOINED else None
        self.newest = joined or _fresh(self.project_id, self.host, immediate=decision.immediate, now=self.now)
        review_id = self.newest.review_id
        held = self.held.setdefault(review_id, [])
        if decision.displaced is not None:
            gone = next(row for row in held if row.event_id == decision.displaced)
            held.remove(gone)
            bisect.insort(self.ordinary, Waiting(gone.event_id, gone.immediate, gone.created_ms), key=_age)
        taken = set(decision.taken)
        for rows in (self.signals, self.ordinary):
            mine = [row for row in rows[: len(taken) + self.settings.review_batch_max] if row.event_id in taken]
            for row in mine:
                rows.remove(row)
                bisect.insort(held, _queued(row, self.project_id, self.host, review_id), key=_age)
        self.touched[review_id] = decision.immediate or self.touched.get(review_id, False)


def _submit(db: sqlite3.Connection, place: Place, now: int) -> list[Step]:
    """Write the steps of a place in order, a few in each transaction; gives those that were written before something had changed meanwhile."""
    done: list[Step] = []
    expected = {review.review_id: (review.status, review.attempt) for review in place.open}
    for group in _groups(place.steps):
        try:
            with writing(db):
                there = review_rows.open_for(db, place.project_id, place.host)
                if {row.review_id: (row.status, row.attempt) for row in there} != expected:
                    return done
                for step in group:
                    _write(db, step, now)
        except _OvertakenError:
            return done
        done += group
        expected |= {step.review_id: (ReviewStatus.PENDING, 0) for step in group if step.fresh}
    return done


class _OvertakenError(Exception):
    """Somebody else took words that a step was to take; its transaction is rolled back."""


def _write(db: sqlite3.Connection, step: Step, now: int) -> None:
    if step.fresh:
        review_rows.insert(db, step.review_id, step.project_id, step.host, immediate=step.immediate, now=now)
    else:
        stored = review_rows.get(db, step.review_id)
        if stored is None:
            raise _OvertakenError
        # A postponed one is tried again at once: the person is there now and may have logged in.
        review_rows.update(db, attrs.evolve(stored, immediate=True, next_wake_ms=0, updated_ms=now))
    for event_id in step.displaced:
        queue_rows.unassign(db, event_id)
    for event_id in step.taken:
        queue_rows.assign(db, event_id, step.review_id)
    if len(queue_rows.of_review(db, step.review_id)) != step.messages:
        raise _OvertakenError


def _groups(steps: Sequence[Step]) -> list[list[Step]]:
    """The steps in order, together while they take few messages. A single one is never split."""
    groups: list[list[Step]] = []
    size = 0
    for step in steps:
        words = len(step.taken) + len(step.displaced)
        if not groups or size + words > WORDS_PER_TRANSACTION:
            groups.append([])
            size = 0
        groups[-1].append(step)
        size += words
    return groups


def _age(row: Waiting | Queued) -> tuple[int, str]:
    return row.created_ms, row.event_id


def _queued(row: Waiting, project_id: str, host: str, review_id: str) -> Queued:
    return Queued(row.event_id, project_id, host, row.immediate, "pending", review_id, row.created_ms)


def _fresh(project_id: str, host: str, *, immediate: bool, now: int) -> ReviewRow:
    """A review that is about to be made, as `store.reviews.insert` will store it."""
    return ReviewRow(
        review_id=new_id(),
        project_id=project_id,
        host=host,
        status=ReviewStatus.PENDING,
        immediate=immediate,
        attempt=0,
        owner=None,
        fence=0,
        lease_until_ms=None,
        wakes=0,
        next_wake_ms=0,
        reason=None,
        detail=None,
        receipt_id=None,
        report_id=None,
        created_ms=now,
        updated_ms=now,
        ended_ms=None,
    )
