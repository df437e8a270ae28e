"""Emptying the write-ahead log: what was deleted is gone from the disk only when the log is written into the file and cut to nothing."""

from __future__ import annotations

import sqlite3
import time

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
