"""The shape of a receipt: JSON object in, `Receipt` out, or a refusal that names the place. Pure: what the store knows is checked elsewhere."""

from __future__ import annotations

import re

import attrs

from afl_core.model.card_text import MAX_SOURCE, MAX_SOURCES, MAX_TEXT, faults, neutral_card
from afl_core.model.lesson import (
    CONTROL_OWNERS,
    FAILURE_MODES,
    METHOD_CLASSES,
    RULE_ACTIONS,
    Card,
    Effectiveness,
    EvidenceRef,
    MinorFinding,
    ProposedLesson,
    Receipt,
    Scope,
    Severity,
)
from afl_core.review.shape import ID_CHARS, Part, refuse
from afl_core.review.substance import is_substantive

MAX_LESSONS = 8
"""Lessons of one receipt."""

REPORT_BYTES = 32 * 1024
"""Bytes of a report in UTF-8."""

CAUSE_CHARS = 500
"""Characters of each link of the causal chain."""

QUOTE_CHARS = 4_000
"""Characters of a quote."""

MIN_CAUSES = 5
"""Links of the causal chain."""

MIN_TIMELINE = 2
"""Decisions that a severe lesson recounts."""

PROJECT_CHARS = 4_096
"""Characters of a project id: it may be a path."""

DELIVERY_STATES = ("not_found", "selected", "emitted", "reached", "unconfirmed")
"""How far an earlier card came, in our words."""

OLD_DELIVERY_STATES = {"observed": "reached", "emitted_unconfirmed": "unconfirmed"}
"""Words of an earlier vocabulary that are still understood."""

_SPACES = re.compile(r"[\s_]+")


def parse_receipt(value: object) -> Receipt:
    """Check a reviewer's answer in full and give it as a `Receipt`; raises `ReviewError` (receipt_shape) with the path of what is wrong.

    Lists and texts that only some severities need may be absent; unknown members are refused.
    """
    whole = Part.of(value, "")
    whole.only("write_complete", "review_receipt_id", "report_content_id", "report_content", "status", "lessons", "minor_findings")
    if whole.value.get("write_complete") is not True:
        raise refuse("write_complete", "must be true")
    report = _report(whole)
    status = whole.choice("status", ("reviewed", "reviewed_no_lesson"))
    if "lessons" not in whole.value:
        raise refuse("lessons", "missing")
    lessons = whole.each("lessons", _lesson, most=MAX_LESSONS)
    if (status == "reviewed") != bool(lessons):
        raise refuse("status", f"is {status}, but there {'is a lesson' if lessons else 'is no lesson'}")
    _all_different(lessons)
    return Receipt(
        review_receipt_id=whole.text("review_receipt_id", ID_CHARS),
        report_content_id=whole.text("report_content_id", ID_CHARS),
        report_content=report,
        status=status,
        lessons=lessons,
        minor_findings=whole.each("minor_findings", _minor_finding),
        raw=dict(whole.value),
    )


def _report(whole: Part) -> str:
    report = whole.text("report_content", REPORT_BYTES)
    size = len(report.encode("utf-8"))
    if size > REPORT_BYTES:
        raise refuse("report_content", f"must have at most {REPORT_BYTES} bytes, has {size}")
    if not is_substantive(report):
        raise refuse("report_content", "says too little: a report of at least one whole sentence is needed")
    return report


def _all_different(lessons: tuple[ProposedLesson, ...]) -> None:
    ids: set[str] = set()
    families: set[tuple[str, str]] = set()
    for index, lesson in enumerate(lessons):
        family = (lesson.method_class, lesson.class_id)
        if lesson.lesson_id in ids:
            raise refuse(f"lessons[{index}].lesson_id", "is used twice")
        if family in families:
            raise refuse(f"lessons[{index}].class_id", "another lesson of this receipt has the same family; make them one")
        ids.add(lesson.lesson_id)
        families.add(family)


def _lesson(value: object, path: str) -> ProposedLesson:
    part = Part.of(value, path)
    part.only(
        *("lesson_id", "revision", "base_revision", "project_id", "severity", "responsibility", "confidence", "causal_chain"),
        *("method_class", "class_id", "generalizable", "rule_action", "evidence_refs", "scope", "card", "decision_timeline"),
        *("counterfactual_checkpoint", "impact_scope", "stop_condition", "rollback_or_isolation", "global_promotion_evidence"),
        "effectiveness",
    )
    severity = _severity(part)
    method_class, class_id = _family(part)
    lesson = ProposedLesson(
        lesson_id=part.text("lesson_id", ID_CHARS),
        revision=part.number("revision", 1),
        base_revision=part.number("base_revision", 0),
        severity=severity,
        responsibility=part.choice("responsibility", ("agent_fault",)),
        confidence=part.choice("confidence", ("medium", "high")),
        causal_chain=part.texts("causal_chain", least=MIN_CAUSES, limit=CAUSE_CHARS),
        method_class=method_class,
        class_id=class_id,
        generalizable=part.flag("generalizable"),
        rule_action=part.choice("rule_action", RULE_ACTIONS, default="none"),
        evidence_refs=part.each("evidence_refs", _evidence_ref, least=1),
        scope=_scope(part),
        card=_card(part),
        decision_timeline=part.texts("decision_timeline"),
        counterfactual_checkpoint=part.text_or_none("counterfactual_checkpoint"),
        impact_scope=part.text_or_none("impact_scope"),
        stop_condition=part.text_or_none("stop_condition"),
        rollback_or_isolation=part.text_or_none("rollback_or_isolation"),
        global_promotion_evidence=part.texts("global_promotion_evidence"),
        effectiveness=_effectiveness(part.value["effectiveness"], part.at("effectiveness")) if part.has("effectiveness") else None,
        project_id=part.text_or_none("project_id", PROJECT_CHARS),
    )
    _depth(lesson, part)
    return lesson


