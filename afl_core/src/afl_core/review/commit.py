"""The one transaction that ends a review well: report, incidents, lessons, effects, receipt, acknowledged words and audit, or nothing at all."""

from __future__ import annotations

import sqlite3

import attrs

from afl_core.changes import audit
from afl_core.changes.gates import Decision, decide_lesson
from afl_core.changes.operations import CONFLICT, LessonProposal
from afl_core.lessons.families import family_id
from afl_core.model.clock import Clock
from afl_core.model.codec import canonical
from afl_core.model.errors import ChangeError, ReviewError
from afl_core.model.ids import digest
from afl_core.model.lesson import EvidenceRef, MinorFinding, ProposedLesson, Receipt, Severity
from afl_core.review import evidence as evidences
from afl_core.review import queue
from afl_core.review.due import Lease
from afl_core.review.evidence import Evidence, time_of
from afl_core.review.recurrence import Settled, settle
from afl_core.settings.schema import Policy
from afl_core.store import receipts as receipt_rows
from afl_core.store import reviews as review_rows
from afl_core.store import spend as spend_rows
from afl_core.store.connection import writing
from afl_core.store.receipts import Incident
from afl_core.store.spend import Run

ACTION = "review.commit"
"""The audit chain's word for a committed review."""


@attrs.frozen
class Committed:
    """What a review became."""

    receipt_id: str
    report_id: str
    decisions: tuple[Decision, ...]
    minor_findings: int


def incident_fingerprint(project_id: str, event_ids: tuple[str, ...]) -> str:
    """64 hex digits: SHA-256 over `incident:v1`, the project (`_` for none) and the sorted, different event ids, joined by NUL."""
    return digest("incident:v1", project_id or "_", *sorted(set(event_ids)))


def incident_id(fingerprint: str, family_id: str) -> str:
    """64 hex digits: an incident is one fault on one piece of evidence, and the same words may prove faults of several families."""
    return digest("incident-of-family:v1", fingerprint, family_id)


def commit_review(
    db: sqlite3.Connection, *, lease: Lease, receipt: Receipt, run: Run, policy: Policy, actor: str, clock: Clock
) -> Committed:
    """Check a receipt against the store and write everything it leads to, durably. `receipt` is redacted; `run` is the ended run.

    Raises `ReviewError` with the reason code of what does not hold (evidence, recurrence, revision, project, change, lost lease); then
    nothing was written.
    """
    with writing(db, durable=True):
        now = clock()
        queue.held(db, lease, now)
        _check_projects(receipt, lease.project_id)
        cited = evidences.citations(receipt)
        known = evidences.gather(db, lease.review_id, lease.project_id, cited)
        for citation in cited:
            evidences.check(known, citation)
        receipt_id, report_id = digest("receipt:v1", lease.review_id)[:32], digest("report:v1", lease.review_id)[:32]
        desk = _Desk(lease, known, receipt_id, report_id, policy, actor, now)
        receipt_rows.insert_report(db, report_id, lease.review_id, receipt.report_content, now)
        decisions = tuple(_write_lesson(db, lesson, f"lessons[{number}]", desk) for number, lesson in enumerate(receipt.lessons))
        for finding in receipt.minor_findings:
            _write_minor(db, finding, lease, now)
        receipt_rows.insert_receipt(db, receipt_id, lease.review_id, _body(receipt), now)
        spend_rows.finish(db, run)
        queue.complete(db, lease, receipt_id, report_id, now)
        body = {
            "receipt": digest("receipt", _body(receipt)),
            "report": digest("report", receipt.report_content),
            "status": receipt.status,
            "lessons": [decision.lesson_id for decision in decisions],
            "minor_findings": len(receipt.minor_findings),
        }
        audit.record(db, actor=actor, action=ACTION, target=lease.review_id, body=body, reason="", now=now)
        return Committed(receipt_id, report_id, decisions, len(receipt.minor_findings))


@attrs.frozen
class _Desk:
    """What every write of one commit needs."""

    lease: Lease
    known: Evidence
    receipt_id: str
    report_id: str
    policy: Policy
    actor: str
    now: int


def _body(receipt: Receipt) -> str:
    """The receipt as it is kept: the report has a row of its own."""
    return canonical({name: value for name, value in receipt.raw.items() if name != "report_content"})


def _check_projects(receipt: Receipt, project_id: str) -> None:
    for number, lesson in enumerate(receipt.lessons):
        if lesson.project_id not in (None, project_id):
            problem = f"lessons[{number}].project_id: is not the project under review"
            raise ReviewError(problem, reason="receipt_project", code="AFL-REVIEW-014")


