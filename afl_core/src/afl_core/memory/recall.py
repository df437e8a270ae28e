"""Finding grains: by what they are about, or by free text. Reads only; the index has to be refreshed before."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Sequence

import attrs

from afl_core.memory import terms as words
from afl_core.memory.rank import DEFAULT, Ranked, Weights, ranked
from afl_core.store import grains
from afl_core.store import terms as rows
from afl_core.store.cover import PLAIN, Cover

CANDIDATES = 512
"""Grains that are ranked at most, the newest or the best matching ones."""
MOST_TERMS = 6
"""Of a question's terms, so many of the rarest are asked for."""
COMMON_SHARE = 0.01
"""A term that stands in as many of all grains says nothing, unless there is no rarer one ..."""
COMMON_ROWS, COMMON_MOST = 200, 4_000
"""... one that stands in fewer than the first always says something, and in as many as the second never."""
TERMS_LOOKED_AT = 64
"""Of a long question, the first so many terms."""
BEGINNINGS = 8
"""Terms that begin like a word of the question, where the word itself stands nowhere."""


@attrs.frozen
class Where:
    """Which grains are asked for; None does not narrow. `ns`: namespaces, empty for none at all."""

    ns: tuple[str, ...] | None = None
    subject: str | None = None
    relation: str | None = None
    type: str | None = None
    tool_name: str | None = None
    tool_call_id: str | None = None
    session_id: str | None = None
    since_ms: int | None = None
    until_ms: int | None = None


def recall(db: sqlite3.Connection, where: Where, now: int, most: int, *, cover: Cover = PLAIN, weights: Weights = DEFAULT) -> list[Ranked]:
    """Live grains that are about something, best first."""
    condition, values = _condition(where, cover)
    found = db.execute(f"{_SELECT} WHERE {condition} ORDER BY grains.seq DESC LIMIT {CANDIDATES}", values).fetchall()
    return ranked([(grains.read(row, cover), 1.0) for row in found], now, most, weights)


def search(
    db: sqlite3.Connection, text: str, where: Where, now: int, most: int, *, cover: Cover = PLAIN, weights: Weights = DEFAULT
) -> list[Ranked]:
    """Live grains whose text holds a telling word of the question, best first."""
    asked = question(db, text, cover)
    if not asked:
        return []
    condition, values = _condition(where, cover)
    query = " OR ".join(rows.quoted(term) for term in asked)
    found = db.execute(
        f"{_SELECT.replace(' FROM', ', bm25(terms) FROM')} JOIN terms ON terms.rowid = grains.seq"
        f" WHERE terms MATCH ? AND {condition} ORDER BY bm25(terms) LIMIT {CANDIDATES}",
        (query, *values),
    ).fetchall()
    return ranked([(grains.read(row, cover), -row[6]) for row in found], now, most, weights)


_SELECT = "SELECT grains.seq, hash, type, superseded_by, derived_from, fields_json FROM grains"


def question(db: sqlite3.Connection, text: str, cover: Cover = PLAIN) -> list[str]:
    """The terms of a question that are asked for: its rarest, none that very many grains hold; where a word stands nowhere, how words begin."""
    limit = too_common(rows.upto(db))
    wanted = list(dict.fromkeys(words.terms(text)))[:TERMS_LOOKED_AT]
    found = rows.frequencies(db, [cover.name(term) for term in wanted], limit)
    if cover is PLAIN:
        lacking = [term for term in wanted if term not in found and len(term) > 1]
        begun = [longer for term in lacking for longer in rows.beginning(db, term, BEGINNINGS)]
        found |= rows.frequencies(db, begun, limit)
    return telling(found, limit)


def too_common(grains_indexed: int) -> int:
    """The number of grains from which on a term says nothing (pure)."""
    return int(min(COMMON_MOST, max(COMMON_ROWS, grains_indexed * COMMON_SHARE)))


def telling(frequencies: dict[str, int], limit: int) -> list[str]:
    """The rarest terms, without those that are too common; the rarest of all when every one is (pure)."""
    rare = sorted(frequencies, key=lambda term: (frequencies[term], term))
    return [term for term in rare if frequencies[term] < limit][:MOST_TERMS] or rare[:1]


def _condition(where: Where, cover: Cover) -> tuple[str, list[object]]:
    parts, values = ["superseded_by IS NULL"], list[object]()
    if where.ns is not None:
        parts.append("ns = ?" if len(where.ns) == 1 else f"ns IN ({', '.join('?' * len(where.ns))})")
        values += where.ns
    named: Sequence[tuple[str, str | None]] = (
        ("subject", where.subject),
        ("relation", where.relation),
        ("tool_name", where.tool_name),
        ("call_id", where.tool_call_id),
        ("session_id", where.session_id),
    )
    for column, wanted in named:
        if wanted is not None:
            parts.append(f"{column} = ?")
            values.append(cover.name(wanted))
    for condition, value in (("type = ?", where.type), ("created_ms >= ?", where.since_ms), ("created_ms < ?", where.until_ms)):
        if value is not None:
            parts.append(condition)
            values.append(value)
    return " AND ".join(parts), values


def live(db: sqlite3.Connection, hashes: Collection[str]) -> set[str]:
    """Which of these are live."""
    marks = ", ".join("?" * len(hashes))
    found = db.execute(f"SELECT hash FROM grains WHERE superseded_by IS NULL AND hash IN ({marks})", tuple(hashes))  # noqa: S608 - marks only
    return {row[0] for row in found}
