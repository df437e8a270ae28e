"""Grains where nothing but their type or their namespace is asked for.

Facts and calls of tools are nearly all grains: no index of their own orders them, the last ones are read from the table and older ones through
the indexes of what they are about. The other types have an index.
"""

from __future__ import annotations

import sqlite3

LOOKED_BACK = 5_000
"""Grains that are looked through from the last one before an index is asked for older facts and calls."""

_OTHERS = "type NOT IN ('fact', 'tool')"
"""Word by word the condition of the index `grains_kind`: SQLite uses it only for a query that says the same."""

_ABOUT = {"fact": ("grains_subject", "subject IS NOT NULL"), "tool": ("grains_tool", "tool_name IS NOT NULL")}

_COLUMNS = "grains.seq, hash, type, superseded_by, derived_from, fields_json"


def newest(db: sqlite3.Connection, kind: str, ns: str | None, most: int) -> list[sqlite3.Row]:
    """Rows of live grains of one type, at most so many: of facts and calls of tools those that came last, of others those made last.

    `ns`: their namespace; None for all. A row holds seq, hash, type, superseded_by, derived_from and fields.
    """
    if kind not in _ABOUT:
        spaces = namespaces(db) if ns is None else [ns]
        return [row for space in spaces for row in _made_last(db, kind, space, most)]
    inside, values = ("", ()) if ns is None else (" AND ns = ?", (ns,))
    last = db.execute("SELECT coalesce(max(seq), 0) FROM grains").fetchone()[0]
    live = "type = ? AND superseded_by IS NULL"
    rows = db.execute(
        f"SELECT {_COLUMNS} FROM grains WHERE seq > ? AND {live}{inside} ORDER BY seq DESC LIMIT ?",  # noqa: S608 - fixed texts
        (last - LOOKED_BACK, kind, *values, most),
    ).fetchall()
    if len(rows) >= most or last <= LOOKED_BACK:
        return rows
    index, there = _ABOUT[kind]
    numbers = f"SELECT seq AS id FROM grains INDEXED BY {index} WHERE {there}{inside} ORDER BY seq DESC LIMIT -1"  # noqa: S608 - fixed texts
    return db.execute(  # the limit that is none keeps SQLite from reading the rows of all numbers before it sorts them
        f"SELECT {_COLUMNS} FROM ({numbers}) CROSS JOIN grains ON grains.seq = id WHERE {live} LIMIT ?",  # noqa: S608 - fixed texts
        (*values, kind, most),
    ).fetchall()


def _made_last(db: sqlite3.Connection, kind: str, ns: str, most: int) -> list[sqlite3.Row]:
    return db.execute(
        f"SELECT {_COLUMNS} FROM grains WHERE ns = ? AND type = ? AND {_OTHERS} AND superseded_by IS NULL ORDER BY created_ms DESC LIMIT ?",  # noqa: S608 - fixed texts
        (ns, kind, most),
    ).fetchall()


def namespaces(db: sqlite3.Connection) -> list[str]:
    """Every namespace that has a grain, in order: one step in an index for each."""
    return sorted({row[0] for condition in (*(there for _, there in _ABOUT.values()), _OTHERS) for row in db.execute(_each(condition))})


def in_namespace(ns: str) -> str:
    """The condition, read from indexes, that a grain is of one namespace. `ns`: how SQL says it, such as a named parameter."""
    conditions = (*(there for _, there in _ABOUT.values()), _OTHERS)
    return "seq IN (" + " UNION ".join(f"SELECT seq FROM grains WHERE ns = {ns} AND {condition}" for condition in conditions) + ")"  # noqa: S608


def _each(condition: str) -> str:
    return (
        f"WITH RECURSIVE each (ns) AS (SELECT min(ns) FROM grains WHERE {condition} UNION ALL"  # noqa: S608 - fixed texts
        f" SELECT (SELECT min(grains.ns) FROM grains WHERE grains.ns > each.ns AND {condition}) FROM each WHERE each.ns IS NOT NULL)"
        " SELECT ns FROM each WHERE ns IS NOT NULL"
    )


def calls_before(db: sqlite3.Connection, spaces: str, before_ms: int, most: int) -> list[str]:
    """Addresses of calls of tools, each with an id, made before a time in the namespaces that begin with `spaces`; at most so many.

    One step in an index for each tool of a namespace, and one for each call that is found.
    """
    found: list[str] = []
    at = (spaces, "")
    while len(found) < most:
        row = db.execute(
            "SELECT ns, tool_name FROM grains WHERE tool_name IS NOT NULL AND (ns, tool_name) > (?, ?) ORDER BY ns, tool_name LIMIT 1", at
        ).fetchone()
        if row is None or not row[0].startswith(spaces):
            break
        at = (row[0], row[1])
        rows = db.execute(
            "SELECT hash FROM grains WHERE ns = ? AND tool_name = ? AND created_ms < ? AND +call_id IS NOT NULL ORDER BY created_ms LIMIT ?",
            (*at, before_ms, most - len(found)),
        )
        found += [row[0] for row in rows]
    return found
