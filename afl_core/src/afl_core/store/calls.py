"""The events of one call of a tool, and the raw stretches they were read from. Writers join the caller's transaction."""

from __future__ import annotations

import sqlite3


def empty(db: sqlite3.Connection, session_id: str, call_id: str) -> list[str]:
    """Take the words out of the events of a call, and let every event go of the raw stretches they stood in; gives the names of those.

    The events stay, so that a transcript that is read again is known again.
    """
    of_call = "session_id = ? AND call_id = ?"
    rows = db.execute(f"SELECT DISTINCT blob FROM events WHERE {of_call} AND blob IS NOT NULL", (session_id, call_id))  # noqa: S608 - fixed
    names = [row[0] for row in rows]
    db.execute(f"UPDATE events SET text = '', tool_name = NULL WHERE {of_call}", (session_id, call_id))  # noqa: S608 - fixed text
    db.executemany("UPDATE events SET blob = NULL WHERE blob = ?", [(name,) for name in names])
    return names


def is_pointed_at(db: sqlite3.Connection, blob: str) -> bool:
    """Whether any event has its raw record in a stretch."""
    return db.execute("SELECT 1 FROM events WHERE blob = ? LIMIT 1", (blob,)).fetchone() is not None


def of_session(db: sqlite3.Connection, session: str, ns: str | None) -> list[str]:
    """The addresses of a session's grains, lessons aside, in order; `session` as it is stored."""
    where = "" if ns is None else " AND ns = ?"
    values = (session,) if ns is None else (session, ns)
    rows = db.execute(f"SELECT hash FROM grains WHERE session_id = ? AND type <> 'lesson'{where} ORDER BY seq", values)  # noqa: S608 - fixed
    return [row[0] for row in rows]
