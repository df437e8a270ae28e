"""What waits in a home, told from stored times, sizes and names alone: nothing is opened but the store, and nothing is written.

The daemon runs through this file: it imports no plug-in world. It may name more than a pass finds (see `ripening`), never less for good.
"""

from __future__ import annotations

import fcntl
import os
import sqlite3
from collections.abc import Iterable, Iterator

from afl_core.model.clock import DAY_MS
from afl_core.model.errors import AflError
from afl_core.settings.paths import Paths
from afl_core.store import status
from afl_core.store.connection import FRONT_BUSY_MS, connect
from afl_core.worker.roots import Root, Roots

LOOK_BACK_MS = 30 * DAY_MS
"""Sessions not seen for longer are left alone (hosts delete their transcripts after 30 days)."""

UPKEEP_MS = DAY_MS
"""How old the last house-keeping may get."""

HOOKS_MS = 180_000
"""How long hook rows are left to the worker, which gives the transcript two minutes to show what they saw."""

NEXT = "reconcile_next_ms"
"""Name of the status row in which a pass says when the next review may become due: `{"at_ms": ms or null}`."""


class Lookout:
    """Looks at one home again and again; remembers only what directories held."""

    def __init__(self, paths: Paths) -> None:
        self._paths = paths
        self._roots = Roots()

    def look(self, roots: Iterable[Root], now: int) -> dict[str, str]:
        """Key and mark of everything that waits; `now` in ms since the epoch. Raises nothing: what cannot be told is a reason for a pass."""
        found = {f"spool {name}": "" for name in _spooled(self._paths.spool)}
        try:
            db = connect(self._paths.database, busy_ms=FRONT_BUSY_MS, readonly=True)
            try:
                found.update(_in_store(db, now))
                found.update(self._times(db, now))
                if status.meta(db, "capture_enabled", "1") == "1":
                    found.update(_grown(db, now))
                    found.update(self._unknown(db, roots, now))
            finally:
                db.close()
        except AflError as bad:
            found[f"cannot tell: {bad.code}"] = ""
        except (OSError, sqlite3.Error, ValueError, KeyError, TypeError) as bad:
            found[f"cannot tell: {type(bad).__name__}"] = ""
        return found

    def _times(self, db: sqlite3.Connection, now: int) -> Iterator[tuple[str, str]]:
        """Times that a pass or the worker named, unless a pass came after them; the worker's only where no front lives, which has them too."""
        last = status.get(db, "reconcile")
        passed = int(last["updated_ms"]) if last is not None else 0
        if last is None:
            yield "first pass", ""
        for name in (NEXT, "jobs_next_ms"):
            at = (status.get(db, name) or {}).get("at_ms")
            if not isinstance(at, int) or now < at <= now + DAY_MS or at <= passed <= now:
                continue
            if name == NEXT or not is_held(self._paths.front_lock):
                yield f"timer {name}", str(at)
        kept = status.get(db, "upkeep")
        if kept is None or not now - UPKEEP_MS < int(kept["updated_ms"]) <= now:
            yield "upkeep", ""

    def _unknown(self, db: sqlite3.Connection, roots: Iterable[Root], now: int) -> Iterator[tuple[str, str]]:
        """Transcripts below the hosts' roots that no session is known for."""
        newest = self._roots.newest(roots, (now - LOOK_BACK_MS) * 1_000_000)
        if not newest:
            return
        known = {row[0] for row in db.execute("SELECT transcript_path FROM sessions UNION SELECT path FROM transcripts")}
        yield from ((f"transcript {path}", "") for path in newest if path not in known)


def _in_store(db: sqlite3.Connection, now: int) -> Iterator[tuple[str, str]]:
    """Hook rows and reviews whose time has come. A time that is further ahead than a day cannot be meant: it has come."""
    rows = db.execute(
        "SELECT session_id, min(received_ms) FROM intake WHERE state = 'new' AND received_ms NOT BETWEEN ? AND ? GROUP BY session_id",
        (now - HOOKS_MS, now),
    )
    for row in rows:
        yield f"hooks {row[0]}", str(row[1])
    reviews = db.execute(
        "SELECT review_id, status, fence, attempt, next_wake_ms, lease_until_ms FROM reviews WHERE status IN ('pending', 'running')"
    )
    held = [(*row[:4], row[4] if row[1] == "pending" else (row[5] or 0) + 1) for row in reviews]
    is_at_it = any(state == "running" and now < at <= now + DAY_MS for _id, state, _fence, _attempt, at in held)
    for review_id, state, fence, attempt, at in held:
        if not now < at <= now + DAY_MS and not (is_at_it and state == "pending"):  # one after the other, by whoever runs the first
            yield f"review {review_id}", f"{state} {fence} {attempt}"


def _grown(db: sqlite3.Connection, now: int) -> Iterator[tuple[str, str]]:
    """Transcripts of known sessions that end elsewhere than their cursor stands, or are other files by now."""
    rows = db.execute(
        "SELECT transcript_path, device, inode, offset FROM sessions LEFT JOIN cursors ON path = transcript_path"
        " WHERE seen_ms > ? AND transcript_path IS NOT NULL",
        (now - LOOK_BACK_MS,),
    )
    for path, device, inode, offset in rows:
        try:
            seen = os.stat(path)
        except (OSError, ValueError):  # deleted, or not ours to read
            continue
        if (device, inode, offset) != (seen.st_dev, seen.st_ino, seen.st_size):
            yield f"transcript {path}", str(offset)


def is_held(lock: str) -> bool:
    """Whether a living process holds a lock file (front, daemon). Not for the lock of jobs, who leave when they find it taken for a moment."""
    try:
        handle = os.open(lock, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(handle)
    return False


def _spooled(spool: str) -> list[str]:
    try:
        return [name for name in os.listdir(spool) if name.endswith(".rec")]
    except OSError:  # not there yet, or not readable: the pass says so
        return []
