"""Rows of the telemetry sidecar: what was recalled how often, what was asked, whether budgets sufficed. A file of its own, never exported, may be deleted.

Counters are kept by the day, so that old ones fall out of a window.
"""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator

import attrs

from afl_core.model.clock import DAY_MS
from afl_core.store import wal

SIDECAR = ".telemetry.db"
"""Ending of the file beside a memory that telemetry is kept in."""
VERSION = "4"
BUSY_MS = 5_000
"""How long somebody else who writes is waited for."""
LOG_DAYS, LOG_ROWS = 90, 200_000
"""What is kept of the full log."""
COUNTER_DAYS = 400
"""Days counters are kept."""

_SCHEMA = """
CREATE TABLE telem_meta (k TEXT PRIMARY KEY, v TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE telem_grain_access (
  hash TEXT NOT NULL, day INTEGER NOT NULL, ns TEXT NOT NULL, recall_count INTEGER NOT NULL, first_ms INTEGER NOT NULL, last_ms INTEGER NOT NULL,
  sealed BLOB, PRIMARY KEY (hash, day)
) WITHOUT ROWID;
CREATE TABLE telem_query_stat (
  qkey TEXT NOT NULL, day INTEGER NOT NULL, ns TEXT NOT NULL, sample BLOB NOT NULL, run_count INTEGER NOT NULL, empty_count INTEGER NOT NULL,
  sum_results INTEGER NOT NULL, last_ms INTEGER NOT NULL, PRIMARY KEY (qkey, day)
) WITHOUT ROWID;
CREATE TABLE telem_recall_log (
  id INTEGER PRIMARY KEY, ts_ms INTEGER NOT NULL, run_id TEXT, ns TEXT NOT NULL, subject BLOB, query BLOB, n_results INTEGER NOT NULL,
  latency_us INTEGER NOT NULL, top_hashes TEXT NOT NULL
);
CREATE INDEX telem_recall_time ON telem_recall_log (ts_ms);
CREATE TABLE telem_budget_stat (day INTEGER PRIMARY KEY, sample_count INTEGER NOT NULL, overflow_count INTEGER NOT NULL);
"""
"""A sealed memory's texts are sealed here too, its addresses and questions are keyed hashes; `sealed` holds the address, for who has the key."""

Text = str | bytes
"""In clear, or sealed."""


@attrs.frozen
class Recalled:
    """One recall. `query`: the free text asked, None for a structural one. `forgets`: number of the last forget before it began."""

    at_ms: int
    ns: str
    subject: str | None
    relation: str | None
    query: str | None
    hashes: tuple[str, ...]
    latency_us: int
    run_id: str | None = None
    forgets: int = 0


@attrs.frozen
class Row:
    """A recall as the sidecar stores it. `key`: of its question, None without one; `addresses`: each as it is looked up and, sealed, as it is."""

    at_ms: int
    ns: str
    key: str | None
    subject: Text | None
    query: Text | None
    addresses: tuple[tuple[str, bytes | None], ...]
    latency_us: int
    run_id: str | None


def connect(path: str) -> sqlite3.Connection:
    """The sidecar, made when it is not there; one of an older form is begun anew."""
    if not os.path.exists(path):
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600))
    db = sqlite3.connect(path, isolation_level=None, timeout=BUSY_MS / 1000, check_same_thread=False)
    try:
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = NORMAL")
        db.execute("PRAGMA secure_delete = ON")
        with writing(db):
            if _version(db) != VERSION:
                _begin(db)
    except BaseException:
        db.close()
        raise
    return db


def renewed(path: str) -> bool:
    """Make a sidecar anew, where there is one; False when a reader is in the way."""
    if not os.path.exists(path):
        return True
    with contextlib.closing(connect(path)) as db:
        return wal.renew(db)


@contextlib.contextmanager
def writing(db: sqlite3.Connection) -> Iterator[None]:
    """One immediate transaction."""
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
        db.execute("COMMIT")
    except BaseException:
        if db.in_transaction:
            db.execute("ROLLBACK")
        raise


def _begin(db: sqlite3.Connection) -> None:
    for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE 'telem%'").fetchall():
        db.execute(f"DROP TABLE {name}")
    for statement in _SCHEMA.split(";"):
        if statement.strip():
            db.execute(statement)
    db.execute("INSERT INTO telem_meta VALUES ('schema_version', ?)", (VERSION,))


def _version(db: sqlite3.Connection) -> str | None:
    try:
        row = db.execute("SELECT v FROM telem_meta WHERE k = 'schema_version'").fetchone()
    except sqlite3.OperationalError:  # an empty file
        return None
    return row[0] if row else None


