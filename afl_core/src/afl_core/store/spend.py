"""The ledger of reviewer runs: one row for every child that was started, with what it cost. Writers take an open transaction."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

import attrs

from afl_core.model.clock import DAY_MS


@attrs.frozen
class Run:
    """One row of `review_runs`. `outcome`: completed, a reason code, or None while it runs; `cost_usd` None: no money reported; `detail`: redacted, why it failed."""

    run_id: str
    review_id: str
    project_id: str
    reviewer: str
    model: str | None
    started_ms: int
    ended_ms: int | None
    outcome: str | None
    input_tokens: int
    output_tokens: int
    cost_usd: float | None
    detail: str | None = None


@attrs.frozen
class Spent:
    """What the last 24 hours used: runs in all and of one project, tokens, USD as far as hosts report it."""

    reviews: int
    project_reviews: int
    tokens: int
    usd: float


_COLUMNS = ", ".join(field.name for field in attrs.fields(Run))


def begin(db: sqlite3.Connection, run: Run) -> None:
    """Record that a child is about to be started."""
    values = attrs.astuple(run)
    db.execute(f"INSERT INTO review_runs ({_COLUMNS}) VALUES ({', '.join('?' * len(values))})", values)  # noqa: S608 - names of this file


def finish(db: sqlite3.Connection, run: Run) -> None:
    """Record how it ended and what it cost; a run that was closed already stays as it is."""
    db.execute(
        "UPDATE review_runs SET ended_ms = ?, outcome = ?, model = ?, input_tokens = ?, output_tokens = ?, cost_usd = ?, detail = ?"
        " WHERE run_id = ? AND outcome IS NULL",
        (run.ended_ms, run.outcome, run.model, run.input_tokens, run.output_tokens, run.cost_usd, run.detail, run.run_id),
    )


def close_open(db: sqlite3.Connection, review_id: str, outcome: str, now: int) -> int:
    """Close a review's runs whose process was lost; gives how many."""
    return db.execute(
        "UPDATE review_runs SET ended_ms = ?, outcome = ? WHERE review_id = ? AND outcome IS NULL", (now, outcome, review_id)
    ).rowcount


def spent(db: sqlite3.Connection, project_id: str, now: int, uncounted: Sequence[str]) -> Spent:
    """What the 24 hours before `now` used. Runs with an outcome in `uncounted` are no reviews, but what they cost is counted.

    A start more than a day ahead of the clock is left out: the clock was wrong then.
    """
    counted = f"(outcome IS NULL OR outcome NOT IN ({', '.join('?' * len(uncounted))}))"
    row = db.execute(
        f"SELECT count(*) FILTER (WHERE {counted}), count(*) FILTER (WHERE {counted} AND project_id = ?),"  # noqa: S608 - question marks
        " coalesce(sum(input_tokens + output_tokens), 0), coalesce(sum(cost_usd), 0.0)"
        " FROM review_runs WHERE started_ms > ? AND started_ms < ?",
        (*uncounted, *uncounted, project_id, now - DAY_MS, now + DAY_MS),
    ).fetchone()
    return Spent(int(row[0]), int(row[1]), int(row[2]), float(row[3]))


def last_ended(db: sqlite3.Connection, reviewer: str, limit: int, uncounted: Sequence[str]) -> list[Run]:
    """The newest ended runs of a reviewer that count, newest first."""
    rows = db.execute(
        f"SELECT {_COLUMNS} FROM review_runs WHERE reviewer = ? AND ended_ms IS NOT NULL"  # noqa: S608 - names of this file
        f" AND outcome NOT IN ({', '.join('?' * len(uncounted))}) ORDER BY ended_ms DESC, run_id DESC LIMIT ?",
        (reviewer, *uncounted, limit),
    )
    return [Run(*row) for row in rows]


def of_review(db: sqlite3.Connection, review_id: str) -> list[Run]:
    """All runs of a review, oldest first."""
    rows = db.execute(f"SELECT {_COLUMNS} FROM review_runs WHERE review_id = ? ORDER BY started_ms, run_id", (review_id,))  # noqa: S608
    return [Run(*row) for row in rows]
