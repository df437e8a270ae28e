"""Reviews, for people and programs: what is open and why, what a report says, which small faults come back, and trying again."""

from __future__ import annotations

import json
import sqlite3
from typing import Any

import attrs

from afl_core.api.home import Home
from afl_core.model.errors import StoreError
from afl_core.review import operator, queue
from afl_core.review import spend as caps
from afl_core.review.due import claimable, wakes_at
from afl_core.review.reasons import REASONS, explain
from afl_core.store import queue as queue_rows
from afl_core.store import receipts, reviews, spend
from afl_core.store.connection import writing

ID_DIGITS = 12
"""Digits of a review's id by which people are told of it, its time; more when another review was made in the same millisecond."""


def handle(db: sqlite3.Connection, review_id: str) -> str:
    """The beginning of a review's id that no other review has."""
    near = db.execute(
        "SELECT (SELECT max(review_id) FROM reviews WHERE review_id < ?), (SELECT min(review_id) FROM reviews WHERE review_id > ?)",
        (review_id, review_id),
    ).fetchone()
    return review_id[: max(ID_DIGITS, *(_shared(review_id, other or "") + 1 for other in near))]


def _shared(one: str, other: str) -> int:
    """How many characters two ids have in common at their beginning."""
    return next((at for at, (mine, its) in enumerate(zip(one, other, strict=False)) if mine != its), min(len(one), len(other)))


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
        "runs": [{**attrs.asdict(run), "sentence": _sentence_of(run.outcome)} for run in spend.of_review(home.db, row.review_id)],
        "report": receipts.report_text(home.db, row.report_id) if row.report_id else None,
        "receipt": json.loads(body) if body else None,
    }


def trends(home: Home, project_id: str) -> list[dict[str, Any]]:
    """Small proven faults by family: count, first and last date."""
    return [attrs.asdict(trend) for trend in receipts.trends(home.db, project_id)]


def retried(home: Home, reference: str) -> dict[str, Any]:
    """Let a failed or waiting review start again with all its attempts. `stopped_by`: what keeps it from starting now, None when nothing does."""
    row = _find(home, reference)
    with writing(home.db):
        events = queue.retry(home.db, row.review_id, home.clock())
    return {
        "review_id": row.review_id,
        "handle": handle(home.db, row.review_id),
        "events": events,
        "stopped_by": stopped_by(home, row.project_id, row.host),
    }


def stopped_by(home: Home, project_id: str, host: str) -> dict[str, Any] | None:
    """The cap that is met, or the rest of the reviewer, that keeps a review from starting now: reason, sentence, time, next step."""
    now = home.clock()
    reason = caps.cap_reached(home.db, project_id, home.settings, now)
    until = None
    if reason is None:
        named = [reviewer.name for reviewer in home.registry.reviewers().values() if reviewer.host == host]
        rests = [caps.rests_until(home.db, name, now) for name in ([operator.NAME] if home.settings.reviewer_command else named)]
        resting = [end for end in rests if end is not None]
        if not resting or len(resting) < len(rests):
            return None
        reason, until = "breaker", min(resting)
    told = explain(reason)
    return {"reason": reason, "sentence": told.sentence, "until_ms": until, "next_step": told.next_step}


def waiting(home: Home) -> list[dict[str, Any]]:
    """Every open review: why it waits (`reason` None: it may start now, `running`: another process has it), and until when."""
    now = home.clock()
    found = []
    for row in reviews.all_open(home.db):
        stop = None
        reason: str | None
        until: int | None
        if row.status is reviews.ReviewStatus.RUNNING and not claimable(row, now):
            reason, sentence, until = "running", "another process runs it", row.lease_until_ms
        elif not claimable(row, now):
            reason, sentence, until = row.reason, explain(row.reason).sentence if row.reason else "", wakes_at(row, now)
        else:
            stop = stopped_by(home, row.project_id, row.host)
            reason, sentence, until = (stop["reason"], stop["sentence"], stop["until_ms"]) if stop else (None, "it may start now", None)
        found.append(
            {
                "review_id": row.review_id,
                "handle": handle(home.db, row.review_id),
                "project_id": row.project_id,
                "host": row.host,
                "reason": reason,
                "sentence": sentence,
                "detail": row.detail if stop is None and reason == row.reason else None,
                "until_ms": until,
                "next_step": stop["next_step"] if stop else _next_step(home, row),
            }
        )
    return found


def _find(home: Home, reference: str) -> reviews.ReviewRow:
    found = [
        row[0]
        for row in home.db.execute(
            "SELECT review_id FROM reviews WHERE review_id >= ? AND review_id < ? LIMIT 3", (reference, reference + "\U0010ffff")
        )
    ]
    row = reviews.get(home.db, found[0]) if len(found) == 1 else None
    if row is None:
        several = ", ".join(handle(home.db, review_id) for review_id in found)
        said = f"{reference!r} means several reviews: {several}" if found else f"no review is called {reference!r}"
        raise StoreError(said, code="AFL-STORE-025", hint="run: afl review list")
    return row


def _row(home: Home, row: reviews.ReviewRow) -> dict[str, Any]:
    reason = explain(row.reason) if row.reason else None
    body = attrs.asdict(row)
    body["status"] = row.status.value
    return {
        **body,
        "handle": handle(home.db, row.review_id),
        "reason_sentence": reason.sentence if reason else None,
        "detail_sentence": _sentence_of((row.detail or "").partition(":")[0]),
        "next_step": _next_step(home, row),
        "event_count": len(queue_rows.of_review(home.db, row.review_id)),
    }


def _sentence_of(code: str | None) -> str | None:
    """The sentence of a reason; a given-up review keeps the code of its last failure at the beginning of its detail."""
    known = REASONS.get(code or "")
    return known.sentence if known else None


def _next_step(home: Home, row: reviews.ReviewRow) -> str | None:
    """What a person can do about a review, with its real id; never the command that shows this."""
    if row.reason is None or row.status in (reviews.ReviewStatus.COMPLETED, reviews.ReviewStatus.RUNNING):
        return None
    step = explain(row.reason).next_step
    if "afl review" not in step and row.status is reviews.ReviewStatus.PENDING:
        return step
    retry = f"afl review retry {handle(home.db, row.review_id)}"
    if row.status is reviews.ReviewStatus.FAILED:
        return f"run: {retry}"
    can_hurry = row.reason != "breaker" and wakes_at(row, home.clock()) > home.clock()
    return f"nothing; it is tried again (at once with: {retry})" if can_hurry else "nothing; it is tried again"
