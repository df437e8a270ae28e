"""What was learnt, for people and programs: lessons with their record, and why a session was given what it was given."""

from __future__ import annotations

import os
from typing import Any

import attrs

from afl_core.api.home import Home
from afl_core.changes import gates, history, naming
from afl_core.changes.history import Retracted, begins
from afl_core.lessons import effect, explain
from afl_core.model.card_text import short_id
from afl_core.model.errors import ChangeError, StoreError
from afl_core.model.lesson import LessonRow
from afl_core.store import audit, deliveries, lessons, sessions
from afl_core.store.connection import writing

PERSON = "user:local"
"""The actor of changes made by hand."""

OF_LESSONS = ("lesson.", "change.")
"""How actions begin whose target is a lesson; that of a `review.commit` is the review."""

REASON_CHARS = 500
"""Characters of the reason a person gives for a change."""


def project_of(directory: str) -> str:
    """The project id of a directory."""
    from afl_core.capture.projects import locate

    return locate(os.path.abspath(directory)).project_id


def listed(home: Home, directory: str | None, *, only_global: bool = False, every: bool = False) -> list[dict[str, Any]]:
    """Lessons of the project `directory` belongs to and the global ones, the most severe first; `every`: of all projects, the retracted last."""
    db = home.db
    if only_global:
        rows = lessons.everywhere(db)
    elif every:
        return [*(_summary(home, row) for row in lessons.every(db)), *(_retracted(home, one) for one in history.retracted(db))]
    else:
        rows = lessons.for_project(db, project_of(directory or os.getcwd()))
    return [_summary(home, row) for row in rows]


def shown(home: Home, reference: str) -> dict[str, Any]:
    """One lesson in full, a retracted one too; `reference` is its id, the short id on its card, or the beginning of either."""
    found = _find(home, reference)
    row = found.row if isinstance(found, Retracted) else found
    fields = lessons.text_of(home.db, row.grain_hash) or {}
    return {
        **(_retracted(home, found) if isinstance(found, Retracted) else _summary(home, found)),
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


def _find(home: Home, reference: str) -> LessonRow | Retracted:
    row = lessons.find(home.db, reference)
    if row is not None:
        return row
    near: list[LessonRow | Retracted] = [row for row in lessons.every(home.db) if begins(row.lesson_id, reference)]
    near += history.find_retracted(home.db, reference)
    if len(near) == 1:
        return near[0]
    ids = sorted(one.row.lesson_id if isinstance(one, Retracted) else one.lesson_id for one in near)
    said = f"{reference!r} means {len(near)} lessons: {', '.join(map(short_id, ids))}" if near else f"no lesson is called {reference!r}"
    raise StoreError(said, code="AFL-STORE-023", hint="run: afl memory list --all")


def _summary(home: Home, row: LessonRow) -> dict[str, Any]:
    fields = lessons.text_of(home.db, row.grain_hash)
    card = fields["card"] if fields else None
    found = effect.effect(home.db, row.lesson_id)
    return {
        **attrs.asdict(row, value_serializer=_plain),
        "short_id": short_id(row.lesson_id),
        "gist": naming.brief(card["when"]) if card else "",
        "card": card,
        "effect": None if found is None else {**attrs.asdict(found, value_serializer=_plain), "words": found.words},
    }


def _retracted(home: Home, one: Retracted) -> dict[str, Any]:
    return {**_summary(home, one.row), "retracted_by": one.change, "retracted_ms": one.at_ms}


def _plain(_instance: object, _field: object, value: Any) -> Any:
    return getattr(value, "value", value) if not isinstance(value, tuple) else list(value)


def switched(home: Home, reference: str, *, on: bool, reason: str) -> dict[str, Any]:
    """A person enables or disables a lesson; returns the lesson and the number of the change, by which it can be undone."""
    found = _find(home, reference)
    lesson_id = found.row.lesson_id if isinstance(found, Retracted) else found.lesson_id
    kept = _kept_reason(home, reason)
    with writing(home.db, durable=True):
        n = gates.switch(home.db, lesson_id=lesson_id, on=on, actor=PERSON, reason=kept, now=home.clock())
    return {**_named(home, lesson_id), "change": n, "status": "active" if on else "disabled"}


def undone(home: Home, change: int, *, reason: str) -> dict[str, Any]:
    """Undo one change; refused, naming the later ones, when memory is no longer as that change left it. Undoing an undo does it again."""
    kept = _kept_reason(home, reason)
    with writing(home.db, durable=True):
        n = gates.undo(home.db, n=change, actor=PERSON, reason=kept, now=home.clock())
    row = audit.get(home.db, change)
    if row is None:
        raise ChangeError(f"there is no change {change}", code="AFL-CHANGE-007", hint="run: afl memory changes")
    return {"undone": change, "action": row.action, "change": n, **_named(home, row.target)}


def changed(home: Home, limit: int) -> list[dict[str, Any]]:
    """The newest rows of the audit chain. `undoes`: the change that an undo undid; `reason` None: it was erased."""
    return [
        {
            "n": row.n,
            "at_ms": row.at_ms,
            "actor": row.actor,
            "action": row.action,
            "target": row.target,
            **(_named(home, row.target) if row.action.startswith(OF_LESSONS) else {"lesson_id": None, "short_id": None, "gist": ""}),
            "undoes": history.undone_by(home.db, row),
            "reason": audit.text(home.db, row.reason_hash),
        }
        for row in audit.newest(home.db, limit)
    ]


def _named(home: Home, lesson_id: str) -> dict[str, Any]:
    return {"lesson_id": lesson_id, "short_id": short_id(lesson_id), "gist": naming.gist(home.db, lesson_id)}


def _kept_reason(home: Home, reason: str) -> str:
    """A person's reason as it may be stored: one line, short, redacted."""
    line = " ".join(reason.split())
    if len(line) > REASON_CHARS:
        raise ChangeError(
            f"the reason has {len(line)} characters, at most {REASON_CHARS} are kept", code="AFL-CHANGE-010", hint="say it shorter"
        )
    return home.redact(line) if line else ""
