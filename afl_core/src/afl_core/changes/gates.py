"""The gates: a change is proposed, decided by somebody with a name, and applied, each a row of the audit chain. All in the caller's transaction.

`decide_lesson` is the way of a reviewed lesson; `switch` and `undo` are a person's. Nothing else applies an operation.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from typing import Any, NoReturn

import attrs

from afl_core.changes import audit, promotion_rule
from afl_core.changes.history import UNDO, body_of
from afl_core.changes.naming import called
from afl_core.changes.operations import (
    CONFLICT,
    AddLesson,
    Applied,
    DisableLesson,
    EnableLesson,
    Inverse,
    LessonProposal,
    Operation,
    PromoteLesson,
    ReviseLesson,
    apply,
    image,
)
from afl_core.changes.operations import undo as run_inverse
from afl_core.model.card_text import MAX_SOURCE, faults, neutral, neutral_card, scope_faults, short_id
from afl_core.model.errors import ChangeError
from afl_core.model.grain import Grain, GrainType, make
from afl_core.model.lesson import LessonRow, Severity, project_ns
from afl_core.settings.schema import Policy
from afl_core.store import audit as audit_rows
from afl_core.store import lessons
from afl_core.store.audit import AuditRow
from afl_core.store.lessons import FamilyEvidence

POLICY_ACTOR = "policy:lessons"
_CORRECT = "correct what the sentence names"


@attrs.frozen
class Decision:
    """What became of a proposal. `status`: of the lesson now; `audit`: the rows of the chain, the apply last; `promoted`: global through this."""

    lesson_id: str
    revision: int
    grain_hash: str
    status: str
    promoted: bool
    audit: tuple[int, ...]
    """Numbers of the audit rows: propose, approve, apply and, when there was one, the promotion."""


def decide_lesson(db: sqlite3.Connection, *, proposal: LessonProposal, actor: str, policy: Policy, now: int) -> Decision:
    """Propose, review and apply one lesson under the policy. Raises `ChangeError` and leaves the rollback to the caller's transaction.

    AFL-CHANGE-002 revision conflict · 003 over the limits of a card, scope or id · 004 another project's lesson · 005 its status forbids it ·
    008 unknown policy. A lesson a person disabled takes the new text and stays disabled.
    """
    if policy.lessons != "auto":
        raise ChangeError(f"policy lessons = {policy.lessons} is not known", code="AFL-CHANGE-008", hint="set it to auto")
    before = lessons.get(db, proposal.lesson_id)
    _check(proposal, before)
    operation = _operation(proposal, before, now)
    target = proposal.lesson_id
    body = {
        "base_revision": proposal.base_revision,
        "family_id": proposal.family_id,
        "grain": operation.grain.hash,
        "incident_id": proposal.incident_id,
        "operation": operation.action,
        "review_id": proposal.review_id,
        "severity": proposal.severity.value,
    }
    proposed = audit.record(db, actor=actor, action="lesson.propose", target=target, body=body, reason="", now=now)
    approval = {"proposal": proposed.hash, "policy": {"lessons": policy.lessons}}
    approved = audit.record(
        db, actor=POLICY_ACTOR, action="lesson.approve", target=target, body=approval, reason=f"lessons = {policy.lessons}", now=now
    )
    applied = _apply(db, operation, actor=actor, reason="", now=now)
    chain = [proposed.n, approved.n, applied]
    if proposal.lineage is not None:
        lessons.put_evidence(
            db, FamilyEvidence(proposal.family_id, proposal.lineage, proposal.project_id, target, proposal.incident_id, now)
        )
    promotion = _promote_if_due(db, target, now)
    row = lessons.get(db, target)
    if row is None:
        raise ChangeError(f"lesson {short_id(target)} vanished while it was written", code="AFL-CHANGE-007", hint="run: afl doctor")
    return Decision(target, row.revision, row.grain_hash, row.status, promotion is not None, (*chain, *([promotion] if promotion else [])))


def switch(db: sqlite3.Connection, *, lesson_id: str, on: bool, actor: str, reason: str, now: int) -> int:
    """A person enables or disables a lesson; gives the number of the audit row."""
    return _apply(db, EnableLesson(lesson_id) if on else DisableLesson(lesson_id), actor=actor, reason=reason, now=now)


def promote(db: sqlite3.Connection, *, lesson_id: str, actor: str, reason: str, now: int) -> int:
    """A person asks for a lesson to become global; the rule is the same as for the policy. Gives the number of the audit row."""
    return _apply(db, PromoteLesson(lesson_id), actor=actor, reason=reason, now=now)


def undo(db: sqlite3.Connection, *, n: int, actor: str, reason: str, now: int) -> int:
    """Undo the change of audit row `n`; gives the number of the new row, by which this undo can be undone in turn (that does it again).

    Refused when memory is no longer as that change left it.
    """
    row = audit_rows.get(db, n)
    if row is None:
        raise ChangeError(f"there is no change {n}", code="AFL-CHANGE-007", hint="run: afl memory changes")
    body = body_of(db, row)
    if body is None:
        raise ChangeError(
            f"how to undo change {n} was erased", code="AFL-CHANGE-009", hint="afl memory disable and afl memory enable still work"
        )
    if "inverse" not in body:
        raise ChangeError(
            f"row {n} ({row.action}) changed nothing that could be undone",
            code="AFL-CHANGE-009",
            hint="choose another change in: afl memory changes",
        )
    before = body["post_image"]
    if image(db, row.target) != before:
        _refuse_overtaken(db, row, before)
    inverse = run_inverse(db, Inverse(**body["inverse"]))
    after = image(db, row.target)
    if after != body["pre_image"]:
        raise ChangeError(f"undoing change {n} did not bring back what was there before it", code="AFL-CHANGE-009", hint="run: afl doctor")
    done = Applied(UNDO, row.target, None if inverse.again else inverse.grain, before, after, inverse)
    record = {**done.body(), "undone": row.hash, "undone_n": n}
    return audit.record(db, actor=actor, action=UNDO, target=row.target, body=record, reason=reason, now=now).n


def _refuse_overtaken(db: sqlite3.Connection, row: AuditRow, wanted: str) -> NoReturn:
    """Say which later changes keep `row` from being undone: the fewest that lead back to where memory was as that change left it."""
    later = [(each, body) for each in audit_rows.rows(db, target=row.target, after=row.n) if "inverse" in (body := body_of(db, each) or {})]
    at = image(db, row.target)
    in_the_way: list[str] = []
    while at != wanted:
        # What was changed and undone again is stepped over: the first change that led here is the one to undo.
        found = next(((each, body) for each, body in later if body["post_image"] == at), None)
        if found is None:
            break
        each, body = found
        if not in_the_way and body.get("undone_n") == row.n:
            raise ChangeError(
                f"change {row.n} is undone already, by change {each.n}",
                code="AFL-CHANGE-009",
                hint=f"to bring back what it did: afl memory undo {each.n}",
            )
        in_the_way.insert(0, f"{each.n} ({each.action})")
        at, later = body["pre_image"], [pair for pair in later if pair[0].n < each.n]
    raise ChangeError(
        f"change {row.n} cannot be undone, lesson {called(db, row.target)} was changed after it:"
        f" {', '.join(in_the_way) or 'a change outside of the chain'}",
        code="AFL-CHANGE-009",
        hint="undo those first, the newest first",
    )


def _apply(db: sqlite3.Connection, operation: Operation, *, actor: str, reason: str, now: int) -> int:
    done: Applied = apply(db, operation, now)
    return audit.record(db, actor=actor, action=done.action, target=done.lesson_id, body=done.body(), reason=reason, now=now).n


def _promote_if_due(db: sqlite3.Connection, lesson_id: str, now: int) -> int | None:
    row = lessons.get(db, lesson_id)
    if row is None or row.project_id is None or row.status != "active":
        return None
    lineages, incidents = lessons.independent(db, row.family_id)
    if promotion_rule.missing(row, lessons.fields_of(db, lesson_id) or {}, (lineages, incidents)):
        return None
    reason = f"seen in {lineages} independent code bases and {incidents} incidents"
    return _apply(db, PromoteLesson(lesson_id), actor=POLICY_ACTOR, reason=reason, now=now)


def _check(proposal: LessonProposal, before: LessonRow | None) -> None:
    if proposal.severity is Severity.MINOR:
        raise ChangeError("a Minor finding is counted and never becomes a lesson", code="AFL-CHANGE-003", hint=_CORRECT)
    if not 1 <= len(proposal.lesson_id) <= MAX_SOURCE or neutral(proposal.lesson_id) != proposal.lesson_id:
        raise ChangeError(f"a lesson's id is one line of at most {MAX_SOURCE} plain characters", code="AFL-CHANGE-003", hint=_CORRECT)
    found = faults(neutral_card(attrs.asdict(proposal.card))) + scope_faults(attrs.asdict(proposal.scope))
    if found:
        raise ChangeError(
            f"lesson {short_id(proposal.lesson_id)} is not acceptable: {'; '.join(found)}", code="AFL-CHANGE-003", hint=_CORRECT
        )
    if not proposal.project_id:
        raise ChangeError(f"lesson {short_id(proposal.lesson_id)} names no project", code="AFL-CHANGE-004", hint=_CORRECT)
    if before is None:
        return
    if before.project_id not in (None, proposal.project_id):
        raise ChangeError(
            f"lesson {short_id(proposal.lesson_id)} belongs to another project", code="AFL-CHANGE-004", hint="use a new lesson id"
        )
    if before.status == "retracted":
        raise ChangeError(f"lesson {short_id(proposal.lesson_id)} was retracted", code="AFL-CHANGE-005", hint="use a new lesson id")


def _operation(proposal: LessonProposal, before: LessonRow | None, now: int) -> AddLesson | ReviseLesson:
    ns = before.ns if before else project_ns(proposal.project_id)
    revision = proposal.base_revision + 1
    grain = _grain(proposal, ns, revision, now)
    fields: Mapping[str, Any] = {
        "grain_hash": grain.hash,
        "revision": revision,
        "severity": proposal.severity,
        "family_id": proposal.family_id,
        "method_class": proposal.method_class,
        "class_id": proposal.class_id,
        "generalizable": proposal.generalizable,
        "origin_session": proposal.origin_session,
        "updated_ms": now,
    }
    if proposal.base_revision == 0:
        row = LessonRow(
            lesson_id=proposal.lesson_id,
            project_id=proposal.project_id,
            ns=ns,
            status="active",
            conflict="none",
            load_policy="conditional",
            promotion="project",
            recurrence=1,
            created_ms=now,
            **fields,
        )
        return AddLesson(row, grain, proposal.review_id)
    if before is None or before.revision != proposal.base_revision:
        found = before.revision if before else 0
        raise ChangeError(
            f"revision conflict: lesson {short_id(proposal.lesson_id)} is at revision {found}, the proposal was written for revision {proposal.base_revision}",
            code=CONFLICT,
            hint="review the evidence again against the current lesson",
        )
    status = "active" if before.status == "candidate" else before.status
    row = attrs.evolve(before, status=status, recurrence=before.recurrence + 1, **fields)
    return ReviseLesson(row, grain, proposal.base_revision, proposal.review_id)


def _grain(proposal: LessonProposal, ns: str, revision: int, now: int) -> Grain:
    """The text. Only the card reaches agents, so only the card is made neutral; what is evidence stays byte for byte."""
    return make(
        GrainType.LESSON,
        {
            **proposal.extra,
            "namespace": ns,
            "lesson_id": proposal.lesson_id,
            "revision": revision,
            "severity": proposal.severity.value,
            "method_class": proposal.method_class,
            "class_id": proposal.class_id,
            "family_id": proposal.family_id,
            "project_id": proposal.project_id,
            "scope": attrs.asdict(proposal.scope),
            "card": neutral_card(attrs.asdict(proposal.card)),
            "responsibility": proposal.responsibility,
            "confidence": proposal.confidence,
            "generalizable": proposal.generalizable,
            "causal_chain": list(proposal.causal_chain),
            "rule_action": proposal.rule_action,
            "global_promotion_evidence": list(proposal.global_promotion_evidence),
            "evidence": [attrs.asdict(reference) for reference in proposal.evidence],
            "report_id": proposal.report_id,
            "review_id": proposal.review_id,
            "incident_id": proposal.incident_id,
        },
        now,
    )
