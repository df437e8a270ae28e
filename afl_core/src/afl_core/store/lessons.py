"""Rows of `lessons`, `lesson_revisions` and `family_evidence`. Decides nothing; only `changes.operations` writes lessons. Writers join the transaction."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from typing import Any

import attrs

from afl_core.model.card_text import short_id
from afl_core.model.errors import StoreError
from afl_core.model.lesson import Card, LessonRow, Severity
from afl_core.store.address import AT, same

_FIELDS = tuple(field.name for field in attrs.fields(LessonRow))
_COLUMNS = ", ".join(_FIELDS)
_BY_WEIGHT = "CASE severity WHEN 'Blocker' THEN 0 WHEN 'Critical' THEN 1 ELSE 2 END, updated_ms DESC, lesson_id"


def values(row: LessonRow) -> dict[str, Any]:
    """A row as plain values, as the database has them."""
    return {
        **attrs.asdict(row, recurse=False),
        "severity": row.severity.value,
        "generalizable": int(row.generalizable),
    }


def from_values(plain: Mapping[str, Any]) -> LessonRow:
    """The inverse of `values`."""
    found = {name: plain[name] for name in _FIELDS}
    return LessonRow(**{**found, "severity": Severity(found["severity"]), "generalizable": bool(found["generalizable"])})


def get(db: sqlite3.Connection, lesson_id: str) -> LessonRow | None:
    """One lesson by its whole id."""
    row = db.execute(f"SELECT {_COLUMNS} FROM lessons WHERE lesson_id = ?", (lesson_id,)).fetchone()  # noqa: S608 - names of this file
    return from_values(dict(zip(_FIELDS, row, strict=True))) if row else None


def find(db: sqlite3.Connection, reference: str) -> LessonRow | None:
    """One lesson by its whole id or by the short id people see; raises `StoreError` when a short id means several."""
    exact = get(db, reference)
    if exact is not None:
        return exact
    ids = [row[0] for row in db.execute("SELECT lesson_id FROM lessons ORDER BY lesson_id") if short_id(row[0]) == reference.lower()]
    if len(ids) > 1:
        raise StoreError(f"{reference} means {len(ids)} lessons: {', '.join(ids)}", code="AFL-STORE-022", hint="use the whole id")
    return get(db, ids[0]) if ids else None


def for_project(db: sqlite3.Connection, project_id: str) -> list[LessonRow]:
    """A project's lessons and the global ones, whatever their status: the most severe first, then the newest."""
    return _select(db, "project_id = ? OR project_id IS NULL", (project_id,))


def everywhere(db: sqlite3.Connection) -> list[LessonRow]:
    """The global lessons only."""
    return _select(db, "project_id IS NULL", ())


def in_family(db: sqlite3.Connection, family_id: str, project_id: str) -> list[LessonRow]:
    """The lessons of a family that a project has or shares, not the retracted ones: the most severe first, then the newest."""
    return _select(db, "family_id = ? AND (project_id = ? OR project_id IS NULL) AND status <> 'retracted'", (family_id, project_id))


def _select(db: sqlite3.Connection, where: str, wanted: Sequence[Any]) -> list[LessonRow]:
    rows = db.execute(f"SELECT {_COLUMNS} FROM lessons WHERE {where} ORDER BY {_BY_WEIGHT}", wanted)  # noqa: S608 - names of this file
    return [from_values(dict(zip(_FIELDS, row, strict=True))) for row in rows]


def fields_of(db: sqlite3.Connection, lesson_id: str) -> dict[str, Any] | None:
    """The fields of the grain that is a lesson's current text; None when there is no such lesson."""
    row = db.execute(
        f"SELECT g.fields_json FROM lessons l JOIN grains g ON {same('g.hash', 'l.grain_hash')} WHERE l.lesson_id = ?",  # noqa: S608 - fixed texts
        (lesson_id,),
    ).fetchone()
    if row is None:
        return None
    fields: dict[str, Any] = json.loads(row[0])
    return fields


def text_of(db: sqlite3.Connection, grain_hash: str) -> dict[str, Any] | None:
    """The fields of a lesson's grain by its address, whether it is live or not; None when it is gone."""
    row = db.execute(f"SELECT fields_json FROM grains WHERE {AT} AND type = 'lesson'", (grain_hash, grain_hash)).fetchone()  # noqa: S608 - a fixed text
    fields: dict[str, Any] | None = json.loads(row[0]) if row else None
    return fields


def every(db: sqlite3.Connection) -> list[LessonRow]:
    """The lessons of all projects: the most severe first, then the newest."""
    return _select(db, "1", ())


def card_of(db: sqlite3.Connection, lesson_id: str) -> Card | None:
    """A lesson's current card; None when there is no such lesson."""
    fields = fields_of(db, lesson_id)
    if fields is None:
        return None
    card = fields["card"]
    return Card(**{**card, "source_ids": tuple(card["source_ids"])})


def put(db: sqlite3.Connection, row: LessonRow) -> None:
    """Write a lesson's row, new or not."""
    plain = values(row)
    names = ", ".join(f":{name}" for name in _FIELDS)
    db.execute(f"INSERT OR REPLACE INTO lessons ({_COLUMNS}) VALUES ({names})", plain)  # noqa: S608 - names of this file


def delete(db: sqlite3.Connection, lesson_id: str) -> None:
    """Remove a lesson's row; its grains and revisions are not touched."""
    db.execute("DELETE FROM lessons WHERE lesson_id = ?", (lesson_id,))


@attrs.frozen
class Revision:
    """One row of `lesson_revisions`."""

    lesson_id: str
    revision: int
    grain_hash: str
    severity: str
    review_id: str | None
    created_ms: int


_REVISION = ", ".join(field.name for field in attrs.fields(Revision))


def revisions(db: sqlite3.Connection, lesson_id: str) -> list[Revision]:
    """A lesson's revisions, oldest first."""
    rows = db.execute(f"SELECT {_REVISION} FROM lesson_revisions WHERE lesson_id = ? ORDER BY revision", (lesson_id,))  # noqa: S608 - names of this file
    return [Revision(*row) for row in rows]


def put_revision(db: sqlite3.Connection, revision: Revision) -> None:
    """Write a revision's row, new or not."""
    db.execute(f"INSERT OR REPLACE INTO lesson_revisions ({_REVISION}) VALUES (?, ?, ?, ?, ?, ?)", attrs.astuple(revision))  # noqa: S608 - names of this file


def delete_revision(db: sqlite3.Connection, lesson_id: str, revision: int) -> None:
    """Remove a revision's row."""
    db.execute("DELETE FROM lesson_revisions WHERE lesson_id = ? AND revision = ?", (lesson_id, revision))


@attrs.frozen
class FamilyEvidence:
    """One incident of a family in one lineage."""

    family_id: str
    lineage: str
    project_id: str
    lesson_id: str
    incident_id: str
    created_ms: int


def put_evidence(db: sqlite3.Connection, evidence: FamilyEvidence) -> None:
    """Count an incident for its family and lineage; the same one again changes nothing."""
    db.execute("INSERT OR IGNORE INTO family_evidence VALUES (?, ?, ?, ?, ?, ?)", attrs.astuple(evidence))


def independent(db: sqlite3.Connection, family_id: str) -> tuple[int, int]:
    """In how many distinct lineages, and in how many distinct incidents, a family was seen."""
    row = db.execute(
        "SELECT count(DISTINCT lineage), count(DISTINCT incident_id) FROM family_evidence WHERE family_id = ?", (family_id,)
    ).fetchone()
    return int(row[0]), int(row[1])
