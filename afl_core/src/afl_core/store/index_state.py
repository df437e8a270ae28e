"""With which rules the stored texts were last judged, and whether bytes of what was taken out may be left in the file. Joins the transaction."""

from __future__ import annotations

import sqlite3

import attrs

from afl_core.store import status
from afl_core.store.texts import has_any

_VERSIONS, _AT, _UNCLEAN = "redaction_versions", "redaction_checked_ms", "redaction_unclean"


@attrs.frozen
class Checked:
    """The redactors' names and versions, and when, in ms since the epoch."""

    versions: str
    at_ms: int


def last_check(db: sqlite3.Connection) -> Checked | None:
    """The last time all stored texts were judged; None: never."""
    versions = status.meta(db, _VERSIONS)
    return Checked(versions, int(status.meta(db, _AT, "0"))) if versions else None


def checked(db: sqlite3.Connection, versions: str, now: int) -> None:
    """All stored texts were judged with these rules, and nothing of what was taken out is left."""
    status.set_meta(db, _VERSIONS, versions)
    status.set_meta(db, _AT, str(now))
    db.execute("DELETE FROM meta WHERE key = ?", (_UNCLEAN,))


def is_new(db: sqlite3.Connection) -> bool:
    """Whether the store has no text yet, and nothing says with which rules it is filled."""
    return last_check(db) is None and not has_any(db)


def set_unclean(db: sqlite3.Connection) -> None:
    """Texts were taken out; their bytes may still be in the file."""
    status.set_meta(db, _UNCLEAN, "1")


def is_unclean(db: sqlite3.Connection) -> bool:
    """Whether bytes of what was taken out may be left."""
    return status.meta(db, _UNCLEAN) == "1"


def needs_purge(db: sqlite3.Connection, versions: str) -> str:
    """Why the stored texts should be judged again, in half a sentence; '' when they need not."""
    if is_unclean(db):
        return "a purge of the index was not finished"
    last = last_check(db)
    if last is None:
        return "the index was never judged as a whole" if has_any(db) else ""
    return "" if last.versions == versions else "the index was last judged with other rules"
