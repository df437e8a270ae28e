"""What a committed review leaves: receipt, report, incidents and effects. Rows in, rows out. Writers take an open transaction."""

from __future__ import annotations

import sqlite3

import attrs

from afl_core.model.lesson import Effectiveness, Severity


@attrs.frozen
class Incident:
    """One row of `incidents` with its events. `lesson_id` None: a minor finding; `quote` is exact and redacted."""

    incident_id: str
    project_id: str
    review_id: str
    severity: Severity
    family_id: str
    lesson_id: str | None
    feedback_event_id: str
    quote: str
    event_ids: tuple[str, ...]
    created_ms: int


@attrs.frozen
class Trend:
    """How often a small fault of one family was proven. Times in ms since the epoch."""

    family_id: str
    count: int
    first_ms: int
    last_ms: int


def insert_receipt(db: sqlite3.Connection, receipt_id: str, review_id: str, body_json: str, now: int) -> None:
    """Store a redacted receipt."""
    db.execute(
        "INSERT INTO receipts (receipt_id, review_id, body_json, created_ms) VALUES (?, ?, ?, ?)", (receipt_id, review_id, body_json, now)
    )


def insert_report(db: sqlite3.Connection, report_id: str, review_id: str, text: str, now: int) -> None:
    """Store a redacted report."""
    db.execute("INSERT INTO reports (report_id, review_id, text, created_ms) VALUES (?, ?, ?, ?)", (report_id, review_id, text, now))


def receipt_body(db: sqlite3.Connection, receipt_id: str) -> str | None:
    """A stored receipt as canonical JSON."""
    row = db.execute("SELECT body_json FROM receipts WHERE receipt_id = ?", (receipt_id,)).fetchone()
    return None if row is None else str(row[0])


def report_text(db: sqlite3.Connection, report_id: str) -> str | None:
    """A stored report."""
    row = db.execute("SELECT text FROM reports WHERE report_id = ?", (report_id,)).fetchone()
    return None if row is None else str(row[0])


def insert_incident(db: sqlite3.Connection, incident: Incident) -> bool:
    """Store an incident with its events; False when it was there before, and stays as it was."""
    added = db.execute(
        "INSERT OR IGNORE INTO incidents (incident_id, project_id, review_id, severity, family_id, lesson_id, feedback_event_id, quote, created_ms)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            incident.incident_id,
            incident.project_id,
            incident.review_id,
            incident.severity.value,
            incident.family_id,
            incident.lesson_id,
            incident.feedback_event_id,
            incident.quote,
            incident.created_ms,
        ),
    ).rowcount
    rows = [(incident.incident_id, event_id) for event_id in incident.event_ids]
    db.executemany("INSERT OR IGNORE INTO incident_events (incident_id, event_id) VALUES (?, ?)", rows)
    return added == 1


def insert_effect(db: sqlite3.Connection, effect_id: str, lesson_id: str, effect: Effectiveness, review_id: str, now: int) -> None:
    """Store why an earlier lesson did not prevent what `lesson_id` is about; the same effect of the same review is stored once."""
    db.execute(
        "INSERT OR IGNORE INTO effects (effect_id, lesson_id, previous_lesson_id, expected_revision, delivery_id, delivery_state, was_applicable,"
        " was_followed, failure_mode, control_owner, corrective_action, review_id, created_ms) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            effect_id,
            lesson_id,
            effect.previous_lesson_id,
            effect.expected_revision,
            effect.application_id,
            effect.delivery_state,
            int(effect.was_applicable),
            None if effect.was_followed is None else int(effect.was_followed),
            effect.failure_mode,
            effect.control_owner,
            effect.corrective_action,
            review_id,
            now,
        ),
    )


def trends(db: sqlite3.Connection, project_id: str) -> list[Trend]:
    """Minor findings of a project by family, the most frequent first."""
    rows = db.execute(
        "SELECT family_id, count(*), min(created_ms), max(created_ms) FROM incidents WHERE project_id = ? AND lesson_id IS NULL"
        " GROUP BY family_id ORDER BY 2 DESC, 1",
        (project_id,),
    )
    return [Trend(row[0], row[1], row[2], row[3]) for row in rows]
