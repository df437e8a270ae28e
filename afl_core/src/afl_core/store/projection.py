"""The projection: one row for every card that could be selected now, ready to be matched and injected. Rebuilt from lessons and their grains.

The front reads through this file, so it works on rows and imports no attrs. Writers join the caller's transaction.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from afl_core.model import card_text
from afl_core.model.codec import canonical
from afl_core.model.words import MAX_TERMS, terms
from afl_core.store.address import same

if TYPE_CHECKING:
    import sqlite3

RANKS = {"Blocker": 0, "Critical": 1, "Major": 2}


class Row(NamedTuple):
    """One row of `projection`. `project_id` '' and `is_global` 1: every project; `rank` 0 Blocker, 1 Critical, 2 Major."""

    lesson_id: str
    project_id: str
    rank: int
    severity: str
    revision: int
    family_id: str
    is_global: int
    conflict: str
    load_policy: str
    card_text: str
    tokens: int
    match_json: str
    origin_session: str


_COLUMNS = ", ".join(Row._fields)
_LESSON = (
    "SELECT l.lesson_id, l.project_id, l.severity, l.revision, l.family_id, l.conflict, l.load_policy, l.origin_session, l.created_ms, l.status,"  # noqa: S608 - fixed texts
    f" g.fields_json FROM lessons l JOIN grains g ON {same('g.hash', 'l.grain_hash')}"
)


def for_project(db: sqlite3.Connection, project_id: str) -> list[Row]:
    """What a project's sessions could be given, the most severe first, then by id."""
    rows = db.execute(
        f"SELECT {_COLUMNS} FROM projection WHERE project_id IN (?, '') ORDER BY rank, lesson_id",  # noqa: S608 - names of this file
        (project_id,),
    )
    return [Row(*row) for row in rows]


def rebuild(db: sqlite3.Connection, lesson_id: str) -> None:
    """Make a lesson's row what its lesson and grain say now; a lesson that is not active has none."""
    db.execute("DELETE FROM projection WHERE lesson_id = ?", (lesson_id,))
    row = db.execute(f"{_LESSON} WHERE l.lesson_id = ?", (lesson_id,)).fetchone()
    if row is not None and row["status"] == "active":
        _insert(db, row)


def _insert(db: sqlite3.Connection, lesson: sqlite3.Row) -> None:
    fields: dict[str, Any] = json.loads(lesson["fields_json"])
    card = card_text.neutral_card(fields["card"])
    row = Row(
        lesson_id=lesson["lesson_id"],
        project_id=lesson["project_id"] or "",
        rank=RANKS[lesson["severity"]],
        severity=lesson["severity"],
        revision=lesson["revision"],
        family_id=lesson["family_id"],
        is_global=int(lesson["project_id"] is None),
        conflict=lesson["conflict"],
        load_policy=lesson["load_policy"],
        card_text=card_text.render(card, severity=lesson["severity"], lesson_id=lesson["lesson_id"], learnt_ms=lesson["created_ms"]),
        tokens=card_text.tokens(card),
        match_json=canonical(rule(fields.get("scope") or {}, card["when"])),
        origin_session=lesson["origin_session"],
    )
    marks = ", ".join("?" * len(row))
    db.execute(f"INSERT INTO projection ({_COLUMNS}) VALUES ({marks})", row)  # noqa: S608 - names of this file


def rule(scope: dict[str, Any], when: str) -> dict[str, list[str]]:
    """What a task is matched against: the scope's lists, and the content words and 4-grams of the card's `when`."""
    found = terms(when)
    lists = {key: list(scope.get(key) or ()) for key in ("paths", "tools", "task_types", "signals")}
    return {**lists, "words": list(found.words[:MAX_TERMS]), "grams": list(found.grams[:MAX_TERMS])}
