"""Reviews, for people and programs: what is open and why, what a report says, which small faults come back, and trying again."""

from __future__ import annotations

import json
from typing import Any

import attrs

from afl_core.api.home import Home
from afl_core.model.errors import StoreError
from afl_core.review import queue
from afl_core.review.reasons import REASONS
from afl_core.store import queue as queue_rows
from afl_core.store import receipts, reviews, spend
from afl_core.store.connection import writing


def listed(home: Home, project_id: str | None, limit: int) -> list[dict[str, Any]]:
    """The newest reviews, of one project or of all."""
    return [_row(home, row) for row in reviews.latest(home.db, project_id=project_id, limit=limit)]


def shown(home: Home, reference: str) -> dict[str, Any]:
    """One review in full: its evidence, runs, report and receipt. `reference` is its id or the beginning of it."""
    row = _find(home, reference)
    body = receipts.receipt_body(home.db, row.receipt_id) if row.receipt_id else None
    return {
        **_row(home, row),
        "events": [queued.event_id for queued in queue_rows.of_review(home.db, row.review_id)],
        "runs": [attrs.asdict(run) for run in spend.of_review(home.db, row.review_id)],
        "report": receipts.report_text(home.db, row.report_id) if row.report_id else None,
        "receipt": json.loads(body) if body else None,
    }


def trends(home: Home, project_id: str) -> list[dict[str, Any]]:
    """Small proven faults by family: count, first and last date."""
    return [attrs.asdict(trend) for trend in receipts.trends(home.db, project_id)]


def retried(home: Home, reference: str) -> dict[str, Any]:
    """Let a failed or waiting review start again with all its attempts."""
    row = _find(home, reference)
    with writing(home.db):
        events = queue.retry(home.db, row.review_id, home.clock())
    return {"review_id": row.review_id, "events": events}


def _find(home: Home, reference: str) -> reviews.ReviewRow:
    found = [
        row[0]
        for row in home.db.execute(
            "SELECT review_id FROM reviews WHERE review_id >= ? AND review_id < ? LIMIT 3", (reference, reference + "\U0010ffff")
        )
    ]
    row = reviews.get(home.db, found[0]) if len(found) == 1 else None
    if row is None:
        raise StoreError(f"{reference!r} means no review, or several", code="AFL-STORE-025", hint="run: afl review list")
    return row


def _row(home: Home, row: reviews.ReviewRow) -> dict[str, Any]:
    reason = REASONS.get(row.reason or "")
    body = attrs.asdict(row)
    body["status"] = row.status.value
    return {
        **body,
        "reason_sentence": reason.sentence if reason else None,
        "next_step": reason.next_step if reason else None,
        "event_count": len(queue_rows.of_review(home.db, row.review_id)),
    }