def _write_lesson(db: sqlite3.Connection, lesson: ProposedLesson, path: str, desk: _Desk) -> Decision:
    lease, now = desk.lease, desk.now
    complaint = desk.known.events[lesson.evidence_refs[0].feedback_event_id]
    settled = settle(
        db,
        lesson,
        path=path,
        review_id=lease.review_id,
        project_id=lease.project_id,
        session_id=complaint.session_id,
        complaint_ms=time_of(complaint),
    )
    event_ids = _event_ids(lesson.evidence_refs)
    incident = Incident(
        incident_id=incident_id(incident_fingerprint(lease.project_id, event_ids), settled.family_id),
        project_id=lease.project_id,
        review_id=lease.review_id,
        severity=lesson.severity,
        family_id=settled.family_id,
        lesson_id=settled.lesson_id,
        feedback_event_id=complaint.event_id,
        quote=lesson.evidence_refs[0].feedback_quote,
        event_ids=event_ids,
        created_ms=now,
    )
    receipt_rows.insert_incident(db, incident)
    proposal = _proposal(db, lesson, settled, desk, incident)
    try:
        decision = decide_lesson(db, proposal=proposal, actor=desk.actor, policy=desk.policy, now=now)
    except ChangeError as bad:
        reason = "receipt_revision" if bad.code == CONFLICT else "receipt_change"
        raise ReviewError(f"{path}: {bad.sentence}", reason=reason, code="AFL-REVIEW-015") from bad
    if settled.effect is not None:
        effect_id = digest("effect:v1", lease.review_id, settled.lesson_id)[:32]
        receipt_rows.insert_effect(db, effect_id, settled.lesson_id, settled.effect, lease.review_id, now)
    return decision


def _proposal(db: sqlite3.Connection, lesson: ProposedLesson, settled: Settled, desk: _Desk, incident: Incident) -> LessonProposal:
    lease = desk.lease
    extra = {
        "decision_timeline": list(lesson.decision_timeline),
        "counterfactual_checkpoint": lesson.counterfactual_checkpoint,
        "impact_scope": lesson.impact_scope,
        "stop_condition": lesson.stop_condition,
        "rollback_or_isolation": lesson.rollback_or_isolation,
    }
    lineage = review_rows.project_lineage(db, lease.project_id)
    return LessonProposal(
        lesson_id=settled.lesson_id,
        project_id=lease.project_id,
        base_revision=settled.base_revision,
        severity=lesson.severity,
        family_id=settled.family_id,
        method_class=settled.method_class,
        class_id=settled.class_id,
        scope=attrs.evolve(lesson.scope, repository_lineage_id=lineage if lesson.scope.repository_lineage_id else None),
        card=lesson.card,
        generalizable=lesson.generalizable,
        responsibility=lesson.responsibility,
        confidence=lesson.confidence,
        causal_chain=lesson.causal_chain,
        extra={name: value for name, value in extra.items() if value},
        evidence=lesson.evidence_refs,
        report_id=desk.report_id,
        review_id=lease.review_id,
        origin_session=desk.known.events[incident.feedback_event_id].session_id,
        lineage=lineage,
        incident_id=incident.incident_id,
        rule_action=lesson.rule_action,
        global_promotion_evidence=lesson.global_promotion_evidence,
    )


def _write_minor(db: sqlite3.Connection, finding: MinorFinding, lease: Lease, now: int) -> None:
    family = family_id(finding.method_class, finding.class_id)
    event_ids = (finding.feedback_event_id, *finding.referent_event_ids)
    # With the family in it: one complaint may prove several small faults, and a lesson may rest on the same words.
    fingerprint = digest("minor:v1", lease.project_id, family, *sorted(set(event_ids)))
    receipt_rows.insert_incident(
        db,
        Incident(
            incident_id=fingerprint,
            project_id=lease.project_id,
            review_id=lease.review_id,
            severity=Severity.MINOR,
            family_id=family,
            lesson_id=None,
            feedback_event_id=finding.feedback_event_id,
            quote=finding.feedback_quote,
            event_ids=tuple(sorted(set(event_ids))),
            created_ms=now,
        ),
    )


def _event_ids(refs: tuple[EvidenceRef, ...]) -> tuple[str, ...]:
    return tuple(sorted({event_id for ref in refs for event_id in (ref.feedback_event_id, *ref.referent_event_ids)}))
