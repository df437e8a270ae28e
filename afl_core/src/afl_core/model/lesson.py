"""A lesson and its card: the nouns of the feedback loop's result. The text is a grain; what changes without a new text lives in rows."""

from __future__ import annotations

import enum
from typing import Any

import attrs


class Severity(enum.Enum):
    """By consequence, recurrence, reversibility, scope and escape. Minor findings are counted, never lessons."""

    MINOR = "Minor"
    MAJOR = "Major"
    CRITICAL = "Critical"
    BLOCKER = "Blocker"

    @property
    def rank(self) -> int:
        """0 for Blocker, 3 for Minor: the order of selection."""
        return ("Blocker", "Critical", "Major", "Minor").index(self.value)


METHOD_CLASSES = (
    "evidence-premise",
    "requirements-scope",
    "execution-order",
    "verification-closure",
    "state-context",
    "resource-lifecycle",
    "communication-handoff",
    "learning-retrieval",
    "safety-irreversible",
)
FAILURE_MODES = (
    "not_materialized",
    "not_selected",
    "delivery_unconfirmed",
    "loaded_not_applied",
    "contract_incomplete",
    "external_limit",
    "unknown",
)
CONTROL_OWNERS = (
    "capture_adapter",
    "reviewer_runner",
    "reviewer",
    "store",
    "compiler",
    "selector",
    "delivery_adapter",
    "agent_execution",
    "lesson_contract",
    "external",
    "unknown",
)
RULE_ACTIONS = ("none", "update_project_rule", "propose_global_rule")

GLOBAL_NS = "global"


def project_ns(project_id: str) -> str:
    """The grain namespace of a project."""
    return f"project:{project_id}"


@attrs.frozen
class Card:
    """The six texts an agent is given, and what proves them."""

    when: str
    must_do: str
    must_not: str
    verify: str
    why: str
    exception: str
    source_ids: tuple[str, ...]
    verify_predicate: str | None = None
    gate_predicate: str | None = None


@attrs.frozen
class Scope:
    """Where a lesson applies. An empty dimension says nothing; an unknown value in a task does not exclude."""

    paths: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    task_types: tuple[str, ...] = ()
    signals: tuple[str, ...] = ()
    repository_lineage_id: str | None = None


@attrs.frozen
class EvidenceRef:
    """One complaint (exact quote of redacted text) and the earlier assistant events it points at."""

    feedback_event_id: str
    feedback_quote: str
    referent_event_ids: tuple[str, ...]
    referent_quote: str = ""


@attrs.frozen
class Effectiveness:
    """The reviewer's account of why an earlier lesson of the family did not prevent this."""

    previous_lesson_id: str
    expected_revision: int
    application_id: str | None
    delivery_state: str
    was_applicable: bool
    was_followed: bool | None
    failure_mode: str
    control_owner: str
    corrective_action: str


@attrs.frozen
class ProposedLesson:
    """A lesson as a receipt proposes it. `base_revision` 0: new."""

    lesson_id: str
    revision: int
    base_revision: int
    severity: Severity
    responsibility: str
    confidence: str
    causal_chain: tuple[str, ...]
    method_class: str
    class_id: str
    generalizable: bool
    rule_action: str
    evidence_refs: tuple[EvidenceRef, ...]
    scope: Scope
    card: Card
    decision_timeline: tuple[str, ...] = ()
    counterfactual_checkpoint: str | None = None
    impact_scope: str | None = None
    stop_condition: str | None = None
    rollback_or_isolation: str | None = None
    global_promotion_evidence: tuple[str, ...] = ()
    effectiveness: Effectiveness | None = None
    project_id: str | None = None


@attrs.frozen
class MinorFinding:
    """A proven small fault: counted per family, never selectable."""

    method_class: str
    class_id: str
    feedback_event_id: str
    feedback_quote: str
    referent_event_ids: tuple[str, ...]


@attrs.frozen
class Receipt:
    """The reviewer's structured answer, in shape but not yet checked against the store. `raw` is the JSON object it came from."""

    review_receipt_id: str
    report_content_id: str
    report_content: str
    status: str
    lessons: tuple[ProposedLesson, ...]
    minor_findings: tuple[MinorFinding, ...] = ()
    raw: dict[str, Any] = attrs.field(factory=dict, eq=False, repr=False)


@attrs.frozen
class LessonRow:
    """One row of `lessons`."""

    lesson_id: str
    project_id: str | None
    ns: str
    grain_hash: str
    revision: int
    severity: Severity
    family_id: str
    method_class: str
    class_id: str
    status: str
    conflict: str
    load_policy: str
    promotion: str
    generalizable: bool
    recurrence: int
    origin_session: str
    created_ms: int
    updated_ms: int
