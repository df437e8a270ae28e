"""What a review hands to its reviewer: the events around the complaints, cut to size, and the lessons that exist. Pure, apart from reading rows.

Redacted text only. A host's compaction summaries are never stored as events, and nothing else of the machine's own words is handed over.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from typing import Any

import attrs

from afl_core.model.codec import compact
from afl_core.model.errors import ReviewError
from afl_core.model.event import Event, EventKind, Role
from afl_core.model.lesson import Card, LessonRow
from afl_core.model.words import terms
from afl_core.review.evidence import time_of
from afl_core.review.recurrence import COUNTED, needed_severity
from afl_core.store import deliveries as delivery_rows
from afl_core.store import events as event_rows
from afl_core.store import lessons as lesson_rows
from afl_core.store import queue as queue_rows
from afl_core.store.deliveries import Delivery
from afl_core.store.reviews import ReviewRow

PRIOR_EVENTS = 6
FOLLOWING_EVENTS = 2
"""Neighbours of a complaint in its session that go along."""

MAX_EVENTS = 128
MAX_EVENT_CHARS = 16_384
MAX_TOTAL_CHARS = 262_144
MIN_EVENT_CHARS = 256
"""An event is never cut below this; a hand-off that still does not fit is refused."""

MAX_BYTES = 524_288
"""Bytes of the serialised hand-off."""

PROMPT_VERSION = "v1"
"""Of the hand-off's shape: grows when a key changes its meaning. Operators' commands read it."""

MAX_LESSONS = 24
MAX_DELIVERIES = 3
"""Lessons shown, the nearest first, and the latest deliveries of each."""

CUT_MARK = "\n[... cut here ...]\n"


@attrs.frozen
class ShownLesson:
    """A lesson a reviewer is shown, with its latest deliveries."""

    row: LessonRow
    card: Card
    deliveries: tuple[Delivery, ...]


@attrs.frozen
class Handoff:
    """Everything that is handed over, before it is cut to size. `events` in order; `signals` as JSON objects."""

    review: ReviewRow
    events: tuple[Event, ...]
    queued: tuple[str, ...]
    signals: tuple[Mapping[str, str], ...]
    lessons: tuple[ShownLesson, ...]
    report_language: str


def collect(db: sqlite3.Connection, review: ReviewRow, report_language: str) -> Handoff:
    """Read what a review hands over."""
    queued = [row.event_id for row in queue_rows.of_review(db, review.review_id) if row.status == "pending"]
    signals = [signal for event_id in queued if (signal := event_rows.signal_of(db, event_id)) is not None]
    wanted: dict[str, None] = dict.fromkeys(queued)
    wanted.update(dict.fromkeys(signal.referent_id for signal in signals))
    complaints = [event for event_id in queued if (event := event_rows.get(db, event_id)) is not None]
    neighbours = [_neighbours(db, event) for event in complaints]
    # The nearest of every complaint first, so that what does not fit is what is farthest away.
    for distance in range(PRIOR_EVENTS + FOLLOWING_EVENTS):
        wanted.update(dict.fromkeys(ids[distance] for ids in neighbours if distance < len(ids)))
    chosen = [event for event_id in list(wanted)[:MAX_EVENTS] if (event := event_rows.get(db, event_id)) is not None]
    return Handoff(
        review=review,
        events=tuple(in_order([event for event in chosen if event.project_id == review.project_id and is_shown(event)])),
        queued=tuple(queued),
        signals=tuple({"event_id": each.event_id, "kind": each.kind.value, "referent_event_id": each.referent_id} for each in signals),
        lessons=tuple(_lessons(db, review.project_id, complaints)),
        report_language=report_language,
    )


def is_shown(event: Event) -> bool:
    """Whether an event may be handed over: a person's words or an agent's act, not the machine's own."""
    return event.data_class == "normal" and not (event.role is Role.SYSTEM and event.kind is EventKind.MESSAGE)


