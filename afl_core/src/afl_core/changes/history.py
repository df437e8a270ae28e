"""What the audit chain still knows of lessons as they were: the state before each change, and lessons that an undo took away. Read only."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from typing import Any

import attrs

from afl_core.model.card_text import short_id
from afl_core.model.lesson import LessonRow
from afl_core.store import audit as rows
from afl_core.store import lessons
from afl_core.store.audit import AuditRow

UNDO = "change.undo"
"""The action of a row that undid another one; undoing it does that one again."""


@attrs.frozen
class Retracted:
    """A lesson that an undo took away. `row`: as it was last, its status `retracted`; undoing change `change` brings it back."""

    row: LessonRow
    change: int
    at_ms: int


@attrs.frozen
class Before:
    """A lesson before one change at `at_ms`; None: there was none."""

    at_ms: int
    row: LessonRow | None


def body_of(db: sqlite3.Connection, row: AuditRow) -> dict[str, Any] | None:
    """What a row of the chain says; None when that was erased."""
    text = rows.text(db, row.body_hash)
    if text is None:
        return None
    body: dict[str, Any] = json.loads(text)
    return body


def undone_by(db: sqlite3.Connection, row: AuditRow) -> int | None:
    """The number of the change that this row undid; None when it is no undo, or that was erased."""
    body = body_of(db, row) if row.action == UNDO else None
    return None if body is None else body.get("undone_n")


def states(db: sqlite3.Connection, lesson_id: str) -> list[Before]:
    """A lesson before each of its changes, oldest first; changes whose text was erased are left out."""
    found = []
    for row in rows.rows(db, target=lesson_id):
        body = body_of(db, row)
        if body is not None and "inverse" in body:
            kept = body["inverse"]["row"]
            found.append(Before(row.at_ms, lessons.from_values(kept) if kept else None))
    return found


def state_at(earlier: Sequence[Before], now: LessonRow | None, at_ms: int) -> LessonRow | None:
    """A lesson as it was at a time. `now`: as it is. Pure."""
    return next((state.row for state in earlier if state.at_ms > at_ms), now)


def retracted(db: sqlite3.Connection) -> list[Retracted]:
    """Every lesson that an undo took away and nobody brought back, by id."""
    there = {row[0] for row in db.execute("SELECT lesson_id FROM lessons")}
    found = [_retraction(db, row) for row in rows.latest_of_targets(db) if row.target not in there]
    return [one for one in found if one is not None]


def retraction(db: sqlite3.Connection, lesson_id: str) -> Retracted | None:
    """How one lesson was taken away; None when it is there, or nothing is known of it."""
    row = None if lessons.get(db, lesson_id) else rows.latest_of(db, lesson_id)
    return None if row is None else _retraction(db, row)


def find_retracted(db: sqlite3.Connection, reference: str) -> list[Retracted]:
    """Lessons that an undo took away, by whole id or short id, else by the beginning of either."""
    every = retracted(db)
    exact = [one for one in every if reference == one.row.lesson_id or reference.lower() == short_id(one.row.lesson_id)]
    return exact or [one for one in every if begins(one.row.lesson_id, reference)]


def begins(lesson_id: str, reference: str) -> bool:
    """Whether a person's reference is the beginning of a lesson's id or short id."""
    return lesson_id.startswith(reference) or short_id(lesson_id).startswith(reference.lower())


def _retraction(db: sqlite3.Connection, row: AuditRow) -> Retracted | None:
    body = body_of(db, row) if row.action == UNDO else None
    if body is None or not body.get("inverse", {}).get("row"):
        return None
    return Retracted(attrs.evolve(lessons.from_values(body["inverse"]["row"]), status="retracted"), row.n, row.at_ms)
