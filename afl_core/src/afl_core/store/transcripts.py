"""Transcript files that are known: whose each is, and what it was like when it was last looked at. Writers take an open transaction."""

from __future__ import annotations

import os
import sqlite3
from typing import NamedTuple

SESSION = "session"
MACHINE = "machine"
UNKNOWN = "unknown"


LASTING = ("AFL-CAPTURE-009", "AFL-CAPTURE-011", "AFL-CAPTURE-012")
"""A file that cannot be read, or not to its end, for one of these reasons is not tried again until it changes."""


class Stamp(NamedTuple):
    """What a file was like, as one `stat` tells it. An equal stamp means: nothing to read."""

    device: int
    inode: int
    size: int
    mtime_ns: int


NEVER = Stamp(0, 0, -1, 0)
"""Of a file that was never read to its end."""


class Known(NamedTuple):
    """One row. `verdict`: session, machine or unknown; `problem`: code of why the file cannot be read as it is."""

    path: str
    host: str
    session_id: str | None
    verdict: str
    started_ms: int | None
    stamp: Stamp
    problem: str | None


_COLUMNS = "path, host, session_id, verdict, started_ms, device, inode, size, mtime_ns, problem"


def stamp_of(found: os.stat_result) -> Stamp:
    """The stamp of a file now."""
    return Stamp(found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns)


def get(db: sqlite3.Connection, path: str) -> Known | None:
    """What is known of one file."""
    row = db.execute(f"SELECT {_COLUMNS} FROM transcripts WHERE path = ?", (path,)).fetchone()  # noqa: S608 - names of this file
    return None if row is None else _known(row)


def every(db: sqlite3.Connection) -> dict[str, Known]:
    """All known files by path."""
    return {row[0]: _known(row) for row in db.execute(f"SELECT {_COLUMNS} FROM transcripts")}  # noqa: S608 - names of this file


def of_session(db: sqlite3.Connection, session_id: str) -> list[Known]:
    """The files of a session in the order in which they were begun."""
    rows = db.execute(f"SELECT {_COLUMNS} FROM transcripts WHERE session_id = ?", (session_id,))  # noqa: S608
    return in_order([_known(row) for row in rows.fetchall()])


def in_order(files: list[Known]) -> list[Known]:
    """By the start the host tells, where it tells one of each; else by name: hosts write the start first into a file's name."""
    if all(file.started_ms is not None for file in files):
        return sorted(files, key=lambda file: (file.started_ms or 0, os.path.basename(file.path), file.path))
    return sorted(files, key=lambda file: (os.path.basename(file.path), file.path))


def put(db: sqlite3.Connection, known: Known, now: int) -> None:
    """Store what is known of a file in the place of what was known of it."""
    db.execute(
        f"INSERT OR REPLACE INTO transcripts ({_COLUMNS}, updated_ms) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",  # noqa: S608
        (known.path, known.host, known.session_id, known.verdict, known.started_ms, *known.stamp, known.problem, now),
    )


def looked_at(db: sqlite3.Connection, path: str, stamp: Stamp, problem: str | None, now: int) -> None:
    """The file was read to its end as it was then, or could not be read, and why."""
    db.execute(
        "UPDATE transcripts SET device = ?, inode = ?, size = ?, mtime_ns = ?, problem = ?, updated_ms = ? WHERE path = ?",
        (*stamp, problem, now, path),
    )


def forget(db: sqlite3.Connection, path: str) -> None:
    """Nothing is known of the file any more."""
    db.execute("DELETE FROM transcripts WHERE path = ?", (path,))


def _known(row: sqlite3.Row) -> Known:
    return Known(row[0], row[1], row[2], row[3], row[4], Stamp(row[5], row[6], row[7], row[8]), row[9])
