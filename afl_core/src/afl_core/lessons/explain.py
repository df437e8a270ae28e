"""Why a session was given what it was given, and why not the rest. Read only."""

from __future__ import annotations

import sqlite3
from typing import Any

import attrs

from afl_core.model.card_text import short_id
from afl_core.model.codec import loads
from afl_core.store import deliveries, lessons
from afl_core.store.deliveries import HOLD_ROW

REASONS = {
    "no_match": "nothing in the prompt, its paths or the recent tools fits it",
    "other_place": "the prompt names files elsewhere",
    "family": "another lesson of its family was preferred",
    "trend_only": "it is only counted",
    "unconfirmed": "it was given as often as allowed without proof that it arrived",
    "conflict": "it contradicts another lesson",
    "severe_limit": "more severe lessons than one prompt may carry",
    "candidate_limit": "more lessons than one prompt may carry",
    "oversize": "its card is too long for any prompt",
    "budget": "the token budget was used up",
    "host_limit": "the host's limit was used up",
}
"""What each stored reason means to a person."""


@attrs.frozen
class Given:
    """One delivery. `match`: what made it fit, in the lesson's own values; `severity` '' when the lesson is gone."""

    lesson_id: str
    short_id: str
    severity: str
    revision: int
    epoch: int
    state: str
    emissions: int
    match: dict[str, Any]
    emitted_ms: int
    reached_ms: int | None


@attrs.frozen
class Left:
    """One lesson left out of one prompt."""

    lesson_id: str
    short_id: str
    severity: str
    reason: str
    meaning: str
    at_ms: int


@attrs.frozen
class Explanation:
    """Everything about one session, oldest first. `holds`: which hold was told, with its epoch."""

    session_id: str
    project_id: str | None
    epoch: int | None
    given: tuple[Given, ...]
    left: tuple[Left, ...]
    holds: tuple[str, ...]


def explain(db: sqlite3.Connection, session_id: str) -> Explanation:
    """What a session was given and not given; a session nobody knows has neither project nor epoch."""
    session = db.execute("SELECT project_id, epoch FROM sessions WHERE session_id = ?", (session_id,)).fetchone()
    past, omitted = deliveries.of_session(db, session_id), deliveries.omissions_of(db, session_id)
    found = {
        lesson_id: lessons.get(db, lesson_id) for lesson_id in {each.lesson_id for each in past} | {each.lesson_id for each in omitted}
    }
    severity = {lesson_id: row.severity.value if row else "" for lesson_id, row in found.items()}
    given = tuple(
        Given(
            lesson_id=each.lesson_id,
            short_id=short_id(each.lesson_id),
            severity=severity[each.lesson_id],
            revision=each.revision,
            epoch=each.epoch,
            state=each.state,
            emissions=each.emissions,
            match=loads(each.match_json, "a delivery's match"),
            emitted_ms=each.emitted_ms,
            reached_ms=each.reached_ms,
        )
        for each in past
    )
    left = tuple(
        Left(
            each.lesson_id,
            short_id(each.lesson_id),
            severity[each.lesson_id],
            each.reason,
            REASONS.get(each.reason, each.reason),
            each.at_ms,
        )
        for each in omitted
        if each.lesson_id != HOLD_ROW
    )
    holds = tuple(each.reason for each in omitted if each.lesson_id == HOLD_ROW)
    return Explanation(session_id, session["project_id"] if session else None, session["epoch"] if session else None, given, left, holds)
