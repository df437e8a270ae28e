"""Stored words by the project they belong to, and the rows that take their place: every write names the text it was made from. Joins the transaction."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence

import attrs

from afl_core.model.grain import Grain
from afl_core.model.lesson import project_ns
from afl_core.store import grains, kinds
from afl_core.store.address import AT
from afl_core.store.texts import WORDS, Column

_OF_REVIEW = "review_id IN (SELECT review_id FROM reviews WHERE project_id = :project)"
_OF_NO_REVIEW = "review_id NOT IN (SELECT review_id FROM reviews)"

OF_PROJECT = {
    "incidents": "project_id = :project",
    "reviews": "project_id = :project",
    "review_runs": "project_id = :project",
    "receipts": _OF_REVIEW,
    "reports": _OF_REVIEW,
    "effects": _OF_REVIEW,
    "grains": kinds.in_namespace("('project:' || :project)"),
    "lessons": "project_id = :project",
    "deliveries": "session_id IN (SELECT session_id FROM sessions WHERE project_id = :project)",
}
"""Which rows of a table, events aside, belong to a project."""

OF_NONE = {
    "receipts": _OF_NO_REVIEW,
    "reports": _OF_NO_REVIEW,
    "effects": _OF_NO_REVIEW,
    "grains": "ns NOT LIKE 'project:%'",
    "lessons": "project_id IS NULL",
    "deliveries": "session_id NOT IN (SELECT session_id FROM sessions)",
    "audit_texts": "1",
    "status": "1",
    "plugin_ledger": "1",
}
"""Which belong to no project; every project's words may be repeated in them."""

COLUMNS = {f"{column.table}.{column.name}": column for column in WORDS}


class MovedError(Exception):
    """A row is no longer as it was read: somebody wrote it meanwhile."""


@attrs.frozen
class EventText:
    """What is read of an event."""

    event_id: str
    session_id: str
    text: str
    tool_name: str | None
    call_id: str | None
    kind: str


def projects(db: sqlite3.Connection) -> list[str]:
    """Every project that has words."""
    rows = db.execute(
        "SELECT project_id FROM events UNION SELECT project_id FROM incidents UNION SELECT project_id FROM reviews"
        " UNION SELECT project_id FROM review_runs UNION SELECT project_id FROM lessons WHERE project_id IS NOT NULL"
        " UNION SELECT project_id FROM sessions"
    )
    every = project_ns("")
    of_grains = {ns.removeprefix(every) for ns in kinds.namespaces(db) if ns.startswith(every)}
    return sorted({row[0] for row in rows} | of_grains)


def events(db: sqlite3.Connection, project_id: str) -> Iterator[EventText]:
    """The events of a project that have words."""
    rows = db.execute(
        "SELECT event_id, session_id, text, tool_name, call_id, kind FROM events WHERE project_id = ? AND (text <> '' OR tool_name IS NOT NULL)",
        (project_id,),
    )
    for row in rows:
        yield EventText(*row)


def texts(db: sqlite3.Connection, where: str, project_id: str | None) -> Iterator[tuple[str, str]]:
    """(key, text) of the rows of one column, such as `reports.text`, that belong to a project, or to none."""
    column = COLUMNS[where]
    scope = (OF_NONE if project_id is None else OF_PROJECT)[column.table]
    statement = f"SELECT {column.key}, {column.name} FROM {column.table} WHERE {column.name} <> '' AND ({scope})"  # noqa: S608 - names of ours
    for row in db.execute(statement, {} if project_id is None else {"project": project_id}):
        yield str(row[0]), str(row[1])


def incident_quotes(db: sqlite3.Connection, project_id: str) -> list[tuple[str, str, str]]:
    """(incident, event, quote) of a project."""
    rows = db.execute("SELECT incident_id, feedback_event_id, quote FROM incidents WHERE project_id = ?", (project_id,))
    return [(row[0], row[1], row[2]) for row in rows]


