"""Why a session was given what it was given, and why not the rest, prompt by prompt. Read only."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from typing import Any

import attrs

from afl_core.changes import history
from afl_core.changes.history import Before, Retracted
from afl_core.changes.naming import brief
from afl_core.model.card_text import short_id
from afl_core.model.codec import loads
from afl_core.model.lesson import LessonRow
from afl_core.store import deliveries, lessons
from afl_core.store.deliveries import HOLD_ROW, Delivery, Omission

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
    "held_by_host": "the host's own memory says the same already",
    "delivered": "delivered already in this context window",
    "again": "given again later in this context window; only the last time is kept",
    "disabled": "it was disabled",
    "retracted": "it was retracted",
    "later": "it was learnt after this prompt",
    "other_project": "it belonged to another project then",
    "not_recorded": "nothing is recorded of it here: cards were switched off, choosing failed, or more was left out than is kept",
}
"""What each reason means to a person. Those from `delivered` on are not stored but found when they are asked for."""

GIVEN = "given"


@attrs.frozen
class Given:
    """One delivery. `match`: what made it fit, in the lesson's own values; `severity` '' when nothing is known of the lesson any more."""

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
class Told:
    """One lesson at one prompt. `reason`: `given` or a key of `REASONS`; `state` and `match` of what was given; `status`: the lesson's now."""

    lesson_id: str
    short_id: str
    gist: str
    severity: str
    status: str
    reason: str
    meaning: str
    state: str
    match: dict[str, Any]


@attrs.frozen
class Prompt:
    """One prompt, or the start of a context window that was given cards. `words`: its first ones, redacted, '' when they are not kept."""

    intake_id: str
    kind: str
    at_ms: int
    words: str
    lessons: tuple[Told, ...]
    holds: tuple[str, ...]


@attrs.frozen
class Explanation:
    """Everything about one session, oldest first. `holds`: which hold was told, with its epoch; `prompts`: the same, prompt by prompt."""

    session_id: str
    project_id: str | None
    epoch: int | None
    given: tuple[Given, ...]
    left: tuple[Left, ...]
    holds: tuple[str, ...]
    prompts: tuple[Prompt, ...] = ()


@attrs.frozen
class _Known:
    """What is known of a lesson: as it is (None: retracted, or nothing is known), as it was, its changes, and how it is called."""

    now: LessonRow | None
    last: LessonRow | None
    earlier: Sequence[Before]
    gone: Retracted | None
    gist: str

    @property
    def severity(self) -> str:
        return self.last.severity.value if self.last else ""

    @property
    def status(self) -> str:
        return self.last.status if self.last else "unknown"


def explain(db: sqlite3.Connection, session_id: str) -> Explanation:
    """What a session was given and not given; a session nobody knows has neither project nor epoch."""
    session = db.execute("SELECT project_id, epoch FROM sessions WHERE session_id = ?", (session_id,)).fetchone()
    past, omitted = deliveries.of_session(db, session_id), deliveries.omissions_of(db, session_id)
    project_id = session["project_id"] if session else None
    named = [each.lesson_id for each in past] + [each.lesson_id for each in omitted if each.lesson_id != HOLD_ROW]
    known = _known(db, project_id, named)
    given = tuple(
        Given(
            lesson_id=each.lesson_id,
            short_id=short_id(each.lesson_id),
            severity=known[each.lesson_id].severity,
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
            known[each.lesson_id].severity,
            each.reason,
            REASONS.get(each.reason, each.reason),
            each.at_ms,
        )
        for each in omitted
        if each.lesson_id != HOLD_ROW
    )
    holds = tuple(each.reason for each in omitted if each.lesson_id == HOLD_ROW)
    prompts = tuple(
        Prompt(
            intake_id,
            kind,
            at_ms,
            _words(db, session_id, intake_id),
            tuple(_told(each, known[each], project_id, intake_id, at_ms, past, omitted) for each in known),
            tuple(each.reason for each in omitted if each.intake_id == intake_id and each.lesson_id == HOLD_ROW),
        )
        for at_ms, intake_id, kind in _prompts(db, session_id, past, omitted)
    )
    return Explanation(session_id, project_id, session["epoch"] if session else None, given, left, holds, prompts)


