"""Read positions in transcripts, moved by compare-and-swap so that a stale reader loses instead of doubling."""

from __future__ import annotations

import json
import sqlite3
from typing import Any

import attrs

from afl_core.model.errors import StoreError

GAPS_KEPT = 20
"""Of the gaps of one transcript, the latest."""


@attrs.frozen
class Cursor:
    """Where reading goes on. `state` is the adapter's, `thread` capture's own: ids and times, never conversation text. `version` 0: not stored yet.

    `anchor`: keyed hash of the bytes that stand before `offset`, by which the place is found again in a file that was moved, copied or
    compressed; None when nothing was read yet or before there were anchors.
    """

    path: str
    host: str
    session_id: str
    device: int
    inode: int
    generation: int
    offset: int
    skipping: bool
    state: dict[str, Any]
    thread: dict[str, Any]
    gaps: list[dict[str, Any]]
    version: int
    anchor: str | None = None


_COLUMNS = "path, host, session_id, device, inode, generation, offset, skipping, state_json, gaps_json, version, anchor"


def get(db: sqlite3.Connection, path: str) -> Cursor | None:
    """The cursor of a transcript."""
    row = db.execute(f"SELECT {_COLUMNS} FROM cursors WHERE path = ?", (path,)).fetchone()  # noqa: S608 - names of this file
    return None if row is None else _cursor(row)


def of_session(db: sqlite3.Connection, session_id: str) -> list[Cursor]:
    """The cursors of all files of a session, the latest generation first."""
    rows = db.execute(f"SELECT {_COLUMNS} FROM cursors WHERE session_id = ? ORDER BY generation DESC, path", (session_id,))  # noqa: S608
    return [_cursor(row) for row in rows.fetchall()]


def _cursor(row: sqlite3.Row) -> Cursor:
    both = json.loads(row["state_json"])
    return Cursor(
        path=row["path"],
        host=row["host"],
        session_id=row["session_id"],
        device=row["device"],
        inode=row["inode"],
        generation=row["generation"],
        offset=row["offset"],
        skipping=bool(row["skipping"]),
        state=both["adapter"],
        thread=both["thread"],
        gaps=json.loads(row["gaps_json"]),
        version=row["version"],
        anchor=row["anchor"],
    )


def rename(db: sqlite3.Connection, cursor: Cursor, path: str, device: int, inode: int, now: int) -> Cursor:
    """The file of a cursor is another path now. Raises `StoreError` AFL-STORE-011 when somebody moved the cursor meanwhile."""
    done = db.execute(
        "UPDATE cursors SET path = ?, device = ?, inode = ?, version = version + 1, updated_ms = ? WHERE path = ? AND version = ?",
        (path, device, inode, now, cursor.path, cursor.version),
    )
    if done.rowcount != 1:
        raise _overtaken(cursor)
    return attrs.evolve(cursor, path=path, device=device, inode=inode, version=cursor.version + 1)


def move(db: sqlite3.Connection, cursor: Cursor, now: int) -> Cursor:
    """Store the moved cursor if nobody moved it since `cursor.version`; raise `StoreError` AFL-STORE-011 otherwise. Returns it with its new version."""
    both = json.dumps({"adapter": cursor.state, "thread": cursor.thread}, ensure_ascii=False, separators=(",", ":"))
    gaps = json.dumps(cursor.gaps[-GAPS_KEPT:], separators=(",", ":"))
    values = (
        cursor.host,
        cursor.session_id,
        cursor.device,
        cursor.inode,
        cursor.generation,
        cursor.offset,
        int(cursor.skipping),
        both,
        gaps,
        cursor.anchor,
        cursor.version + 1,
        now,
    )
    if cursor.version == 0:
        done = db.execute(
            "INSERT OR IGNORE INTO cursors (host, session_id, device, inode, generation, offset, skipping, state_json, gaps_json, anchor, version, updated_ms, path) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (*values, cursor.path),
        )
    else:
        done = db.execute(
            "UPDATE cursors SET host = ?, session_id = ?, device = ?, inode = ?, generation = ?, offset = ?, skipping = ?, state_json = ?, gaps_json = ?, anchor = ?, version = ?, updated_ms = ? WHERE path = ? AND version = ?",
            (*values, cursor.path, cursor.version),
        )
    if done.rowcount != 1:
        raise _overtaken(cursor)
    return attrs.evolve(cursor, version=cursor.version + 1)


def check(db: sqlite3.Connection, cursor: Cursor) -> None:
    """Raise `StoreError` AFL-STORE-011 when somebody moved the cursor since it was read."""
    row = db.execute("SELECT version FROM cursors WHERE path = ?", (cursor.path,)).fetchone()
    if (row[0] if row else 0) != cursor.version:
        raise _overtaken(cursor)


def _overtaken(cursor: Cursor) -> StoreError:
    return StoreError(
        f"another process read {cursor.path} at the same time", code="AFL-STORE-011", hint="nothing to do: the other one goes on"
    )


def secrets(db: sqlite3.Connection, session_id: str) -> tuple[str, ...]:
    """Keyed hashes of the credentials that were shown in a session so far."""
    rows = db.execute("SELECT state_json FROM cursors WHERE session_id = ?", (session_id,))
    return tuple(dict.fromkeys(each for (both,) in rows for each in json.loads(both)["thread"].get("secrets", ())))


def generation(db: sqlite3.Connection, session_id: str) -> int:
    """The latest file generation of a session's transcript; 1 when nothing was read yet."""
    return int(db.execute("SELECT coalesce(max(generation), 1) FROM cursors WHERE session_id = ?", (session_id,)).fetchone()[0])


def every(db: sqlite3.Connection) -> list[Cursor]:
    """All cursors, by path."""
    return [cursor for (path,) in db.execute("SELECT path FROM cursors ORDER BY path").fetchall() if (cursor := get(db, path)) is not None]