def put_event(db: sqlite3.Connection, before: EventText, text: str, tool_name: str | None, rules: Mapping[str, int]) -> None:
    """Put a text in the place of an event's, and count what was replaced beside what was before. An event that is gone stays gone."""
    row = db.execute("SELECT text, tool_name, manifest_json FROM events WHERE event_id = ?", (before.event_id,)).fetchone()
    if row is None:
        return
    if (row[0], row[1]) != (before.text, before.tool_name):
        raise MovedError(before.event_id)
    counts = json.loads(row[2])
    for rule, count in rules.items():
        counts[rule] = counts.get(rule, 0) + count
    db.execute(
        "UPDATE events SET text = ?, tool_name = ?, manifest_json = ? WHERE event_id = ?",
        (text, tool_name, json.dumps(dict(sorted(counts.items()))), before.event_id),
    )


def put_text(db: sqlite3.Connection, where: str, key: str, before: str, text: str) -> None:
    """Put a text in the place of another."""
    column = COLUMNS[where]
    found = _text(db, column, key)
    if found is None:
        return
    if found != before:
        raise MovedError(f"{where} {key}")
    db.execute(f"UPDATE {column.table} SET {column.name} = ? WHERE {column.key} = ?", (text, key))  # noqa: S608 - names of ours


def erase_audit_text(db: sqlite3.Connection, address: str) -> None:
    """Take a body or reason of the audit chain away: another text under its hash would break the chain, none does not."""
    db.execute("DELETE FROM audit_texts WHERE hash = ?", (address,))


def _text(db: sqlite3.Connection, column: Column, key: str) -> str | None:
    row = db.execute(f"SELECT {column.name} FROM {column.table} WHERE {column.key} = ?", (key,)).fetchone()  # noqa: S608 - names of ours
    return None if row is None else str(row[0])


def put_grain(db: sqlite3.Connection, hash: str, before: str, grain: Grain, signature: str | None) -> None:
    """Put a grain in the place of another in every respect: head, successor, revision. The old row goes, and its address is not kept."""
    row = db.execute(f"SELECT superseded_by, derived_from, fields_json, head, seq FROM grains WHERE {AT}", (hash, hash)).fetchone()  # noqa: S608 - fixed
    if row is None:
        return
    if row[2] != before:
        raise MovedError(hash)
    db.execute(f"DELETE FROM grains WHERE {AT}", (hash, hash))  # noqa: S608 - a fixed text
    grains.give_up_place(db, row[4])
    if grains.get(db, grain.hash) is None:
        grains.insert(db, grain, derived_from=row[1], signature=signature)
        grains.set_superseded(db, grain.hash, row[0])
    for statement in (
        "UPDATE grains SET superseded_by = ? WHERE superseded_by = ?",
        "UPDATE grains SET derived_from = ? WHERE derived_from = ?",
        "UPDATE operations SET hash = ? WHERE hash = ?",
        "UPDATE operations SET other = ? WHERE other = ?",
        "UPDATE lessons SET grain_hash = ? WHERE grain_hash = ?",
        "UPDATE lesson_revisions SET grain_hash = ? WHERE grain_hash = ?",
    ):
        db.execute(statement, (grain.hash, hash))
    db.execute("UPDATE operations SET heads = replace(heads, ?, ?) WHERE heads IS NOT NULL", (hash, grain.hash))
    if row[3] and grain.head_key is not None:
        grains.set_heads(db, grain.head_key, [*grains.heads(db, grain.head_key), grain.hash])


def lessons_of(db: sqlite3.Connection, hash: str) -> list[str]:
    """The lessons whose current text a grain is."""
    return [row[0] for row in db.execute("SELECT lesson_id FROM lessons WHERE grain_hash = ?", (hash,))]


def show_secrets(db: sqlite3.Connection, session_id: str, names: Sequence[str], limit: int) -> None:
    """Add keyed hashes to the secrets that a session is known to have shown. A reader that is under way begins its stretch again."""
    for path, both in db.execute("SELECT path, state_json FROM cursors WHERE session_id = ?", (session_id,)).fetchall():
        body = json.loads(both)
        thread = body["thread"]
        kept = [*thread.get("secrets", ()), *names]
        thread["secrets"] = list(dict.fromkeys(kept))[-limit:]
        told = json.dumps(body, ensure_ascii=False, separators=(",", ":"))
        db.execute("UPDATE cursors SET state_json = ?, version = version + 1 WHERE path = ?", (told, path))