def write(db: sqlite3.Connection, recalls: Iterable[Row], budgets: Iterable[tuple[int, bool]], *, log: bool) -> None:
    """Add recalls and budget samples (ms, overflow), in the caller's transaction. `log`: each recall also gets a row of its own."""
    for one in recalls:
        day = one.at_ms // DAY_MS
        db.executemany(
            "INSERT INTO telem_grain_access VALUES (?, ?, ?, 1, ?, ?, ?) ON CONFLICT (hash, day) DO UPDATE SET"
            " recall_count = recall_count + 1, last_ms = max(last_ms, excluded.last_ms)",
            [(name, day, one.ns, one.at_ms, one.at_ms, sealed) for name, sealed in one.addresses],
        )
        if one.key is not None:
            db.execute(
                "INSERT INTO telem_query_stat VALUES (?, ?, ?, ?, 1, ?, ?, ?) ON CONFLICT (qkey, day) DO UPDATE SET run_count = run_count + 1,"
                " empty_count = empty_count + excluded.empty_count, sum_results = sum_results + excluded.sum_results,"
                " last_ms = max(last_ms, excluded.last_ms)",
                (one.key, day, one.ns, one.query or "", int(not one.addresses), len(one.addresses), one.at_ms),
            )
        if log:
            db.execute(
                "INSERT INTO telem_recall_log (ts_ms, run_id, ns, subject, query, n_results, latency_us, top_hashes) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    one.at_ms,
                    one.run_id,
                    one.ns,
                    one.subject,
                    one.query,
                    len(one.addresses),
                    one.latency_us,
                    json.dumps([name for name, _ in one.addresses]),
                ),
            )
    for at_ms, overflow in budgets:
        db.execute(
            "INSERT INTO telem_budget_stat VALUES (?, 1, ?) ON CONFLICT (day) DO UPDATE SET sample_count = sample_count + 1,"
            " overflow_count = overflow_count + excluded.overflow_count",
            (at_ms // DAY_MS, int(overflow)),
        )


def prune(db: sqlite3.Connection, now: int, *, again: bool = False) -> bool:
    """Drop what is older than it is kept, in the caller's transaction: once a day, or `again`. Gives whether it was done."""
    day = now // DAY_MS
    row = db.execute("SELECT v FROM telem_meta WHERE k = 'pruned_day'").fetchone()
    if row is not None and int(row[0]) == day and not again:
        return False
    db.execute("DELETE FROM telem_recall_log WHERE ts_ms < ?", (now - LOG_DAYS * DAY_MS,))
    db.execute("DELETE FROM telem_recall_log WHERE id <= (SELECT max(id) FROM telem_recall_log) - ?", (LOG_ROWS,))
    for table in ("telem_grain_access", "telem_query_stat", "telem_budget_stat"):
        db.execute(f"DELETE FROM {table} WHERE day < ?", (day - COUNTER_DAYS,))  # noqa: S608 - fixed names
    db.execute("INSERT OR REPLACE INTO telem_meta VALUES ('pruned_day', ?)", (str(day),))
    return True


def scrub(db: sqlite3.Connection, addresses: Iterable[str], says: Callable[[Text | None], bool], busy_ms: int = BUSY_MS) -> None:
    """Remove whatever names these grains (as they are looked up), and every question and subject of which `says` holds; then the bytes.

    Raises `sqlite3.OperationalError` when another process keeps the bytes in the write-ahead log, or the file cannot be made anew. `busy_ms`: how
    long it waits for one.
    """
    gone = set(addresses)
    db.execute(f"PRAGMA busy_timeout = {busy_ms}")
    try:
        _scrub(db, gone, says)
    finally:
        db.execute(f"PRAGMA busy_timeout = {BUSY_MS}")


def _scrub(db: sqlite3.Connection, gone: set[str], says: Callable[[Text | None], bool]) -> None:
    db.create_function("says", 1, says)
    db.create_function("names", 1, lambda listed: not gone.isdisjoint(json.loads(listed)))
    with writing(db):
        db.executemany("DELETE FROM telem_grain_access WHERE hash = ?", [(address,) for address in gone])
        db.execute("DELETE FROM telem_recall_log WHERE names(top_hashes) OR says(subject) OR says(query)")
        db.execute("DELETE FROM telem_query_stat WHERE says(sample) OR says(qkey)")
    if not wal.renew(db):
        raise sqlite3.OperationalError("another process is reading it")


def accessed(db: sqlite3.Connection, since_day: int, ns: str | None) -> list[tuple[str, bytes | None, int, int]]:
    """(address as it is looked up, sealed address, recalls, last time) since a day, the most recalled first."""
    rows = db.execute(
        "SELECT hash, max(sealed), sum(recall_count), max(last_ms) FROM telem_grain_access WHERE day >= ? AND (? IS NULL OR ns = ?)"
        " GROUP BY hash ORDER BY 3 DESC, 1",
        (since_day, ns, ns),
    )
    return [tuple(row) for row in rows]


def asked(db: sqlite3.Connection, since_day: int, ns: str | None) -> list[tuple[str, Text, int, int, int, int]]:
    """(key, sample, runs, empty runs, results in all, last time) of questions since a day, the most asked first."""
    rows = db.execute(
        "SELECT qkey, max(sample), sum(run_count), sum(empty_count), sum(sum_results), max(last_ms) FROM telem_query_stat"
        " WHERE day >= ? AND (? IS NULL OR ns = ?) GROUP BY qkey ORDER BY 3 DESC, 1",
        (since_day, ns, ns),
    )
    return [tuple(row) for row in rows]


def budgets(db: sqlite3.Connection, since_day: int) -> tuple[int, int]:
    """(samples, overflows) since a day."""
    row = db.execute(
        "SELECT coalesce(sum(sample_count), 0), coalesce(sum(overflow_count), 0) FROM telem_budget_stat WHERE day >= ?", (since_day,)
    )
    return tuple(row.fetchone())
