"""House-keeping: retention of evidence, sweeps of what interrupted processes left. Each step is safe to repeat. Spool parts are swept by `drain`."""

from __future__ import annotations

import logging
import os
import sqlite3

from afl_core.api import held
from afl_core.api.home import Home
from afl_core.memory.erase import expire
from afl_core.model.clock import DAY_MS
from afl_core.review.context import sweep as sweep_contexts
from afl_core.store import status
from afl_core.store.calls import is_pointed_at
from afl_core.store.connection import writing
from afl_core.worker.key_sweep import sweep_keys

UNREVIEWED_FACTOR = 3
"""Evidence that never reached a review loses its raw record at this many retentions; its redacted row stays until it is acknowledged."""

ORPHAN_MS = 60 * 60 * 1000
"""A blob that nothing points at is swept when it is older than this: whoever wrote it may be about to point at it."""

OMISSIONS_MS = 30 * DAY_MS
"""How long it can be explained why a card was left out of a prompt."""

TRANSCRIPTS_MS = 30 * DAY_MS
"""A transcript that is gone and was not looked at for this long is not looked for any more; where it was read to is remembered."""

KEYS_MS = DAY_MS
"""A data key younger than this may belong to a process that is about to seal with it."""

BATCH = 500

CALLS = 200
"""Expired tool calls that one transaction deletes: each also leaves the text index, and the write lock is short."""

log = logging.getLogger("afl.upkeep")


def run(home: Home) -> dict[str, int]:
    """One pass; returns what was removed or marked, by kind."""
    now = home.clock()
    done = {"contexts": sweep_reviews(home)}
    if home.settings.retention_days > 0:
        retention = home.settings.retention_days * DAY_MS
        done["events"] = expire_events(home.db, now - retention)
        done["raw"] = erase_raw(home.db, now - UNREVIEWED_FACTOR * retention)
        done["intake"] = expire_intake(home.db, now - retention, waiting_before=now - UNREVIEWED_FACTOR * retention)
    done["tool_grains"] = expire_tool_grains(home.db, now - home.settings.tool_retention_days * DAY_MS)
    done["blobs"] = sweep_blobs(home, now)
    done["transcripts"] = forget_transcripts(home.db, now - TRANSCRIPTS_MS)
    done["omissions"] = expire_omissions(home.db, now - OMISSIONS_MS)
    done["keys"] = sweep_keys(home, now - KEYS_MS)
    done["held"] = held.mark(home)
    with writing(home.db):
        status.put(home.db, "upkeep", dict(done), now)
    if any(done.values()):
        log.info("upkeep: %s", " ".join(f"{name}={count}" for name, count in sorted(done.items()) if count))
    return done


def sweep_reviews(home: Home) -> int:
    """Remove the files of reviews whose process was killed; gives how many reviews that were."""
    return sweep_contexts(home.paths)


def expire_events(db: sqlite3.Connection, before: int) -> int:
    """Delete events older than the retention whose session has nothing waiting for a review."""
    removed = 0
    while True:
        with writing(db, durable=True):
            rows = db.execute(
                "SELECT event_id FROM events WHERE captured_ms < ? AND NOT EXISTS (SELECT 1 FROM queue JOIN events AS waiting USING (event_id)"
                " WHERE queue.status = 'pending' AND waiting.session_id = events.session_id) LIMIT ?",
                (before, BATCH),
            ).fetchall()
            db.executemany("DELETE FROM events WHERE event_id = ?", [(row[0],) for row in rows])
        removed += len(rows)
        if len(rows) < BATCH:
            return removed


def erase_raw(db: sqlite3.Connection, before: int) -> int:
    """Let go of raw records of evidence that was never reviewed; the blobs go with the sweep."""
    with writing(db, durable=True):
        return db.execute("UPDATE events SET blob = NULL WHERE captured_ms < ? AND blob IS NOT NULL", (before,)).rowcount


def expire_intake(db: sqlite3.Connection, before: int, *, waiting_before: int) -> int:
    """Delete hook rows older than the retention: their events have their own life. Those that still wait (a locked keystore) stay longer."""
    with writing(db, durable=True):
        return db.execute(
            "DELETE FROM intake WHERE received_ms < CASE state WHEN 'new' THEN ? ELSE ? END", (waiting_before, before)
        ).rowcount


def expire_tool_grains(db: sqlite3.Connection, before: int) -> int:
    """Delete captured tool grains older than their own retention, a batch at a time."""
    removed = 0
    while True:
        with writing(db, durable=True):
            gone = expire(db, before, CALLS)
        removed += gone
        if gone < CALLS:
            return removed


def sweep_blobs(home: Home, now: int) -> int:
    """Unlink blobs that no event points at.

    Under the write lock: whoever stores an event confirms its blob under the same lock, so none can be unlinked between the two.
    """
    removed = 0
    for name, modified in list(home.blobs.names()):
        if now - modified <= ORPHAN_MS or is_pointed_at(home.db, name):
            continue
        with writing(home.db):
            removed += not is_pointed_at(home.db, name) and home.blobs.remove(name)
    return removed


def forget_transcripts(db: sqlite3.Connection, before: int) -> int:
    """Forget files that are gone: each one known costs every look for transcripts a little."""
    rows = db.execute("SELECT path FROM transcripts WHERE updated_ms < ?", (before,)).fetchall()
    gone = [(path,) for (path,) in rows if not os.path.lexists(path)]
    for start in range(0, len(gone), BATCH):
        with writing(db):
            db.executemany("DELETE FROM transcripts WHERE path = ?", gone[start : start + BATCH])
    return len(gone)


def expire_omissions(db: sqlite3.Connection, before: int) -> int:
    """Delete notes of why cards were left out; deliveries stay, they are a lesson's record."""
    with writing(db):
        return db.execute("DELETE FROM omissions WHERE at_ms < ?", (before,)).rowcount
