"""Finding grains: by what they are about, or by free text. Reads only; the index has to be refreshed before."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

import attrs

from afl_core.memory import terms as words
from afl_core.memory.rank import DEFAULT, Ranked, Weights, ranked
from afl_core.model.grain import GrainType
from afl_core.store import grains, kinds
from afl_core.store import terms as rows
from afl_core.store.cover import PLAIN, Cover

CANDIDATES = 512
"""Grains that are ranked at most, the newest or the best matching ones."""
MOST_TERMS = 6
"""Of a question's terms, so many of the rarest are asked for."""
COMMON_SHARE = 0.01
"""A term that stands in as many of all grains says nothing, unless there is no rarer one ..."""
COMMON_ROWS, COMMON_MOST = 200, CANDIDATES
"""... one that stands in fewer than the first always says something, and in as many as are ranked at most never."""
NEWEST = 1_000
"""Of a term that is asked for though it is too common, so many grains, the newest, before what narrows the question."""
TERMS_LOOKED_AT = 64
"""Of a long question, the first so many terms."""
BEGINNINGS = 32
"""Words that begin like one of the question, where the word itself stands nowhere; together they count as one term."""


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


def recall(db: sqlite3.Connection, where: Where, now: int, most: int, *, cover: Cover = PLAIN, weights: Weights = DEFAULT) -> list[Ranked]:
    """Live grains that are about something, best first. Of very many, the newest are looked at."""
    found = _named(db, where, cover) if _is_named(where) else _of_kinds(db, where)
    return ranked([(grains.read(row, cover), 1.0) for row in found], now, most, weights)


def _named(db: sqlite3.Connection, where: Where, cover: Cover) -> list[sqlite3.Row]:
    """What is asked for by a name, every namespace of its own where an index needs that."""
    spread = [where]
    if where.tool_call_id is None and where.session_id is None:
        spread = [attrs.evolve(where, ns=(ns,)) for ns in (kinds.namespaces(db) if where.ns is None else where.ns)]
    found: list[sqlite3.Row] = []
    for one in spread:
        condition, values = _condition(one, cover)
        order = "+created_ms" if one.subject is not None or one.relation is not None or one.tool_call_id is not None else "created_ms"
        found += db.execute(f"{_SELECT} WHERE {condition} ORDER BY {order} DESC LIMIT {CANDIDATES}", values)
    return found


def _of_kinds(db: sqlite3.Connection, where: Where) -> list[sqlite3.Row]:
    """The newest of one type, or of every type."""
    types = [one.value for one in GrainType] if where.type is None else [where.type]
    spaces: Sequence[str | None] = [None] if where.ns is None else where.ns
    return [row for ns in spaces for kind in types for row in kinds.newest(db, kind, ns, CANDIDATES)]


def _is_named(where: Where) -> bool:
    named = (where.subject, where.relation, where.tool_name, where.tool_call_id, where.session_id)
    return any(name is not None for name in named)


def search(
    db: sqlite3.Connection, text: str, where: Where, now: int, most: int, *, cover: Cover = PLAIN, weights: Weights = DEFAULT
) -> list[Ranked]:
    """Live grains whose text holds a telling word of the question, best first; where none does, those that hold a word that begins like one."""
    wanted = list(dict.fromkeys(words.terms(text)))[:TERMS_LOOKED_AT]
    found = _matching(db, question(db, wanted, cover), where, most, cover)
    if not found and cover is PLAIN:
        found = _matching(db, beginnings(db, wanted), where, most, cover)
    return ranked(found, now, most, weights)


