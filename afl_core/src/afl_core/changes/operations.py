"""The operations that alter what an agent will be told, each with its inverse. They run in the caller's transaction; `gates` decides whether."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Mapping
from typing import Any, Protocol

import attrs

from afl_core.changes import history, promotion_rule
from afl_core.changes.naming import called
from afl_core.memory import write
from afl_core.model.card_text import short_id
from afl_core.model.codec import canonical
from afl_core.model.errors import ChangeError
from afl_core.model.grain import Grain, GrainType, HeadKey, make
from afl_core.model.lesson import GLOBAL_NS, Card, EvidenceRef, LessonRow, Scope, Severity
from afl_core.store import grains, lessons, projection
from afl_core.store.lessons import Revision

CONFLICT = "AFL-CHANGE-002"


@attrs.frozen
class LessonProposal:
    """A lesson somebody wants agents to be told, checked against the evidence by whoever proposes it. `base_revision` 0: a new one.

    `extra` holds the severity fields (timeline, checkpoint, ...); `lineage` None: the project never counts for a promotion.
    """

    lesson_id: str
    project_id: str
    base_revision: int
    severity: Severity
    family_id: str
    method_class: str
    class_id: str
    scope: Scope
    card: Card
    generalizable: bool
    responsibility: str
    confidence: str
    causal_chain: tuple[str, ...]
    extra: Mapping[str, Any]
    evidence: tuple[EvidenceRef, ...]
    report_id: str
    review_id: str
    origin_session: str
    lineage: str | None
    incident_id: str
    rule_action: str
    global_promotion_evidence: tuple[str, ...] = ()


@attrs.frozen
class Inverse:
    """How to undo one applied operation: plain values, so that it can be kept in the audit chain's texts.

    `row`: the lesson's row before (None: there was none). `revision_row`: the row of `revision` before (None: there was none).
    `grain`: the text the operation brought, if any; `grain_before`: the one whose place it took. `again`: of an undo, so that running it
    does the operation again and brings that text back.
    """

    lesson_id: str
    row: Mapping[str, Any] | None
    revision: int
    revision_row: Mapping[str, Any] | None
    grain: str | None
    grain_before: str | None
    again: bool = False


@attrs.frozen
class Applied:
    """What an operation did. The images are hashes of everything memory holds of the lesson before and after."""

    action: str
    lesson_id: str
    grain: str | None
    pre_image: str
    post_image: str
    inverse: Inverse

    def body(self) -> dict[str, Any]:
        """For the audit chain: ids and hashes, no words."""
        return attrs.asdict(self)


class Operation(Protocol):
    """One typed operation on one lesson. `run` is given the lesson's row before and gives the row after and the grain it brought."""

    @property
    def lesson_id(self) -> str:
        """Whose."""

    @property
    def action(self) -> str:
        """Its name in the audit chain."""

    def run(self, db: sqlite3.Connection, before: LessonRow | None, now: int) -> tuple[LessonRow, Grain | None]:
        """Check and write; raise `ChangeError` when the state does not allow it."""


def apply(db: sqlite3.Connection, operation: Operation, now: int) -> Applied:
    """Run an operation; gives what it did and how to undo it."""
    lesson_id = operation.lesson_id
    pre_image = image(db, lesson_id)
    before = lessons.get(db, lesson_id)
    revisions = {each.revision: each for each in lessons.revisions(db, lesson_id)}
    row, grain = operation.run(db, before, now)
    lessons.put(db, row)
    projection.rebuild(db, lesson_id)
    replaced = revisions.get(row.revision)
    inverse = Inverse(
        lesson_id=lesson_id,
        row=lessons.values(before) if before else None,
        revision=row.revision,
        revision_row=attrs.asdict(replaced) if replaced else None,
        grain=grain.hash if grain else None,
        grain_before=before.grain_hash if before and grain else None,
    )
    return Applied(operation.action, lesson_id, inverse.grain, pre_image, image(db, lesson_id), inverse)


