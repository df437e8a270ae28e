"""Rows of the telemetry sidecar: what was recalled how often, what was asked, whether budgets sufficed. A file of its own, never exported, may be deleted.

Counters are kept by the day, so that old ones fall out of a window.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterable, Sequence

import attrs

from afl_core.model.clock import DAY_MS

VERSION = "3"
LOG_DAYS, LOG_ROWS = 90, 200_000
"""What is kept of the full log."""
COUNTER_DAYS = 400
"""Days counters are kept."""

_SCHEMA = """
CREATE TABLE telem_meta (k TEXT PRIMARY KEY, v TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE telem_grain_access (
  hash TEXT NOT NULL, day INTEGER NOT NULL, ns TEXT NOT NULL, recall_count INTEGER NOT NULL, first_ms INTEGER NOT NULL, last_ms INTEGER NOT NULL,
  PRIMARY KEY (hash, day)
) WITHOUT ROWID;
CREATE TABLE telem_query_stat (
  qkey TEXT NOT NULL, day INTEGER NOT NULL, ns TEXT NOT NULL, sample TEXT NOT NULL, run_count INTEGER NOT NULL, empty_count INTEGER NOT NULL,
  sum_results INTEGER NOT NULL, last_ms INTEGER NOT NULL, PRIMARY KEY (qkey, day)
) WITHOUT ROWID;
CREATE TABLE telem_recall_log (
  id INTEGER PRIMARY KEY, ts_ms INTEGER NOT NULL, run_id TEXT, ns TEXT NOT NULL, subject TEXT, query TEXT, n_results INTEGER NOT NULL,
  latency_us INTEGER NOT NULL, top_hashes TEXT NOT NULL
);
CREATE INDEX telem_recall_time ON telem_recall_log (ts_ms);
CREATE TABLE telem_budget_stat (day INTEGER PRIMARY KEY, sample_count INTEGER NOT NULL, overflow_count INTEGER NOT NULL);
"""


@attrs.frozen
class Recalled:
    """One recall. `query`: the free text asked, None for a structural one. Texts and hashes as the sidecar stores them."""

    at_ms: int
    ns: str
    subject: str | None
    relation: str | None
    query: str | None
    hashes: tuple[str, ...]
    latency_us: int
    run_id: str | None = None


def connect(path: str) -> sqlite3.Connection:
    """The sidecar, made when it is not there; one of an older form is begun anew."""
    fresh = not os.path.exists(path)
    if fresh:
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600))
    db = sqlite3.connect(path, isolation_level=None, timeout=5, check_same_thread=False)
    db.execute("PRAGMA journal_mode = WAL")
    db.execute("PRAGMA synchronous = NORMAL")
    db.execute("PRAGMA secure_delete = ON")
    db.execute("BEGIN IMMEDIATE")
    if _version(db) != VERSION:
        for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE 'telem%'").fetchall():
            db.execute(f"DROP TABLE {name}")
        for statement in _SCHEMA.split(";"):
            if statement.strip():
                db.execute(statement)
        db.execute("INSERT INTO telem_meta VALUES ('schema_version', ?)", (VERSION,))
    db.execute("COMMIT")
    return db


def _version(db: sqlite3.Connection) -> str | None:
    try:
        row = db.execute("SELECT v FROM telem_meta WHERE k = 'schema_version'").fetchone()
    except sqlite3.OperationalError:  # an empty file
        return None
    return row[0] if row else None


def write(
    db: sqlite3.Connection, recalls: Iterable[tuple[Recalled, str | None]], budgets: Sequence[tuple[int, bool]], *, log: bool
) -> None:
    """Add recalls, each with the key of its question, and budget samples (ms, overflow). `log`: each recall also gets a row of its own."""
    db.execute("BEGIN IMMEDIATE")
    for one, qkey in recalls:
        day = one.at_ms // DAY_MS
        db.executemany(
            "INSERT INTO telem_grain_access VALUES (?, ?, ?, 1, ?, ?) ON CONFLICT (hash, day) DO UPDATE SET"
            " recall_count = recall_count + 1, last_ms = max(last_ms, excluded.last_ms)",
            [(hash, day, one.ns, one.at_ms, one.at_ms) for hash in one.hashes],
        )
        if qkey is not None:
            db.execute(
                "INSERT INTO telem_query_stat VALUES (?, ?, ?, ?, 1, ?, ?, ?) ON CONFLICT (qkey, day) DO UPDATE SET run_count = run_count + 1,"
                " empty_count = empty_count + excluded.empty_count, sum_results = sum_results + excluded.sum_results, last_ms = excluded.last_ms",
                (qkey, day, one.ns, one.query or one.subject or "", int(not one.hashes), len(one.hashes), one.at_ms),
            )
        if log:
            db.execute(
                "INSERT INTO telem_recall_log (ts_ms, run_id, ns, subject, query, n_results, latency_us, top_hashes) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (one.at_ms, one.run_id, one.ns, one.subject, one.query, len(one.hashes), one.latency_us, json.dumps(one.hashes)),
            )
    for at_ms, overflow in budgets:
        db.execute(
            "INSERT INTO telem_budget_stat VALUES (?, 1, ?) ON CONFLICT (day) DO UPDATE SET sample_count = sample_count + 1,"
            " overflow_count = overflow_count + excluded.overflow_count",
            (at_ms // DAY_MS, int(overflow)),
        )
    db.execute("COMMIT")


def prune(db: sqlite3.Connection, now: int) -> None:
    """Drop what is older than it is kept."""
    db.execute("BEGIN IMMEDIATE")
    db.execute("DELETE FROM telem_recall_log WHERE ts_ms < ?", (now - LOG_DAYS * DAY_MS,))
    db.execute("DELETE FROM telem_recall_log WHERE id <= (SELECT max(id) FROM telem_recall_log) - ?", (LOG_ROWS,))
    for table in ("telem_grain_access", "telem_query_stat", "telem_budget_stat"):
        db.execute(f"DELETE FROM {table} WHERE day < ?", (now // DAY_MS - COUNTER_DAYS,))  # noqa: S608 - fixed names
    db.execute("COMMIT")


def scrub(db: sqlite3.Connection, hashes: Iterable[str], texts: Iterable[str]) -> None:
    """Remove whatever names these grains, or holds one of these texts in a subject, a question or a key; rather too much than too little."""
    db.execute("BEGIN IMMEDIATE")
    for hash in hashes:
        db.execute("DELETE FROM telem_grain_access WHERE hash = ?", (hash,))
        db.execute("DELETE FROM telem_recall_log WHERE instr(top_hashes, ?) > 0", (hash,))
    for text in texts:
        folded = text.lower()
        db.execute(
            "DELETE FROM telem_recall_log WHERE instr(lower(coalesce(subject, '')), ?) OR instr(lower(coalesce(query, '')), ?)",
            (folded, folded),
        )
        db.execute("DELETE FROM telem_query_stat WHERE instr(lower(qkey), ?) OR instr(lower(sample), ?)", (folded, folded))
    db.execute("COMMIT")
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()


def accessed(db: sqlite3.Connection, since_day: int, ns: str | None) -> list[tuple[str, int, int]]:
    """(hash, recalls, last time) since a day, the most recalled first."""
    rows = db.execute(
        "SELECT hash, sum(recall_count), max(last_ms) FROM telem_grain_access WHERE day >= ? AND (? IS NULL OR ns = ?) GROUP BY hash ORDER BY 2 DESC, 1",
        (since_day, ns, ns),
    )
    return [tuple(row) for row in rows]  # type: ignore[misc]


def asked(db: sqlite3.Connection, since_day: int, ns: str | None) -> list[tuple[str, int, int, int, int]]:
    """(sample, runs, empty runs, results in all, last time) of questions since a day, the most asked first."""
    rows = db.execute(
        "SELECT max(sample), sum(run_count), sum(empty_count), sum(sum_results), max(last_ms) FROM telem_query_stat"
        " WHERE day >= ? AND (? IS NULL OR ns = ?) GROUP BY qkey ORDER BY 2 DESC, 1",
        (since_day, ns, ns),
    )
    return [tuple(row) for row in rows]  # type: ignore[misc]


def budgets(db: sqlite3.Connection, since_day: int) -> tuple[int, int]:
    """(samples, overflows) since a day."""
    row = db.execute(
        "SELECT coalesce(sum(sample_count), 0), coalesce(sum(overflow_count), 0) FROM telem_budget_stat WHERE day >= ?", (since_day,)
    )
    return tuple(row.fetchone())  # type: ignore[return-value]
