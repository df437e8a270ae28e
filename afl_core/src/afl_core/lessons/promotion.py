"""How far a lesson is from being global. The rule is `changes.promotion_rule`; the deed is `changes.gates.promote`."""

from __future__ import annotations

import sqlite3

import attrs

from afl_core.changes import promotion_rule
from afl_core.store import lessons


@attrs.frozen
class Standing:
    """`lineages`, `incidents`: distinct ones of the family; `missing`: what keeps the lesson from becoming global, one sentence each."""

    lineages: int
    incidents: int
    missing: tuple[str, ...]


def standing(db: sqlite3.Connection, lesson_id: str) -> Standing | None:
    """Where a lesson stands; None when there is no such lesson."""
    row, fields = lessons.get(db, lesson_id), lessons.fields_of(db, lesson_id)
    if row is None or fields is None:
        return None
    lineages, incidents = lessons.independent(db, row.family_id)
    return Standing(lineages, incidents, promotion_rule.missing(row, fields, (lineages, incidents)))