def _known(db: sqlite3.Connection, project_id: str | None, named: Sequence[str]) -> Mapping[str, _Known]:
    """The project's lessons, the global ones, the retracted ones of the project, and those that are named; the most severe first."""
    here = lessons.for_project(db, project_id) if project_id is not None else []
    gone = {one.row.lesson_id: one for one in history.retracted(db)}
    lost = [lesson_id for lesson_id, one in gone.items() if one.row.project_id in (None, project_id)] if project_id is not None else []
    found = {}
    for lesson_id in dict.fromkeys([*(row.lesson_id for row in here), *lost, *named]):
        now = lessons.get(db, lesson_id)
        last = now or (gone[lesson_id].row if lesson_id in gone else None)
        fields = lessons.text_of(db, last.grain_hash) if last else None
        found[lesson_id] = _Known(
            now, last, history.states(db, lesson_id), gone.get(lesson_id), brief(str(fields["card"]["when"])) if fields else ""
        )
    return found


def _prompts(db: sqlite3.Connection, session_id: str, past: Sequence[Delivery], omitted: Sequence[Omission]) -> list[tuple[int, str, str]]:
    """Time, id and kind of every prompt that is known, and of everything else that cards were chosen for, oldest first."""
    recorded = {each.intake_id: each.emitted_ms for each in reversed(past)} | {each.intake_id: each.at_ms for each in reversed(omitted)}
    rows = db.execute("SELECT intake_id, kind, received_ms FROM intake WHERE session_id = ?", (session_id,)).fetchall()
    kept = {row[0]: (row[2], row[0], row[1]) for row in rows if row[1] == "prompt" or row[0] in recorded}
    return sorted([*kept.values(), *((at_ms, intake_id, "prompt") for intake_id, at_ms in recorded.items() if intake_id not in kept)])


def _words(db: sqlite3.Connection, session_id: str, intake_id: str) -> str:
    row = db.execute(
        "SELECT events.text FROM sightings JOIN events USING (event_id)"
        " WHERE sightings.session_id = ? AND sightings.source = 'hook' AND sightings.source_id = ?",
        (session_id, intake_id),
    ).fetchone()
    return brief(row[0]) if row else ""


def _told(
    lesson_id: str,
    known: _Known,
    project_id: str | None,
    intake_id: str,
    at_ms: int,
    past: Sequence[Delivery],
    omitted: Sequence[Omission],
) -> Told:
    mine = [each for each in past if each.lesson_id == lesson_id]
    given = next((each for each in mine if each.intake_id == intake_id), None)
    reason = next((each.reason for each in omitted if each.intake_id == intake_id and each.lesson_id == lesson_id), None)
    if given is not None:
        reason = GIVEN
    elif reason is None:
        reason = _unrecorded(known, project_id, at_ms, mine)
    return Told(
        lesson_id,
        short_id(lesson_id),
        known.gist,
        known.severity,
        known.status,
        reason,
        "" if given else REASONS.get(reason, reason),
        given.state if given else "",
        loads(given.match_json, "a delivery's match") if given else {},
    )


def _unrecorded(known: _Known, project_id: str | None, at_ms: int, mine: Sequence[Delivery]) -> str:
    """Why nothing was recorded of a lesson at a prompt. Pure."""
    then = history.state_at(known.earlier, known.now, at_ms)
    if then is None:
        return "retracted" if known.gone is not None and known.gone.at_ms <= at_ms else "later"
    if then.status != "active":
        return "disabled"
    if then.project_id not in (None, project_id):
        return "other_project"
    if any(each.emitted_ms <= at_ms for each in mine):
        return "delivered"  # what does not match is recorded, so it did, and the session had it
    return "again" if any(each.emissions > 1 for each in mine) else "not_recorded"
