"""What was deleted leaves the disk: the file is made anew from its rows, the write-ahead log is written into it and cut to nothing.

Overwriting a row where it stands (`secure_delete`) is not enough: SQLite moves rows between pages and leaves their old bytes in the gaps.
"""

from __future__ import annotations

import sqlite3
import time

from afl_core.store.connection import explain, name_of

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


def rewrite(db: sqlite3.Connection) -> None:
    """Make the file anew from what its rows hold, in one transaction that readers do not wait for; `empty` then takes it out of the log.

    Needs as much room again as the file takes. Raises `StoreError` when the file is locked or the disk is full; nothing is lost then.
    """
    try:
        db.execute("VACUUM")
    except sqlite3.OperationalError as bad:
        raise explain(bad, name_of(db)) from bad
