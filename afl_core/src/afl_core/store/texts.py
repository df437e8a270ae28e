"""Every column of the store that holds text: which of them hold words of a person, an agent or a model, and why the others do not. Rows in, rows out."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

import attrs


@attrs.frozen
class Column:
    """A column of words. `key`: what names a row; `is_json`: the words are the strings inside."""

    table: str
    name: str
    key: str
    is_json: bool = False


WORDS = (
    Column("events", "text", "event_id"),
    Column("events", "tool_name", "event_id"),
    Column("incidents", "quote", "incident_id"),
    Column("reports", "text", "report_id"),
    Column("receipts", "body_json", "receipt_id", is_json=True),
    Column("grains", "fields_json", "hash", is_json=True),
    Column("lessons", "class_id", "lesson_id"),
    Column("projection", "card_text", "lesson_id"),
    Column("projection", "match_json", "lesson_id", is_json=True),
    Column("deliveries", "match_json", "delivery_id", is_json=True),
    Column("effects", "corrective_action", "effect_id"),
    Column("reviews", "detail", "review_id"),
    Column("review_runs", "detail", "run_id"),
    Column("audit_texts", "text", "hash", is_json=True),
    Column("status", "body_json", "name", is_json=True),
    Column("plugin_ledger", "last_error", "plugin || ' ' || call"),
)
"""The columns that are looked through and rewritten. A reason of the audit chain is no JSON, which is found when it is read."""

COPIES = {
    "grains.tool_name": "the grain's own field beside it",
    "grains.subject": "the grain's own field beside it",
    "grains.relation": "the grain's own field beside it",
}
"""Copies of words that stand in a column of `WORDS`; they are rewritten with it."""

_IDS = "an id, a name or a code of ours or of the host's"
_HASH = "a hash"
_PLACE = "a path: the product has to find the place again"
_COUNTS = "counts, places or times"

NO_WORDS = {
    _IDS: (
        *("meta.key", "meta.value", "vault_keys.key_id", "vault_keys.purpose", "projects.project_id", "projects.kind"),
        *("sessions.session_id", "sessions.host", "sessions.native_id", "sessions.project_id"),
        *("intake.intake_id", "intake.host", "intake.event", "intake.kind", "intake.session_id", "intake.turn", "intake.source"),
        *("intake.project_id", "intake.state", "cursors.host", "cursors.session_id"),
        *("events.event_id", "events.session_id", "events.project_id", "events.kind", "events.role", "events.turn", "events.native_id"),
        *("events.parent_id", "events.call_id", "events.data_class", "events.completeness", "events.blob"),
        *("sightings.session_id", "sightings.source", "sightings.source_id", "sightings.event_id"),
        *("signals.event_id", "signals.kind", "signals.referent_id", "signals.project_id"),
        *("queue.event_id", "queue.project_id", "queue.status", "queue.review_id"),
        *("reviews.review_id", "reviews.project_id", "reviews.host", "reviews.status", "reviews.owner", "reviews.reason"),
        *("reviews.receipt_id", "reviews.report_id", "review_runs.run_id", "review_runs.review_id", "review_runs.project_id"),
        *("review_runs.reviewer", "review_runs.model", "review_runs.outcome", "receipts.receipt_id", "receipts.review_id"),
        *("reports.report_id", "reports.review_id", "incidents.project_id", "incidents.review_id", "incidents.severity"),
        *("incidents.lesson_id", "incidents.feedback_event_id", "incident_events.incident_id", "incident_events.event_id"),
        *("operations.op", "grains.type", "grains.ns", "grains.call_id", "grains.session_id", "lessons.lesson_id", "lessons.project_id"),
        *("lessons.ns", "lessons.severity", "lessons.method_class", "lessons.status", "lessons.conflict", "lessons.load_policy"),
        *("lessons.promotion", "lessons.origin_session", "lesson_revisions.lesson_id", "lesson_revisions.severity"),
        *("lesson_revisions.review_id", "family_evidence.project_id", "family_evidence.lesson_id", "family_evidence.incident_id"),
        *("projection.lesson_id", "projection.project_id", "projection.severity", "projection.conflict", "projection.load_policy"),
        *("projection.origin_session", "deliveries.delivery_id", "deliveries.lesson_id", "deliveries.session_id", "deliveries.nonce"),
        *("deliveries.state", "deliveries.intake_id", "omissions.intake_id", "omissions.lesson_id", "omissions.session_id"),
        *("omissions.reason", "effects.effect_id", "effects.lesson_id", "effects.previous_lesson_id", "effects.delivery_id"),
        *("effects.delivery_state", "effects.failure_mode", "effects.control_owner", "effects.review_id"),
        *("audit.actor", "audit.action", "audit.target", "status.name", "plugin_ledger.plugin", "plugin_ledger.call"),
        *("transcripts.host", "transcripts.session_id", "transcripts.verdict", "transcripts.problem"),
        *("worker_leases.name", "worker_leases.owner", "held_cards.project_id", "held_cards.host", "held_cards.lesson_id"),
    ),
    _HASH: (
        *("projects.lineage", "intake.text_mac", "events.text_mac", "incidents.family_id", "incidents.incident_id", "grains.hash"),
        *(
            "grains.superseded_by",
            "grains.derived_from",
            "grains.signature",
            "operations.hash",
            "operations.other",
            "operations.heads",
            "tombstones.value_hash",
            "lessons.grain_hash",
            "lessons.family_id",
        ),
        *("lesson_revisions.grain_hash", "family_evidence.family_id", "family_evidence.lineage", "projection.family_id"),
        *("audit.body_hash", "audit.reason_hash", "audit.previous", "audit.hash", "audit_texts.hash", "cursors.anchor"),
    ),
    _PLACE: (
        *("projects.root", "sessions.cwd", "sessions.transcript_path", "intake.cwd", "intake.transcript_path"),
        *("cursors.path", "transcripts.path"),
    ),
    _COUNTS: ("events.manifest_json", "cursors.state_json", "cursors.gaps_json"),
}
"""Why the other text columns are not looked through: reason -> columns."""


def of_column(db: sqlite3.Connection, column: Column) -> Iterator[tuple[str, str]]:
    """(what names the row, its text) of every row that has one."""
    statement = f"SELECT {column.key}, {column.name} FROM {column.table} WHERE {column.name} <> ''"  # noqa: S608 - names of this file
    for row in db.execute(statement):
        yield str(row[0]), str(row[1])


def has_any(db: sqlite3.Connection) -> bool:
    """Whether there is a word of a person, an agent or a model."""
    tables = ("events", "grains", "reports", "incidents", "reviews")
    return any(db.execute(f"SELECT 1 FROM {table} LIMIT 1").fetchone() is not None for table in tables)  # noqa: S608 - names of this file
