"""Which lesson a proposal really is, and what became of the earlier lesson of its family. The store's truth replaces the model's account of it.

What can be set right is set right (identity, delivery, state, failure mode); what only the reviewer can decide (a higher severity) is refused.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

import attrs

from afl_core.lessons.families import family_id
from afl_core.model.errors import ReviewError
from afl_core.model.ids import digest
from afl_core.model.lesson import Effectiveness, LessonRow, ProposedLesson, Severity
from afl_core.store import deliveries as delivery_rows
from afl_core.store import lessons as lesson_rows
from afl_core.store.deliveries import Delivery

LOOKED_THROUGH = 32
"""Deliveries of an earlier lesson that are looked through, newest first."""

UNSTATED = "not stated by the reviewer"
"""The corrective action of an account that the store had to complete."""

COUNTED = ("active", "candidate", "disabled")
"""States in which a lesson counts as an earlier one; what was withdrawn or forgotten does not."""

_ONE_UP = {Severity.MAJOR: Severity.CRITICAL, Severity.CRITICAL: Severity.BLOCKER, Severity.BLOCKER: Severity.BLOCKER}


@attrs.frozen
class Settled:
    """A proposal as the store knows it: its real id and base revision, its family, and the effect on the earlier lesson of the family."""

    lesson_id: str
    base_revision: int
    family_id: str
    method_class: str
    class_id: str
    effect: Effectiveness | None


def needed_severity(previous: Severity) -> Severity:
    """The least severity of a fault that an earlier lesson did not prevent."""
    return _ONE_UP.get(previous, Severity.MAJOR)


def settle(
    db: sqlite3.Connection, lesson: ProposedLesson, *, path: str, review_id: str, project_id: str, session_id: str, complaint_ms: int
) -> Settled:
    """Read what the store knows about a proposal and settle it; raises `ReviewError` (receipt_revision, receipt_recurrence)."""
    known = lesson_rows.get(db, lesson.lesson_id)
    if known is not None and known.project_id not in (None, project_id):
        known = None
    check_revision(lesson, known, path)
    if known is not None:
        lesson = attrs.evolve(lesson, method_class=known.method_class, class_id=known.class_id)
    family = family_id(lesson.method_class, lesson.class_id)
    previous = known or best(lesson_rows.in_family(db, family, project_id))
    # A project's review never rewrites what every project is told: it answers a global lesson with one of its own.
    own = known is not None and known.project_id is not None
    return Settled(
        lesson_id=lesson.lesson_id if own else digest("lesson:v1", project_id, review_id, lesson.lesson_id)[:32],
        base_revision=lesson.base_revision if own else 0,
        family_id=family,
        method_class=lesson.method_class,
        class_id=lesson.class_id,
        effect=_effect(db, lesson, previous, path, session_id, complaint_ms),
    )


def check_revision(lesson: ProposedLesson, known: LessonRow | None, path: str) -> None:
    """Compare and swap: a new lesson has no earlier self, a revised one is still as the reviewer saw it."""
    at = f"{path}.base_revision"
    if lesson.base_revision == 0:
        if known is not None:
            raise _refuse(at, f"lesson {lesson.lesson_id} exists already, at revision {known.revision}", "receipt_revision")
    elif known is None or known.status not in COUNTED:
        raise _refuse(at, f"there is no lesson {lesson.lesson_id} to revise", "receipt_revision")
    elif known.revision != lesson.base_revision:
        raise _refuse(at, f"lesson {lesson.lesson_id} is at revision {known.revision}, not {lesson.base_revision}", "receipt_revision")


def best(family: Sequence[LessonRow]) -> LessonRow | None:
    """The earlier lesson that speaks for a family: the most severe, then the most revised, then the newest."""
    counted = [row for row in family if row.status in COUNTED]
    return min(counted, key=lambda row: (row.severity.rank, -row.revision, -row.created_ms, row.lesson_id), default=None)


def account(
    said: Effectiveness | None,
    previous: LessonRow,
    named: Delivery | None,
    deliveries: Sequence[Delivery],
    session_id: str,
    complaint_ms: int,
) -> Effectiveness:
    """The account of an earlier lesson with the store's facts in it. Pure.

    A delivery counts when it is of that lesson and was emitted before the complaint: the one the reviewer named, else the newest of the
    complaint's session, else the newest.
    """
    before = [row for row in deliveries if row.lesson_id == previous.lesson_id and row.emitted_ms <= complaint_ms]
    if named is not None and named.lesson_id == previous.lesson_id and named.emitted_ms <= complaint_ms:
        delivery: Delivery | None = named
    else:
        delivery = next((row for row in before if row.session_id == session_id), before[0] if before else None)
    if delivery is not None:
        state = delivery.state
    else:
        state = "selected" if said is not None and said.delivery_state == "selected" else "not_found"
    base = said or Effectiveness(previous.lesson_id, previous.revision, None, state, True, None, "unknown", "unknown", UNSTATED)
    corrected = attrs.evolve(
        base,
        previous_lesson_id=previous.lesson_id,
        expected_revision=previous.revision,
        application_id=None if delivery is None else delivery.delivery_id,
        delivery_state=state,
    )
    return attrs.evolve(corrected, failure_mode=_failure_mode(corrected))


def _failure_mode(effect: Effectiveness) -> str:
    """What the reviewer says failed, as far as the delivery's state allows it."""
    ignored = effect.delivery_state == "reached" and effect.was_applicable and effect.was_followed is False
    fits = {"delivery_unconfirmed": effect.delivery_state == "unconfirmed", "loaded_not_applied": ignored}
    if fits.get(effect.failure_mode, True):
        return effect.failure_mode
    if ignored:
        return "loaded_not_applied"
    return {"unconfirmed": "delivery_unconfirmed", "not_found": "not_selected"}.get(effect.delivery_state, "unknown")


def _effect(
    db: sqlite3.Connection, lesson: ProposedLesson, previous: LessonRow | None, path: str, session_id: str, complaint_ms: int
) -> Effectiveness | None:
    said = lesson.effectiveness
    if previous is None:
        if said is not None:
            problem = f"{said.previous_lesson_id} is no earlier lesson of this family; keep its method_class and class_id, or give null"
            raise _refuse(f"{path}.effectiveness", problem, "receipt_recurrence")
        return None
    needed = needed_severity(previous.severity)
    if lesson.severity.rank > needed.rank:
        problem = f"lesson {previous.lesson_id} ({previous.severity.value}) did not prevent this: at least {needed.value} is needed"
        raise _refuse(f"{path}.severity", problem, "receipt_recurrence")
    named = delivery_rows.get(db, said.application_id) if said is not None and said.application_id else None
    return account(said, previous, named, delivery_rows.latest_for(db, previous.lesson_id, LOOKED_THROUGH), session_id, complaint_ms)


def _refuse(path: str, problem: str, reason: str) -> ReviewError:
    return ReviewError(f"{path}: {problem}", reason=reason, code="AFL-REVIEW-012")
