"""What reviews may cost: daily caps over the ledger and a breaker for a reviewer that keeps failing. Decides; `run.py` records.

A day is the 24 hours before now.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from afl_core.review.reasons import UNCOUNTED
from afl_core.settings.schema import Settings
from afl_core.store import spend as rows
from afl_core.store.spend import Run, Spent

BREAKER_FAILURES = 5
"""Counted failures in a row, over all projects, after which a reviewer rests."""

BREAKER_MS = 3_600_000
"""How long it rests; then one try decides whether it rests again."""

CAP_RECHECK_MS = 1_800_000
"""How long a review waits that met a cap."""

COMPLETED = "completed"
"""The outcome of a run whose receipt was committed."""


def cap_reached(db: sqlite3.Connection, project_id: str, settings: Settings, now: int) -> str | None:
    """The reason code of the cap that forbids another review of this project now; None when there is room."""
    return decide_cap(rows.spent(db, project_id, now, UNCOUNTED), settings)


def decide_cap(spent: Spent, settings: Settings) -> str | None:
    """The cap that is met, the widest first. Pure."""
    if settings.reviews_per_day == 0:
        return "reviews_off"
    met = {
        "cap_reviews": spent.reviews >= settings.reviews_per_day,
        "cap_project_reviews": spent.project_reviews >= settings.reviews_per_day_and_project,
        "cap_tokens": spent.tokens >= settings.review_tokens_per_day,
        "cap_usd": spent.usd >= settings.review_usd_per_day,
    }
    return next((reason for reason, reached in met.items() if reached), None)


def rests_until(db: sqlite3.Connection, reviewer: str, now: int) -> int | None:
    """Until when (ms since the epoch) a reviewer rests; None when it may be used."""
    return decide_rest(rows.last_ended(db, reviewer, BREAKER_FAILURES, UNCOUNTED), now)


def decide_rest(last: Sequence[Run], now: int) -> int | None:
    """Whether the last runs, newest first, were all failures and the newest is not an hour old. Pure."""
    if len(last) < BREAKER_FAILURES or any(run.outcome == COMPLETED for run in last[:BREAKER_FAILURES]):
        return None
    until = (last[0].ended_ms or 0) + BREAKER_MS
    return until if now < until <= now + BREAKER_MS else None
