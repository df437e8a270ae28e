"""Whether a memory file is whole, and what is in it. Reads only."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from typing import Any

from afl_core.memory import index
from afl_core.model.errors import AflError
from afl_core.store import grains, terms
from afl_core.store.cover import Cover

AT_ONCE = 1_000


def verify(db: sqlite3.Connection, cover: Cover, *, progress: Callable[[int], None]) -> dict[str, Any]:
    """`{"ok", "grains", "problems"}`; a problem is a sentence that names the grain."""
    problems = [f"the file: {row[0]}" for row in db.execute("PRAGMA quick_check(16)") if row[0] != "ok"]
    seen = 0
    for batch in _batches(db):
        for row in batch:
            problems += _of_grain(row, cover)
        seen += len(batch)
        progress(seen)
    problems += _of_links(db)
    problems += _of_index(db)
    return {"ok": not problems, "grains": seen, "problems": problems}


def _batches(db: sqlite3.Connection) -> Iterator[list[sqlite3.Row]]:
    after = 0
    while rows := db.execute(
        "SELECT seq, hash, type, superseded_by, derived_from, fields_json, subject, relation, ns, created_ms FROM grains WHERE seq > ? ORDER BY seq LIMIT ?",
        (after, AT_ONCE),
    ).fetchall():
        yield rows
        after = rows[-1][0]


def _of_grain(row: sqlite3.Row, cover: Cover) -> Iterator[str]:
    short = row[1][:12]
    try:
        grain = grains.read(row, cover).grain
    except (AflError, ValueError) as bad:
        yield f"grain {short} cannot be read: {bad}"
        return
    if grain.hash != row[1]:
        yield f"grain {short} holds what has the address {grain.hash[:12]}"
    key = grain.head_key
    wanted = (cover.name(key.subject), cover.name(key.relation)) if key else (None, None)
    if (row[6], row[7]) != wanted or row[8] != grain.ns or row[9] != grain.created_ms:
        yield f"grain {short} is filed under what it does not say"


def _of_links(db: sqlite3.Connection) -> Iterator[str]:
    lost = db.execute(
        "SELECT hash, superseded_by FROM grains old WHERE superseded_by IS NOT NULL AND superseded_by <> ?"
        " AND NOT EXISTS (SELECT 1 FROM grains new WHERE new.hash = old.superseded_by)",
        (grains.WITHDRAWN,),
    )
    yield from (f"grain {row[0][:12]} was superseded by {row[1][:12]}, which is not there" for row in lost)
    dead = db.execute("SELECT hash FROM grains WHERE head = 1 AND superseded_by IS NOT NULL")
    yield from (f"grain {row[0][:12]} is a head and not live" for row in dead)
    headless = db.execute(
        "SELECT ns, count(*) FROM (SELECT ns FROM grains WHERE subject IS NOT NULL AND superseded_by IS NULL"
        " GROUP BY ns, subject, relation HAVING max(head) = 0) GROUP BY ns"
    )
    yield from (f"{row[1]} things in {row[0]!r} have live grains and no head" for row in headless)


def _of_index(db: sqlite3.Connection) -> Iterator[str]:
    try:
        db.execute("SELECT count(*) FROM terms WHERE terms MATCH ?", (terms.quoted("a"),)).fetchone()
    except sqlite3.DatabaseError as bad:
        yield f"the text index: {bad}"
    strays = db.execute("SELECT count(*) FROM terms_docsize WHERE id NOT IN (SELECT seq FROM grains)").fetchone()[0]
    if strays:
        yield f"the text index holds {strays} grains that are not there"
    missing = db.execute(
        "SELECT count(*) FROM grains WHERE seq <= ? AND seq NOT IN (SELECT id FROM terms_docsize)", (terms.upto(db),)
    ).fetchone()[0]
    if missing:
        yield f"the text index lacks {missing} grains"


def stats(db: sqlite3.Connection) -> dict[str, Any]:
    """Counts of grains by type and by namespace, and how many are live, wait to be indexed, and were forgotten."""
    return {
        "grains": db.execute("SELECT count(*) FROM grains").fetchone()[0],
        "live": db.execute("SELECT count(*) FROM grains WHERE superseded_by IS NULL").fetchone()[0],
        "by_type": dict(db.execute("SELECT type, count(*) FROM grains GROUP BY type ORDER BY type").fetchall()),
        "by_namespace": dict(db.execute("SELECT ns, count(*) FROM grains GROUP BY ns ORDER BY ns").fetchall()),
        "not_indexed": index.waiting(db),
        "forgotten": db.execute("SELECT count(*) FROM operations WHERE op = 'forget'").fetchone()[0],
        "kept_out": db.execute("SELECT count(*) FROM tombstones").fetchone()[0],
    }