def _severity(part: Part) -> Severity:
    word = part.choice("severity", tuple(severity.value for severity in Severity))
    if word == Severity.MINOR.value:
        raise refuse(part.at("severity"), "Minor is not a lesson; report it in minor_findings")
    return Severity(word)


def _depth(lesson: ProposedLesson, part: Part) -> None:
    """What a severity must be argued with, by fields and not by the number of words."""
    if lesson.severity is Severity.MAJOR:
        return
    if len(lesson.decision_timeline) < MIN_TIMELINE:
        raise refuse(part.at("decision_timeline"), f"{lesson.severity.value} needs at least {MIN_TIMELINE} decisions")
    needed = ["counterfactual_checkpoint"]
    if lesson.severity is Severity.BLOCKER:
        needed += ["impact_scope", "stop_condition", "rollback_or_isolation"]
        if not part.has("global_promotion_evidence"):
            raise refuse(part.at("global_promotion_evidence"), "Blocker needs this list; it may be empty")
    for name in needed:
        if getattr(lesson, name) is None:
            raise refuse(part.at(name), f"{lesson.severity.value} needs this")


def _family(part: Part) -> tuple[str, str]:
    """The family in one spelling: the same fault named `Claim without evidence` and `claim_without_evidence` is one family."""
    class_id = _SPACES.sub("-", part.text("class_id", ID_CHARS)).strip("-").casefold()
    if not class_id:
        raise refuse(part.at("class_id"), "empty")
    return part.choice("method_class", METHOD_CLASSES), class_id


def _evidence_ref(value: object, path: str) -> EvidenceRef:
    part = Part.of(value, path)
    part.only("feedback_event_id", "feedback_quote", "referent_event_ids", "referent_quote")
    return EvidenceRef(
        feedback_event_id=part.text("feedback_event_id", ID_CHARS),
        feedback_quote=part.text("feedback_quote", QUOTE_CHARS),
        referent_event_ids=part.texts("referent_event_ids", least=1, limit=ID_CHARS),
        referent_quote=part.text_or_empty("referent_quote", QUOTE_CHARS),
    )


def _minor_finding(value: object, path: str) -> MinorFinding:
    part = Part.of(value, path)
    part.only("method_class", "class_id", "feedback_event_id", "feedback_quote", "referent_event_ids")
    method_class, class_id = _family(part)
    return MinorFinding(
        method_class=method_class,
        class_id=class_id,
        feedback_event_id=part.text("feedback_event_id", ID_CHARS),
        feedback_quote=part.text("feedback_quote", QUOTE_CHARS),
        referent_event_ids=part.texts("referent_event_ids", least=1, limit=ID_CHARS),
    )


def _scope(lesson: Part) -> Scope:
    if not lesson.has("scope"):
        return Scope()
    part = Part.of(lesson.value["scope"], lesson.at("scope"))
    part.only("repository_lineage_id", "paths", "tools", "task_types", "signals")
    return Scope(
        paths=part.texts("paths", limit=ID_CHARS),
        tools=part.texts("tools", limit=ID_CHARS),
        task_types=part.texts("task_types", limit=ID_CHARS),
        signals=part.texts("signals", limit=ID_CHARS),
        repository_lineage_id=part.text_or_none("repository_lineage_id", ID_CHARS),
    )


def _card(lesson: Part) -> Card:
    if not lesson.has("card"):
        raise refuse(lesson.at("card"), "missing")
    part = Part.of(lesson.value["card"], lesson.at("card"))
    part.only("when", "must_do", "must_not", "verify", "why", "exception", "source_ids", "verify_predicate", "gate_predicate")
    card = Card(
        when=part.text("when", MAX_TEXT),
        must_do=part.text("must_do", MAX_TEXT),
        must_not=part.text("must_not", MAX_TEXT),
        verify=part.text("verify", MAX_TEXT),
        why=part.text("why", MAX_TEXT),
        exception=part.text("exception", MAX_TEXT),
        source_ids=part.texts("source_ids", least=1, most=MAX_SOURCES, limit=MAX_SOURCE),
        verify_predicate=part.text_or_none("verify_predicate", MAX_TEXT),
        gate_predicate=part.text_or_none("gate_predicate", MAX_TEXT),
    )
    # What is left of it once it is harmless must still be a card that can be given to an agent.
    if found := faults(neutral_card(attrs.asdict(card))):
        raise refuse(lesson.path, found[0])
    return card


def _effectiveness(value: object, path: str) -> Effectiveness:
    part = Part.of(value, path)
    part.only(
        *("previous_lesson_id", "expected_revision", "application_id", "delivery_state", "was_applicable", "was_followed"),
        *("failure_mode", "control_owner", "corrective_action"),
    )
    state = part.choice("delivery_state", (*DELIVERY_STATES, *OLD_DELIVERY_STATES))
    return Effectiveness(
        previous_lesson_id=part.text("previous_lesson_id", ID_CHARS),
        expected_revision=part.number("expected_revision", 0),
        application_id=part.text_or_none("application_id", ID_CHARS),
        delivery_state=OLD_DELIVERY_STATES.get(state, state),
        was_applicable=part.flag("was_applicable"),
        was_followed=part.flag("was_followed") if part.has("was_followed") else None,
        failure_mode=part.choice("failure_mode", FAILURE_MODES),
        control_owner=part.choice("control_owner", CONTROL_OWNERS),
        corrective_action=part.text("corrective_action"),
    )
