"""What was learnt, for people and programs: lessons with their record, and why a session was given what it was given."""

from __future__ import annotations

import os
from typing import Any

import attrs

from afl_core.api.home import Home
from afl_core.changes import gates
from afl_core.lessons import effect, explain
from afl_core.model.card_text import short_id
from afl_core.model.errors import StoreError
from afl_core.model.lesson import LessonRow
from afl_core.store import deliveries, lessons, sessions
from afl_core.store.connection import writing

PERSON = "user:local"
"""The actor of changes made by hand."""


def project_of(directory: str) -> str:
    """The project id of a directory."""
    from afl_core.capture.projects import locate

    return locate(os.path.abspath(directory)).project_id


def listed(home: Home, directory: str | None, *, only_global: bool = False, every: bool = False) -> list[dict[str, Any]]:
    """Lessons of the project `directory` belongs to and the global ones, the most severe first; `every`: of all projects."""
    db = home.db
    if only_global:
        rows = lessons.everywhere(db)
    elif every:
        rows = [
            row
            for (lesson_id,) in db.execute("SELECT lesson_id FROM lessons ORDER BY lesson_id").fetchall()
            if (row := lessons.get(db, lesson_id)) is not None
        ]
    else:
        rows = lessons.for_project(db, project_of(directory or os.getcwd()))
    return [_summary(home, row) for row in rows]


def shown(home: Home, reference: str) -> dict[str, Any]:
    """One lesson in full; `reference` is its id, the short id on its card, or the beginning of its id."""
    row = _find(home, reference)
    fields = lessons.fields_of(home.db, row.lesson_id) or {}
    return {
        **_summary(home, row),
        "scope": fields.get("scope"),
        "evidence": fields.get("evidence"),
        "causal_chain": fields.get("causal_chain"),
        "revisions": [attrs.asdict(revision, value_serializer=_plain) for revision in lessons.revisions(home.db, row.lesson_id)],
        "deliveries": [delivery._asdict() for delivery in deliveries.latest_for(home.db, row.lesson_id, 10)],
    }


def explained(home: Home, session: str) -> dict[str, Any]:
    """What a session was given, what was left out, and why; `session` is its id, or the host's own id for it."""
    row = sessions.get(home.db, session)
    if row is None:
        found = home.db.execute("SELECT session_id FROM sessions WHERE native_id = ?", (session,)).fetchall()
        if len(found) != 1:
            raise StoreError(
                f"no session {session!r} is known",
                code="AFL-STORE-024",
                hint="use the session id the host shows; sessions are known after their first hook",
            )
        session = str(found[0][0])
    told: dict[str, Any] = attrs.asdict(explain.explain(home.db, session), value_serializer=_plain)
    return told


def latest_session(home: Home) -> str | None:
    """The session seen last."""
    row = home.db.execute("SELECT session_id FROM sessions ORDER BY seen_ms DESC LIMIT 1").fetchone()
    return None if row is None else str(row[0])


def _find(home: Home, reference: str) -> LessonRow:
    row = lessons.find(home.db, reference)
    if row is None:
        near = [found for (found,) in home.db.execute("SELECT lesson_id FROM lessons ORDER BY lesson_id") if found.startswith(reference)]
        row = lessons.get(home.db, near[0]) if len(near) == 1 else None
        if row is None:
            said = f"{reference!r} means {len(near)} lessons: {', '.join(near)}" if near else f"no lesson is called {reference!r}"
            raise StoreError(said, code="AFL-STORE-023", hint="run: afl memory list --all")
    return row


def _summary(home: Home, row: LessonRow) -> dict[str, Any]:
    card = lessons.card_of(home.db, row.lesson_id)
    found = effect.effect(home.db, row.lesson_id)
    return {
        **attrs.asdict(row, value_serializer=_plain),
        "short_id": short_id(row.lesson_id),
        "card": None if card is None else attrs.asdict(card, value_serializer=_plain),
        "effect": None if found is None else {**attrs.asdict(found, value_serializer=_plain), "words": found.words},
    }


def _plain(_instance: object, _field: object, value: Any) -> Any:
    return getattr(value, "value", value) if not isinstance(value, tuple) else list(value)


def switched(home: Home, reference: str, *, on: bool, reason: str) -> dict[str, Any]:
    """A person enables or disables a lesson; returns the lesson and the number of the change, by which it can be undone."""
    lesson_id = shown(home, reference)["lesson_id"]
    with writing(home.db, durable=True):
        n = gates.switch(home.db, lesson_id=lesson_id, on=on, actor=PERSON, reason=reason, now=home.clock())
    return {"lesson_id": lesson_id, "change": n, "status": "active" if on else "disabled"}


def undone(home: Home, change: int, *, reason: str) -> dict[str, Any]:
    """Undo one change; refused, naming the later ones, when memory is no longer as that change left it."""
    with writing(home.db, durable=True):
        n = gates.undo(home.db, n=change, actor=PERSON, reason=reason, now=home.clock())
    return {"undone": change, "change": n}


def changed(home: Home, limit: int) -> list[dict[str, Any]]:
    """The newest rows of the audit chain, and whether the chain is whole."""
    rows = home.db.execute("SELECT n, at_ms, actor, action, target FROM audit ORDER BY n DESC LIMIT ?", (limit,))
    return [dict(row) for row in rows]
