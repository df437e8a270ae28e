"""Rows of `reviews`: rows in, rows out. The state machine is decided in `review/queue.py`. Writers take an open transaction."""

from __future__ import annotations

import enum
import sqlite3
from typing import Any

import attrs

DETAIL_CHARS = 500
"""Characters of a reason's detail that are kept."""


class ReviewStatus(enum.Enum):
    """Where a review stands."""

    PENDING = "pending"
    RUNNING = "running"
    COMPLETED = "completed"
    FAILED = "failed"


@attrs.frozen
class ReviewRow:
    """One row of `reviews`. Times in ms since the epoch; `attempt` counts tries that were a real attempt, `wakes` all of them."""

    review_id: str
    project_id: str
    host: str
    status: ReviewStatus = attrs.field(converter=ReviewStatus)
    immediate: bool = attrs.field(converter=bool)
    attempt: int
    owner: str | None
    fence: int
    lease_until_ms: int | None
    wakes: int
    next_wake_ms: int
    reason: str | None
    detail: str | None
    receipt_id: str | None
    report_id: str | None
    created_ms: int
    updated_ms: int
    ended_ms: int | None


_COLUMNS = ", ".join(field.name for field in attrs.fields(ReviewRow))
_SELECT = f"SELECT {_COLUMNS} FROM reviews"  # noqa: S608 - names of this file


def _rows(db: sqlite3.Connection, rest: str, values: tuple[Any, ...] = ()) -> list[ReviewRow]:
    return [ReviewRow(*row) for row in db.execute(f"{_SELECT} {rest}", values)]


def get(db: sqlite3.Connection, review_id: str) -> ReviewRow | None:
    """One review."""
    found = _rows(db, "WHERE review_id = ?", (review_id,))
    return found[0] if found else None


def open_for(db: sqlite3.Connection, project_id: str, host: str) -> list[ReviewRow]:
    """Pending and running reviews of one project and host, newest first."""
    return _rows(
        db,
        "WHERE project_id = ? AND host = ? AND status IN ('pending', 'running') ORDER BY created_ms DESC, review_id DESC",
        (project_id, host),
    )


def all_open(db: sqlite3.Connection) -> list[ReviewRow]:
    """Every pending and running review, the immediate ones first, then the oldest."""
    return _rows(db, "WHERE status IN ('pending', 'running') ORDER BY immediate DESC, created_ms, review_id")


def latest(db: sqlite3.Connection, *, project_id: str | None = None, limit: int = 20) -> list[ReviewRow]:
    """The newest reviews, of one project or of all."""
    if project_id is None:
        return _rows(db, "ORDER BY created_ms DESC, review_id DESC LIMIT ?", (limit,))
    return _rows(db, "WHERE project_id = ? ORDER BY created_ms DESC, review_id DESC LIMIT ?", (project_id, limit))


def last_end(db: sqlite3.Connection, project_id: str, host: str) -> int | None:
    """When the last review of one project and host ended."""
    row = db.execute("SELECT max(ended_ms) FROM reviews WHERE project_id = ? AND host = ?", (project_id, host)).fetchone()
    return None if row[0] is None else int(row[0])


def insert(db: sqlite3.Connection, review_id: str, project_id: str, host: str, *, immediate: bool, now: int) -> None:
    """A new pending review that may start at once."""
    db.execute(
        "INSERT INTO reviews (review_id, project_id, host, status, immediate, created_ms, updated_ms) VALUES (?, ?, ?, 'pending', ?, ?, ?)",
        (review_id, project_id, host, int(immediate), now, now),
    )


def update(db: sqlite3.Connection, row: ReviewRow) -> None:
    """Store a review as it is now."""
    values = {field.name: getattr(row, field.name) for field in attrs.fields(ReviewRow)}
    values |= {"status": row.status.value, "immediate": int(row.immediate), "detail": row.detail and row.detail[:DETAIL_CHARS]}
    names = [name for name in values if name != "review_id"]
    db.execute(f"UPDATE reviews SET {', '.join(f'{name} = :{name}' for name in names)} WHERE review_id = :review_id", values)  # noqa: S608


def project_lineage(db: sqlite3.Connection, project_id: str) -> str | None:
    """The lineage of a review's project; None when it has none or is unknown."""
    row = db.execute("SELECT lineage FROM projects WHERE project_id = ?", (project_id,)).fetchone()
    return None if row is None else row[0]