def undo(db: sqlite3.Connection, inverse: Inverse) -> Inverse:
    """Run an inverse; gives the one that brings back what was there before it ran. The caller has made sure that the post-image still holds."""
    before = lessons.get(db, inverse.lesson_id)
    held = {each.revision: each for each in lessons.revisions(db, inverse.lesson_id)}.get(inverse.revision)
    if inverse.again:
        _bring(db, inverse)
    else:
        _take_back(db, inverse)
    if inverse.revision_row is None:
        lessons.delete_revision(db, inverse.lesson_id, inverse.revision)
    else:
        lessons.put_revision(db, Revision(**inverse.revision_row))
    if inverse.row is None:
        lessons.delete(db, inverse.lesson_id)
    else:
        lessons.put(db, lessons.from_values(inverse.row))
    projection.rebuild(db, inverse.lesson_id)
    return attrs.evolve(
        inverse,
        row=lessons.values(before) if before else None,
        revision_row=attrs.asdict(held) if held else None,
        again=not inverse.again,
    )


def _take_back(db: sqlite3.Connection, inverse: Inverse) -> None:
    if inverse.grain is not None and inverse.grain_before is not None:
        write.unsupersede(db, inverse.grain_before, inverse.grain)
    elif inverse.grain is not None:
        write.retract(db, inverse.grain)


def _bring(db: sqlite3.Connection, inverse: Inverse) -> None:
    if inverse.grain is None:
        return
    there = grains.get(db, inverse.grain)
    if there is None:
        raise ChangeError(
            f"the text that lesson {called(db, inverse.lesson_id)} had was erased",
            code="AFL-CHANGE-009",
            hint="what was erased is never brought back; correct the agent again to teach it anew",
        )
    if inverse.grain_before is None:
        write.add(db, there.grain)
    else:
        write.supersede(db, inverse.grain_before, there.grain)


def image(db: sqlite3.Connection, lesson_id: str) -> str:
    """A hash of what memory holds of a lesson: its row, revisions, projection, heads and which of its texts is live."""
    row = lessons.get(db, lesson_id)
    spaces = {row.ns} if row else set[str]()
    revisions = lessons.revisions(db, lesson_id)
    texts = [grains.get(db, each.grain_hash) for each in revisions]
    spaces |= {text.grain.ns for text in texts if text}
    shown = db.execute("SELECT * FROM projection WHERE lesson_id = ?", (lesson_id,)).fetchone()
    held = {
        "row": lessons.values(row) if row else None,
        "revisions": [attrs.asdict(each) for each in revisions],
        "superseded": [text.superseded_by if text else "missing" for text in texts],
        "heads": [[ns, grains.heads(db, HeadKey(ns, lesson_id, "lesson"))] for ns in sorted(spaces)],
        "projection": list(shown) if shown else None,
    }
    return hashlib.sha256(canonical(held).encode()).hexdigest()


# ------------------------------------------------------------------------------------------------------------------------------ operations


@attrs.frozen
class AddLesson:
    """A new lesson with its first text. Its inverse withdraws the text and leaves no row."""

    row: LessonRow
    grain: Grain
    review_id: str | None
    action = "lesson.add"

    @property
    def lesson_id(self) -> str:
        """The new lesson's id."""
        return self.row.lesson_id

    def run(self, db: sqlite3.Connection, before: LessonRow | None, now: int) -> tuple[LessonRow, Grain | None]:
        """Refused when the lesson exists."""
        if before is not None:
            raise _conflict(self.lesson_id, 0, before.revision)
        write.add(db, self.grain)
        row = attrs.evolve(self.row, grain_hash=self.grain.hash, created_ms=now, updated_ms=now)
        lessons.put_revision(db, Revision(row.lesson_id, row.revision, self.grain.hash, row.severity.value, self.review_id, now))
        return row, self.grain


@attrs.frozen
class ReviseLesson:
    """A new text for a lesson. `base_revision` is the one it was written for: another one is a conflict. Its inverse brings the old text back."""

    row: LessonRow
    grain: Grain
    base_revision: int
    review_id: str | None
    action = "lesson.revise"

    @property
    def lesson_id(self) -> str:
        """Whose text."""
        return self.row.lesson_id

    def run(self, db: sqlite3.Connection, before: LessonRow | None, now: int) -> tuple[LessonRow, Grain | None]:
        """Refused when the lesson's revision is not the base revision."""
        if before is None or before.revision != self.base_revision:
            raise _conflict(self.lesson_id, self.base_revision, before.revision if before else 0)
        write.supersede(db, before.grain_hash, self.grain)
        row = attrs.evolve(self.row, grain_hash=self.grain.hash, created_ms=before.created_ms, updated_ms=now)
        lessons.put_revision(db, Revision(row.lesson_id, row.revision, self.grain.hash, row.severity.value, self.review_id, now))
        return row, self.grain


