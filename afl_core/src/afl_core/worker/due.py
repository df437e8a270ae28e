"""Evaluating the due rules for everything that waits: the person's signalled words first, then batches of every project."""

from __future__ import annotations

import sqlite3

from afl_core.review import queue
from afl_core.settings.schema import Settings
from afl_core.store import queue as queue_rows
from afl_core.store.connection import writing


def evaluate(db: sqlite3.Connection, settings: Settings, now: int) -> list[str]:
    """Make or extend the reviews that are due; returns their ids. Idempotent: what already has its review keeps it."""
    found: dict[str, None] = {}
    signalled = db.execute(
        "SELECT queue.event_id, queue.project_id, sessions.host FROM queue JOIN events USING (event_id) JOIN sessions USING (session_id)"
        " WHERE queue.immediate = 1 AND queue.status = 'pending' AND queue.review_id IS NULL ORDER BY queue.created_ms, queue.event_id"
    ).fetchall()
    if not queue_rows.places_waiting(db):
        return []
    with writing(db):
        for event_id, project_id, host in signalled:
            result = queue.submit_due(db, project_id, host, settings, now, immediate_event=event_id)
            if result.review_id is not None:
                found[result.review_id] = None
        for result in queue.submit_all_due(db, settings, now):
            if result.review_id is not None:
                found[result.review_id] = None
    return list(found)
