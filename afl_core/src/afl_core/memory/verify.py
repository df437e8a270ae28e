"""Whether a memory file is whole, and what is in it. Reads only."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from typing import Any

from afl_core.memory import index
from afl_core.model.errors import AflError
from afl_core.model.grain import stored
from afl_core.store import grains, operations, terms
from afl_core.store.address import same
from afl_core.store.connection import reading
from afl_core.store.cover import Cover

AT_ONCE = 1_000


PROBLEMS = 100
"""Problems that are told; of a file with more, how many more."""


def verify(db: sqlite3.Connection, cover: Cover, *, progress: Callable[[int], None]) -> dict[str, Any]:
    """`{"ok", "grains", "problems"}`; a problem is a sentence that names the grain. Looks at the file as it is at one moment."""
    told, more, seen = list[str](), 0, 0
    with reading(db):
        for problem in _problems(db, cover, progress):
            if len(told) < PROBLEMS:
                told.append(problem)
            else:
                more += 1
        seen = int(db.execute("SELECT count(*) FROM grains").fetchone()[0])
    if more:
        told.append(f"and {more} more")
    return {"ok": not told, "grains": seen, "problems": told}


def _problems(db: sqlite3.Connection, cover: Cover, progress: Callable[[int], None]) -> Iterator[str]:
    yield from (f"the file: {row[0]}" for row in db.execute("PRAGMA quick_check(16)") if row[0] != "ok")
    seen = 0
    for batch in _batches(db):
        for row in batch:
            yield from _of_grain(row, cover)
        seen += len(batch)
        progress(seen)
    yield from _of_links(db)
    yield from _of_heads(db)
    yield from _of_index(db)


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
        grain = stored(row[2], cover.open(row[1], row[5]))
    except (AflError, ValueError) as bad:
        yield f"grain {short} cannot be read: {bad}"
        return
    if grain.hash != row[1]:
        yield f"grain {short} holds what has the address {grain.hash[:12]}"
    if (row[6], row[7]) != grains.filed(grain, cover) or row[8] != grain.ns or row[9] != grain.created_ms:
        yield f"grain {short} is filed under what it does not say"


def _of_links(db: sqlite3.Connection) -> Iterator[str]:
    lost = db.execute(
        "SELECT hash, superseded_by FROM grains old WHERE superseded_by IS NOT NULL AND superseded_by <> ?"  # noqa: S608 - fixed texts
        f" AND NOT EXISTS (SELECT 1 FROM grains new WHERE {same('new.hash', 'old.superseded_by')})",
        (grains.WITHDRAWN,),
    )
    yield from (f"grain {row[0][:12]} was superseded by {row[1][:12]}, which is not there" for row in lost)


def _of_heads(db: sqlite3.Connection) -> Iterator[str]:
    dead = db.execute("SELECT hash FROM grains WHERE superseded_by IS NOT NULL AND head > 0")
    yield from (f"grain {row[0][:12]} is a head and not live" for row in dead)
    things = db.execute(
        "SELECT ns, sum(max_head = 0 AND live > 0), sum(heads > 1 AND min_head < 2), sum(heads = 1 AND max_head = 2) FROM ("
        "SELECT ns, max(head) AS max_head, min(CASE WHEN head > 0 THEN head END) AS min_head, sum(head > 0) AS heads,"
        " sum(superseded_by IS NULL AND type IN ('fact', 'lesson')) AS live FROM grains WHERE subject IS NOT NULL GROUP BY ns, subject, relation"
        ") GROUP BY ns"
    )
    for ns, headless, unmarked, alone in things:
        if headless:
            yield f"{headless} things in {ns!r} have live grains and no head"
        if unmarked or alone:
            yield f"{unmarked + alone} things in {ns!r} are forked and not marked so, or the other way round"


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
    whole = db.execute("SELECT count(*) FROM grains").fetchone()[0]
    return {
        "grains": whole,
        "live": whole - db.execute("SELECT count(*) FROM grains WHERE superseded_by IS NOT NULL").fetchone()[0],
        "by_type": dict(db.execute("SELECT type, count(*) FROM grains GROUP BY type ORDER BY type").fetchall()),
        "by_namespace": dict(db.execute("SELECT ns, count(*) FROM grains GROUP BY ns ORDER BY ns").fetchall()),
        "not_indexed": index.waiting(db),
        "forgotten": db.execute("SELECT count(*) FROM operations WHERE op = 'forget'").fetchone()[0],
        "kept_out": operations.buried(db),
    }