def in_order(events: Sequence[Event]) -> list[Event]:
    """Sessions by their earliest event, and within a session by place, never by the order of birth."""
    starts: dict[str, int] = {}
    for event in events:
        starts[event.session_id] = min(time_of(event), starts.get(event.session_id, time_of(event)))
    return sorted(events, key=lambda event: (starts[event.session_id], event.session_id, event.place))


def _neighbours(db: sqlite3.Connection, event: Event) -> list[str]:
    """Ids around an event in its session and project, the nearest first; before the first words of a fork, what it was forked from."""
    columns = "SELECT event_id FROM events WHERE session_id = ? AND project_id = ? AND data_class = 'normal'"
    of_agent_or_person = " AND NOT (role = 'system' AND kind = 'message')"
    values = (event.session_id, event.project_id, event.place.generation, event.place.offset, event.place.part)
    before = db.execute(
        f"{columns}{of_agent_or_person} AND (generation, offset, part) < (?, ?, ?)"
        " ORDER BY generation DESC, offset DESC, part DESC LIMIT ?",
        (*values, PRIOR_EVENTS),
    ).fetchall()
    after = db.execute(
        f"{columns}{of_agent_or_person} AND (generation, offset, part) > (?, ?, ?) ORDER BY generation, offset, part LIMIT ?",
        (*values, FOLLOWING_EVENTS),
    ).fetchall()
    if len(before) < PRIOR_EVENTS:
        before += _inherited(db, event, PRIOR_EVENTS - len(before))
    nearest = [row for pair in zip(before, after, strict=False) for row in pair]
    shorter = min(len(before), len(after))
    return [row[0] for row in (*nearest, *before[shorter:], *after[shorter:])]


def _inherited(db: sqlite3.Connection, event: Event, count: int) -> list[sqlite3.Row]:
    """Rows of other sessions' events that this one's transcript begins with, the latest first: a fork copies them, and they are kept once."""
    return db.execute(
        "SELECT events.event_id FROM sightings JOIN events USING (event_id) WHERE sightings.session_id = ? AND events.session_id <> ?"
        " AND events.project_id = ? AND data_class = 'normal' AND NOT (role = 'system' AND kind = 'message')"
        " AND coalesce(source_ms, captured_ms) <= ?"
        " ORDER BY coalesce(source_ms, captured_ms) DESC, generation DESC, offset DESC, part DESC LIMIT ?",
        (event.session_id, event.session_id, event.project_id, time_of(event), count),
    ).fetchall()


def _lessons(db: sqlite3.Connection, project_id: str, complaints: Sequence[Event]) -> list[ShownLesson]:
    shown = []
    for row in lesson_rows.for_project(db, project_id):
        card = lesson_rows.card_of(db, row.lesson_id)
        if row.status in COUNTED and card is not None:
            shown.append(ShownLesson(row, card, tuple(delivery_rows.latest_for(db, row.lesson_id, MAX_DELIVERIES))))
    return nearest_lessons(shown, complaints)[:MAX_LESSONS]


def nearest_lessons(lessons: Sequence[ShownLesson], complaints: Sequence[Event]) -> list[ShownLesson]:
    """The lessons most likely to be what is complained about again: given to these sessions, then alike in words, severe, recent. Pure."""
    sessions = {event.session_id for event in complaints}
    said: set[str] = set()
    for event in complaints:
        said |= _terms(event.text)

    def nearness(lesson: ShownLesson) -> tuple[bool, int, int, int]:
        card = lesson.card
        words = _terms(" ".join((card.when, card.must_do, card.must_not, card.why, lesson.row.class_id.replace("-", " "))))
        given = any(delivery.session_id in sessions for delivery in lesson.deliveries)
        return (not given, -len(said & words), lesson.row.severity.rank, -lesson.row.updated_ms)

    return sorted(lessons, key=nearness)


def _terms(text: str) -> set[str]:
    found = terms(text)
    return {*found.words, *found.grams, *found.cjk}


# ------------------------------------------------------------------------------------------------------------------------ to JSON


