"""Cards that a host's own memory holds already, by project and host. Marks only, made anew from the notes whenever they are looked at.

The front reads through this file, so it works on rows and imports no attrs. Writers join the caller's transaction.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import sqlite3

Card = tuple[str, int]
"""A lesson's id and revision."""


def of_host(db: sqlite3.Connection, project_id: str, host: str) -> frozenset[Card]:
    """What sessions of this host in this project are not given."""
    rows = db.execute("SELECT lesson_id, revision FROM held_cards WHERE project_id = ? AND host = ?", (project_id, host))
    return frozenset((row[0], row[1]) for row in rows)


def put(db: sqlite3.Connection, project_id: str, host: str, cards: frozenset[Card]) -> None:
    """Let these be the cards that are held, and no others."""
    db.execute("DELETE FROM held_cards WHERE project_id = ? AND host = ?", (project_id, host))
    db.executemany("INSERT INTO held_cards VALUES (?, ?, ?, ?)", [(project_id, host, *card) for card in sorted(cards)])


def marked(db: sqlite3.Connection) -> list[tuple[str, str]]:
    """The projects and hosts with a mark."""
    return [(row[0], row[1]) for row in db.execute("SELECT DISTINCT project_id, host FROM held_cards ORDER BY 1, 2")]
