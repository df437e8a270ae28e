"""The queue of a person's words waiting for review: rows in, rows out. When a review is due is decided in `review`.

Writers take an open transaction. A row waits for the reviewer of its session's host, so every listing is by project and host.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import NamedTuple

import attrs


class Waiting(NamedTuple):
    """One row of `queue` that no review has taken. `created_ms`: when it was enqueued."""

    event_id: str
    immediate: bool
    created_ms: int


@attrs.frozen
class Queued:
    """One row of `queue`. `status`: pending, acknowledged or exhausted."""

    event_id: str
    project_id: str
    host: str
    immediate: bool
    status: str
    review_id: str | None
    created_ms: int


_FROM = "FROM queue JOIN events USING (event_id) JOIN sessions USING (session_id)"
_QUEUED = (
    "SELECT queue.event_id, queue.project_id, sessions.host, queue.immediate, queue.status, queue.review_id, queue.created_ms"
    " FROM queue JOIN events USING (event_id) JOIN sessions USING (session_id)"
)


def _queued(row: sqlite3.Row) -> Queued:
    return Queued(row[0], row[1], row[2], bool(row[3]), row[4], row[5], row[6])


def insert(db: sqlite3.Connection, event_id: str, project_id: str, *, immediate: bool, now: int) -> bool:
    """Let an event wait; False when it is there already. A later signal makes a pending row immediate, never the other way round."""
    added = db.execute(
        "INSERT OR IGNORE INTO queue (event_id, project_id, immediate, status, created_ms) VALUES (?, ?, ?, 'pending', ?)",
        (event_id, project_id, int(immediate), now),
    ).rowcount
    if not added and immediate:
        db.execute("UPDATE queue SET immediate = 1 WHERE event_id = ? AND status = 'pending'", (event_id,))
    return added == 1


def insert_all(db: sqlite3.Connection, rows: Sequence[tuple[str, bool]], project_id: str, now: int) -> None:
    """Let events of a project wait, each with whether it is a signal; the outcome of `insert` for one after the other."""
    db.executemany(
        "INSERT INTO queue (event_id, project_id, immediate, status, created_ms) VALUES (?, ?, ?, 'pending', ?)"
        " ON CONFLICT (event_id) DO UPDATE SET immediate = 1 WHERE excluded.immediate = 1 AND status = 'pending'",
        [(event_id, project_id, int(immediate), now) for event_id, immediate in rows],
    )


def get(db: sqlite3.Connection, event_id: str) -> Queued | None:
    """One row."""
    row = db.execute(f"{_QUEUED} WHERE queue.event_id = ?", (event_id,)).fetchone()
    return None if row is None else _queued(row)


def waiting(db: sqlite3.Connection, project_id: str, host: str) -> list[Waiting]:
    """Pending rows that no review has taken, oldest first."""
    rows = db.execute(
        f"SELECT queue.event_id, queue.immediate, queue.created_ms {_FROM}"
        " WHERE queue.project_id = ? AND sessions.host = ? AND queue.status = 'pending' AND queue.review_id IS NULL"
        " ORDER BY queue.created_ms, queue.event_id",
        (project_id, host),
    )
    return [Waiting(row[0], bool(row[1]), row[2]) for row in rows]


def places_waiting(db: sqlite3.Connection) -> list[tuple[str, str]]:
    """Every (project id, host) with a pending row that no review has taken."""
    rows = db.execute(
        f"SELECT DISTINCT queue.project_id, sessions.host {_FROM} WHERE queue.status = 'pending' AND queue.review_id IS NULL ORDER BY 1, 2"
    )
    return [(row[0], row[1]) for row in rows]


def of_review(db: sqlite3.Connection, review_id: str) -> list[Queued]:
    """The rows a review holds or held, oldest first."""
    rows = db.execute(f"{_QUEUED} WHERE queue.review_id = ? ORDER BY queue.created_ms, queue.event_id", (review_id,))
    return [_queued(row) for row in rows]


def assign(db: sqlite3.Connection, event_id: str, review_id: str) -> None:
    """Give a waiting row to a review."""
    db.execute("UPDATE queue SET review_id = ? WHERE event_id = ? AND status = 'pending' AND review_id IS NULL", (review_id, event_id))


def unassign(db: sqlite3.Connection, event_id: str) -> None:
    """Let a row wait again; nothing is deleted."""
    db.execute("UPDATE queue SET review_id = NULL WHERE event_id = ? AND status = 'pending'", (event_id,))


def acknowledge(db: sqlite3.Connection, review_id: str) -> int:
    """Mark a review's rows as reviewed; gives how many."""
    return db.execute("UPDATE queue SET status = 'acknowledged' WHERE review_id = ? AND status = 'pending'", (review_id,)).rowcount


def exhaust(db: sqlite3.Connection, review_id: str) -> int:
    """Release a given-up review's rows: they count for nothing any more, and wait for `revive`; gives how many."""
    return db.execute("UPDATE queue SET status = 'exhausted' WHERE review_id = ? AND status = 'pending'", (review_id,)).rowcount


def revive(db: sqlite3.Connection, review_id: str) -> int:
    """Make a given-up review's rows pending again; gives how many."""
    return db.execute("UPDATE queue SET status = 'pending' WHERE review_id = ? AND status = 'exhausted'", (review_id,)).rowcount