@attrs.frozen
class EnableLesson:
    """A disabled or candidate lesson is used (again)."""

    lesson_id: str
    action = "lesson.enable"

    def run(self, db: sqlite3.Connection, before: LessonRow | None, now: int) -> tuple[LessonRow, Grain | None]:
        """Refused when it is active or retracted."""
        return _with_status(db, self.lesson_id, before, ("disabled", "candidate"), "active", now), None


@attrs.frozen
class DisableLesson:
    """An active or candidate lesson is kept and no longer used."""

    lesson_id: str
    action = "lesson.disable"

    def run(self, db: sqlite3.Connection, before: LessonRow | None, now: int) -> tuple[LessonRow, Grain | None]:
        """Refused when it is disabled or retracted."""
        return _with_status(db, self.lesson_id, before, ("active", "candidate"), "disabled", now), None


@attrs.frozen
class PromoteLesson:
    """A project's lesson becomes global; the text stays, in the global namespace. The only way to a lesson without a project."""

    lesson_id: str
    action = "lesson.promote"

    def run(self, db: sqlite3.Connection, before: LessonRow | None, now: int) -> tuple[LessonRow, Grain | None]:
        """Refused unless `promotion_rule` finds nothing missing."""
        row = _existing(db, self.lesson_id, before)
        if row.project_id is None:
            raise ChangeError(f"lesson {called(db, self.lesson_id)} is global already", code="AFL-CHANGE-005", hint="nothing is left to do")
        if row.status != "active":
            raise ChangeError(
                f"lesson {called(db, self.lesson_id)} is {row.status}; only an active one can become global",
                code="AFL-CHANGE-005",
                hint=f"run: afl memory enable {short_id(self.lesson_id)}",
            )
        fields = lessons.fields_of(db, self.lesson_id) or {}
        gaps = promotion_rule.missing(row, fields, lessons.independent(db, row.family_id))
        if gaps:
            raise ChangeError(
                f"lesson {called(db, self.lesson_id)} cannot become global: {'; '.join(gaps)}",
                code="AFL-CHANGE-006",
                hint="wait: the sentence names what is missing",
            )
        kept = {name: value for name, value in fields.items() if name != "created_at"}
        grain = make(GrainType.LESSON, {**kept, "namespace": GLOBAL_NS, "derived_from": row.grain_hash}, now)
        write.supersede(db, row.grain_hash, grain)
        current = next(each for each in lessons.revisions(db, self.lesson_id) if each.revision == row.revision)
        lessons.put_revision(db, attrs.evolve(current, grain_hash=grain.hash))
        after = attrs.evolve(row, project_id=None, ns=GLOBAL_NS, grain_hash=grain.hash, promotion="active_global", updated_ms=now)
        return after, grain


def _existing(db: sqlite3.Connection, lesson_id: str, row: LessonRow | None) -> LessonRow:
    if row is not None:
        return row
    gone = history.retraction(db, lesson_id)
    if gone is not None:
        raise ChangeError(
            f"lesson {called(db, lesson_id)} was retracted by change {gone.change}",
            code="AFL-CHANGE-005",
            hint=f"bring it back first: afl memory undo {gone.change}",
        )
    raise ChangeError(f"there is no lesson {lesson_id}", code="AFL-CHANGE-007", hint="run: afl memory list --all")


def _with_status(
    db: sqlite3.Connection, lesson_id: str, before: LessonRow | None, allowed: tuple[str, ...], status: str, now: int
) -> LessonRow:
    row = _existing(db, lesson_id, before)
    if row.status == status:
        raise ChangeError(
            f"lesson {called(db, lesson_id)} is {status} already", code="AFL-CHANGE-005", hint="afl memory changes shows since when"
        )
    if row.status not in allowed:
        raise ChangeError(
            f"lesson {called(db, lesson_id)} is {row.status} and cannot be made {status}",
            code="AFL-CHANGE-005",
            hint="afl memory changes shows why",
        )
    return attrs.evolve(row, status=status, updated_ms=now)


def _conflict(lesson_id: str, wanted: int, found: int) -> ChangeError:
    return ChangeError(
        f"revision conflict: lesson {short_id(lesson_id)} is at revision {found}, the change was written for revision {wanted}",
        code=CONFLICT,
        hint="read the lesson again and propose the change for its current revision",
    )