def serialise(handoff: Handoff) -> str:
    """The hand-off as JSON of at most 512 KiB; texts are cut in their middle, evenly. Raises `ReviewError` (reviewer_context_too_large)."""
    limit = min(MAX_EVENT_CHARS, MAX_TOTAL_CHARS // max(1, len(handoff.events)))
    while True:
        text = compact(_as_json(handoff, limit))
        if len(text.encode("utf-8", "replace")) <= MAX_BYTES:
            return text
        if limit <= MIN_EVENT_CHARS:
            problem = f"the evidence of review {handoff.review.review_id} does not fit into {MAX_BYTES} bytes"
            raise ReviewError(problem, reason="reviewer_context_too_large", code="AFL-REVIEW-013")
        limit = max(MIN_EVENT_CHARS, limit * 3 // 4)


def cut_middle(text: str, limit: int) -> str:
    """A text of at most `limit` characters: its head and its tail around a mark."""
    if len(text) <= limit:
        return text
    room = limit - len(CUT_MARK)
    return text[: room - room // 2] + CUT_MARK + text[len(text) - room // 2 :]


def _as_json(handoff: Handoff, limit: int) -> dict[str, Any]:
    review = handoff.review
    events = [_event(event, number, event.event_id in handoff.queued, limit) for number, event in enumerate(handoff.events)]
    return {
        "job": {
            "job_id": review.review_id,
            "project_id": review.project_id,
            "prompt_version": PROMPT_VERSION,
            "status": review.status.value,
            "attempt": review.attempt,
            "created_at": review.created_ms,
            "immediate": review.immediate,
            "last_rejection": None if review.reason is None else {"reason": review.reason, "detail": review.detail or ""},
        },
        "report_language": handoff.report_language,
        "queued_event_ids": list(handoff.queued),
        "feedback_candidate_event_ids": list(handoff.queued),
        "signals": [dict(signal) for signal in handoff.signals],
        "events": events,
        "truncated_event_ids": [event["event_uid"] for event in events if event["context_truncated"]],
        "existing_lessons": [_lesson(lesson) for lesson in handoff.lessons],
        "context_limits": {
            "prior_events": PRIOR_EVENTS,
            "following_events": FOLLOWING_EVENTS,
            "max_events": MAX_EVENTS,
            "max_event_chars": limit,
            "max_total_content_chars": MAX_TOTAL_CHARS,
            "max_serialized_bytes": MAX_BYTES,
        },
    }


def _event(event: Event, number: int, queued: bool, limit: int) -> dict[str, Any]:
    text = cut_middle(event.text, limit)
    shown = {
        "storage_order": number,
        "event_uid": event.event_id,
        "session_uid": event.session_id,
        "context_epoch": event.epoch,
        "source_event_id": event.native_id,
        "parent_event_id": event.parent_id,
        "turn": event.turn,
        "role": event.role.value,
        "kind": event.kind.value,
        "redacted_text": text,
        "capture_completeness": event.completeness,
        "tool_name": event.tool_name,
        "call_id": event.call_id,
        "is_error": event.is_error,
        "exit_code": event.exit_code,
        "source_timestamp": time_of(event),
        "captured_at": event.captured_ms,
    }
    told = {name: value for name, value in shown.items() if value is not None}
    return {**told, "queued_for_review": queued, "context_truncated": text != event.text}


def _lesson(lesson: ShownLesson) -> dict[str, Any]:
    row, card = lesson.row, lesson.card
    return {
        "lesson_id": row.lesson_id,
        "revision": row.revision,
        "scope": "project" if row.project_id is not None else "global",
        "status": row.status,
        "severity": row.severity.value,
        "severity_if_it_recurs": needed_severity(row.severity).value,
        "recurrence": row.recurrence,
        "method_class": row.method_class,
        "class_id": row.class_id,
        "card": {name: getattr(card, name) for name in ("when", "must_do", "must_not", "verify", "why", "exception")},
        "deliveries": [
            {
                "application_id": delivery.delivery_id,
                "revision": delivery.revision,
                "session_id": delivery.session_id,
                "delivery_state": delivery.state,
                "emitted_ms": delivery.emitted_ms,
            }
            for delivery in lesson.deliveries
        ],
    }