def _matching(db: sqlite3.Connection, asked: Sequence[str], where: Where, most: int, cover: Cover) -> list[tuple[grains.Stored, float]]:
    """Grains that hold one of these terms, each with how well it matches; of a term that very many hold, the newest, all alike."""
    if not asked:
        return []
    condition, values = _condition(where, cover, found=True)
    query = " OR ".join(rows.quoted(term) for term in asked)
    limit = too_common(rows.upto(db))
    says_nothing = len(asked) == 1 and rows.frequencies(db, asked, limit).get(asked[0], 0) >= limit
    if says_nothing:
        matching = f"SELECT rowid AS id, -1.0 AS rank FROM terms WHERE terms MATCH ? ORDER BY rowid DESC LIMIT {NEWEST}"  # noqa: S608 - a number
    else:
        matching = f"SELECT rowid AS id, rank FROM terms WHERE terms MATCH ? ORDER BY rank LIMIT {CANDIDATES}"  # noqa: S608 - a number
    # The best ones of the index first and then their rows: reading the row of everything that matches would cost more than all the rest.
    best = f"SELECT {_COLUMNS}, rank, {condition} FROM ({matching}) CROSS JOIN grains ON grains.seq = id"  # noqa: S608 - fixed texts
    found = db.execute(best, (*values, query)).fetchall()
    fitting = [row for row in found if row[7]]
    if len(found) >= CANDIDATES and len(fitting) < min(CANDIDATES, max(CANDIDATES // 2, most)):  # others fit that match less well
        rank, order = ("-1.0", "terms.rowid DESC") if says_nothing else ("bm25(terms)", "bm25(terms)")
        fitting = db.execute(
            f"SELECT {_COLUMNS}, {rank} FROM grains JOIN terms ON terms.rowid = grains.seq"  # noqa: S608 - fixed texts
            f" WHERE terms MATCH ? AND {condition} ORDER BY {order} LIMIT {CANDIDATES}",
            (query, *values),
        ).fetchall()
    return [(grains.read(row, cover), -row[6]) for row in fitting[:CANDIDATES]]


_COLUMNS = "grains.seq, hash, type, superseded_by, derived_from, fields_json"
_SELECT = f"SELECT {_COLUMNS} FROM grains"  # noqa: S608 - fixed texts


def question(db: sqlite3.Connection, wanted: Sequence[str], cover: Cover = PLAIN) -> list[str]:
    """The terms of a question that are asked for: its rarest, none that very many grains hold."""
    limit = too_common(rows.upto(db))
    return telling(rows.frequencies(db, [cover.name(term) for term in wanted], limit), limit)


def beginnings(db: sqlite3.Connection, wanted: Sequence[str]) -> list[str]:
    """The words that begin like those of a question, for its rarest terms."""
    limit = too_common(rows.upto(db))
    begun = {term: rows.frequencies(db, rows.beginning(db, term, BEGINNINGS), limit) for term in wanted if len(term) > 1}
    sums = {term: sum(found.values()) for term, found in begun.items() if found}
    return [longer for term in telling(sums, limit) for longer in begun[term] if begun[term][longer] < limit]


def too_common(grains_indexed: int) -> int:
    """The number of grains from which on a term says nothing (pure)."""
    return int(min(COMMON_MOST, max(COMMON_ROWS, grains_indexed * COMMON_SHARE)))


def telling(frequencies: dict[str, int], limit: int) -> list[str]:
    """The rarest terms, without those that are too common; the rarest of all when every one is (pure). Of equally rare ones the longer says more."""
    rare = sorted(frequencies, key=lambda term: (frequencies[term], -len(term), term))
    return [term for term in rare if frequencies[term] < limit][:MOST_TERMS] or rare[:1]


def _condition(where: Where, cover: Cover, *, found: bool = False) -> tuple[str, list[object]]:
    """The condition and its values. `found`: the rows are known already, by their text.

    A `+` keeps a column from being chosen for its index: what is named is rarer than a type or a namespace.
    """
    parts, values = ["superseded_by IS NULL"], list[object]()
    named: Sequence[tuple[str, str | None]] = (
        ("subject", where.subject),
        ("relation", where.relation),
        ("tool_name", where.tool_name),
        ("call_id", where.tool_call_id),
        ("session_id", where.session_id),
    )
    rare = found or where.tool_call_id is not None or where.session_id is not None
    by_relation = where.relation is not None and where.subject is None and where.ns is not None and not rare
    if where.ns is not None:
        parts.append(f"{'+' if rare or by_relation else ''}ns IN ({', '.join('?' * len(where.ns))})")
        values += where.ns
    if by_relation and where.ns is not None and where.relation is not None:
        parts.append(f"seq IN ({_OF_RELATION})")  # read from the index alone, not from every row
        values += [where.ns[0], cover.name(where.relation)]
    for column, wanted in named:
        if wanted is not None:
            parts.append(f"{'+' if found else ''}{column} = ?")
            values.append(cover.name(wanted))
    if where.type is not None:
        parts.append("+type = ?")
        values.append(where.type)
    return " AND ".join(parts), values


_OF_RELATION = (
    "SELECT seq FROM grains AS each INDEXED BY grains_subject WHERE each.ns = ? AND each.subject IS NOT NULL AND each.relation = ?"
)
