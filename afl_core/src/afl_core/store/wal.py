"""What was deleted leaves the disk: the file is made anew from its rows, the write-ahead log is written into it and cut to nothing.

Overwriting a row where it stands (`secure_delete`) is not enough: SQLite moves rows between pages and leaves their old bytes in the gaps.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable

PAUSE_S = 0.02
"""Between two attempts: SQLite itself waits for readers and writers, but not for another process that is moving the log."""


def empty(db: sqlite3.Connection) -> bool:
    """Write the log into the file and empty it; False when somebody kept it in use for as long as this connection waits for a lock."""
    until = time.monotonic() + db.execute("PRAGMA busy_timeout").fetchone()[0] / 1000
    while True:
        busy, *_ = db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        if not busy:
            return True
        if time.monotonic() >= until:
            return False
        time.sleep(PAUSE_S)


def renew(
    db: sqlite3.Connection,
    alone: Callable[[Callable[[sqlite3.Connection], object]], object] | None = None,
    checkpoint: Callable[[str], None] = lambda _step: None,
) -> bool:
    """Make the file anew from what its rows hold, in one transaction that readers do not wait for, and empty the log.

    False when a reader keeps the log in use. Needs the room of the file once more beside it, and once where temporary files are; raises
    `sqlite3.OperationalError` when there is none, or the file is locked, and nothing is lost then. `alone` keeps other writers of this process away; `checkpoint` is told each step.
    """
    if not empty(db):  # first, for every attempt beside a reader would put a copy of the whole file into the log
        return False
    try:
        _vacuum(db) if alone is None else alone(_vacuum)
    except sqlite3.DatabaseError:
        empty(db)  # of what was written before the room gave out
        raise
    checkpoint("vacuumed")
    return empty(db)


def _vacuum(db: sqlite3.Connection) -> None:
    db.execute("VACUUM")
