"""Rows of the text index: which terms stand in which grain. Knows no text; contents are written and removed by the terms themselves."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence

UPTO, MADE_BY = "terms_upto", "terms_version"
"""Names in `meta`: the last grain that is indexed, and the version of the terms."""


def upto(db: sqlite3.Connection) -> int:
    """The last grain (its seq) that is indexed."""
    return int(_meta(db, UPTO) or 0)


def version(db: sqlite3.Connection) -> int:
    """Which version of the terms the index holds; 0 while it is empty."""
    return int(_meta(db, MADE_BY) or 0)


def write(db: sqlite3.Connection, rows: Iterable[tuple[int, str]], last: int, made_by: int) -> None:
    """Index grains (seq, their terms with spaces between) up to `last`."""
    db.executemany("INSERT INTO terms (rowid, body) VALUES (?, ?)", rows)
    db.executemany("INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)", [(UPTO, str(last)), (MADE_BY, str(made_by))])


def remove(db: sqlite3.Connection, seq: int, body: str) -> None:
    """Take a grain out of the index; `body` is exactly what was written for it."""
    db.execute("INSERT INTO terms (terms, rowid, body) VALUES ('delete', ?, ?)", (seq, body))


def clear(db: sqlite3.Connection) -> None:
    """Empty the index."""
    db.execute("INSERT INTO terms (terms) VALUES ('delete-all')")
    db.execute("DELETE FROM meta WHERE key IN (?, ?)", (UPTO, MADE_BY))


MERGE_PAGES = 200
"""Pages of the index that one step of merging writes: some 30 ms."""


def compress(db: sqlite3.Connection) -> bool:
    """Merge the index towards one piece, a bounded step at a time; True while there is more to do.

    Once it is one piece, what was removed from it is gone from the file after the next checkpoint.
    """
    # `secure-delete` (SQLite 3.42) would spare the work, but no older SQLite could open the file any more. A negative number of pages takes
    # in whatever pieces there are at each step, also those that others add meanwhile: a positive one would leave a few of them alone.
    before = db.total_changes
    db.execute("INSERT INTO terms (terms, rank) VALUES ('merge', ?)", (-MERGE_PAGES,))
    return db.total_changes - before >= 2


LEVELS = 1_000
"""Levels of the index after which it is begun anew. Each time it is merged to one piece SQLite (seen with 3.40) puts that two levels higher, and it
calls an index of more than 2,000 damaged."""


def is_worn(db: sqlite3.Connection) -> bool:
    """Whether the index was merged to one piece so often that it has to be begun anew: `clear` it, and let the grains be indexed again.

    How many levels there are stands at the beginning of its record of pieces, behind four bytes (FTS5's own format, see its source).
    """
    row = db.execute("SELECT block FROM terms_data WHERE id = 10").fetchone()
    return row is not None and _number(row[0][4:]) > LEVELS


def _number(block: bytes) -> int:
    """The number that a block begins with: seven bits a byte, the high ones first, and in each byte but the last the eighth bit is set."""
    number = 0
    for byte in block[:8]:
        number = number << 7 | byte & 0x7F
        if not byte & 0x80:
            break
    return number


def frequencies(db: sqlite3.Connection, given: Sequence[str], most: int) -> dict[str, int]:
    """In how many grains each term stands, counted up to `most`; a term that stands in none is left out."""
    found = {}
    for term in given:
        count = db.execute("SELECT count(*) FROM (SELECT 1 FROM terms WHERE terms MATCH ? LIMIT ?)", (quoted(term), most)).fetchone()[0]
        if count:
            found[term] = count
    return found


def beginning(db: sqlite3.Connection, prefix: str, most: int) -> list[str]:
    """Some terms that begin so, in order."""
    rows = db.execute("SELECT term FROM term_rows WHERE term >= ? AND term < ? LIMIT ?", (prefix, prefix + "\U0010ffff", most))
    return [row[0] for row in rows]


def quoted(term: str) -> str:
    """A term as a query holds it."""
    return '"' + term.replace('"', '""') + '"'


def _meta(db: sqlite3.Connection, key: str) -> str | None:
    row = db.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
    return row[0] if row else None
