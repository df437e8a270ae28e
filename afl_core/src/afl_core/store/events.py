"""Events, their sightings and the signals among them: rows in, rows out. Writers take an open transaction."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from typing import Any

import attrs

from afl_core.model.event import Event, EventKind, Place, Role, Signal, SignalKind

COLUMNS = "event_id, session_id, project_id, generation, offset, part, epoch, kind, role, text, turn, native_id, parent_id, call_id, tool_name, is_error, exit_code, data_class, completeness, source_ms, captured_ms, blob"


def from_row(row: sqlite3.Row) -> Event:
    """A row of `events` as an `Event`."""
    return Event(
        event_id=row["event_id"],
        session_id=row["session_id"],
        project_id=row["project_id"],
        place=Place(row["generation"], row["offset"], row["part"]),
        epoch=row["epoch"],
        kind=EventKind(row["kind"]),
        role=Role(row["role"]),
        text=row["text"],
        turn=row["turn"],
        native_id=row["native_id"],
        parent_id=row["parent_id"],
        call_id=row["call_id"],
        tool_name=row["tool_name"],
        is_error=None if row["is_error"] is None else bool(row["is_error"]),
        exit_code=row["exit_code"],
        data_class=row["data_class"],
        completeness=row["completeness"],
        source_ms=row["source_ms"],
        captured_ms=row["captured_ms"],
        blob=row["blob"],
    )


def get(db: sqlite3.Connection, event_id: str) -> Event | None:
    """One event."""
    row = db.execute(f"SELECT {COLUMNS} FROM events WHERE event_id = ?", (event_id,)).fetchone()  # noqa: S608 - names of this file
    return None if row is None else from_row(row)


def of_session(db: sqlite3.Connection, session_id: str) -> list[Event]:
    """All events of a session in the order of their places."""
    rows = db.execute(f"SELECT {COLUMNS} FROM events WHERE session_id = ? ORDER BY generation, offset, part", (session_id,))  # noqa: S608
    return [from_row(row) for row in rows]


def count_of(db: sqlite3.Connection, session_id: str) -> int:
    """How many events of a session are stored."""
    return int(db.execute("SELECT count(*) FROM events WHERE session_id = ?", (session_id,)).fetchone()[0])


def epoch_at(db: sqlite3.Connection, session_id: str, at_ms: int) -> int | None:
    """The epoch of the session's transcript at a time (ms); None when nothing of before is stored."""
    row = db.execute(
        "SELECT epoch FROM events WHERE session_id = ? AND source_ms <= ? AND completeness <> 'hook_only' ORDER BY source_ms DESC, epoch DESC LIMIT 1",
        (session_id, at_ms),
    ).fetchone()
    return None if row is None else int(row[0])


def last_generation(db: sqlite3.Connection, session_id: str) -> int:
    """The latest generation the session has events of; 0 without any. What only a hook saw stands in the generation that was the latest then."""
    return int(db.execute("SELECT coalesce(max(generation), 0) FROM events WHERE session_id = ?", (session_id,)).fetchone()[0])


def has_generation(db: sqlite3.Connection, session_id: str, generation: int) -> bool:
    """Whether the session has events of this generation."""
    row = db.execute("SELECT 1 FROM events WHERE session_id = ? AND generation = ? LIMIT 1", (session_id, generation)).fetchone()
    return row is not None


@attrs.frozen
class Newcomer:
    """An event to be stored, with what stands beside it in its row. `blob`: the sealed raw record, None for none."""

    event: Event
    mac: str | None
    manifest: Mapping[str, int]
    blob: str | None


def insert(db: sqlite3.Connection, event: Event, *, mac: str | None, manifest: Mapping[str, int]) -> None:
    """Store a new event under the session's next sequence number."""
    insert_all(db, event.session_id, [Newcomer(event, mac, manifest, event.blob)])


def insert_all(db: sqlite3.Connection, session_id: str, newcomers: Sequence[Newcomer]) -> None:
    """Store new events of one session, in order, under its next sequence numbers."""
    count = len(newcomers)
    first = db.execute(
        "UPDATE sessions SET next_seq = next_seq + ? WHERE session_id = ? RETURNING next_seq - ?", (count, session_id, count)
    ).fetchone()[0]
    db.executemany(_INSERT, [_row(one, seq) for seq, one in enumerate(newcomers, first)])


_INSERT = f"INSERT INTO events ({COLUMNS}, seq, manifest_json, text_mac) VALUES ({', '.join('?' * 25)})"  # noqa: S608 - names of this file


def _row(one: Newcomer, seq: int) -> tuple[Any, ...]:
    event, place = one.event, one.event.place
    return (
        event.event_id,
        event.session_id,
        event.project_id,
        place.generation,
        place.offset,
        place.part if event.completeness != "hook_only" else HOOK_ONLY_PART + seq,
        event.epoch,
        event.kind.value,
        event.role.value,
        event.text,
        event.turn,
        event.native_id,
        event.parent_id,
        event.call_id,
        event.tool_name,
        None if event.is_error is None else int(event.is_error),
        event.exit_code,
        event.data_class,
        event.completeness,
        event.source_ms,
        event.captured_ms,
        one.blob,
        seq,
        json.dumps(dict(sorted(one.manifest.items()))) if one.manifest else "{}",
        one.mac,
    )


HOOK_ONLY_PART = 1_000_000
"""Parts of events that only a hook saw start here: they sort behind the records of the transcript as it was then."""


def place_in_transcript(db: sqlite3.Connection, event_id: str, seen: Event, blob: str | None) -> None:
    """A hook-born event was found in the transcript: take over its place, ids, epoch and raw record."""
    db.execute(
        "UPDATE events SET generation = ?, offset = ?, part = ?, epoch = ?, turn = coalesce(?, turn), native_id = ?, parent_id = ?,"
        " source_ms = coalesce(?, source_ms), completeness = ?, blob = coalesce(?, blob) WHERE event_id = ?",
        (
            seen.place.generation,
            seen.place.offset,
            seen.place.part,
            seen.epoch,
            seen.turn,
            seen.native_id,
            seen.parent_id,
            seen.source_ms,
            seen.completeness,
            blob,
            event_id,
        ),
    )


def read_again(db: sqlite3.Connection, event_id: str, seen: Event, manifest: Mapping[str, int]) -> None:
    """A later reading of the same words knew what stood before them: their epoch, and more secrets; a text that hides less gives way.

    What a fork reads again of its origin belongs to the origin, whose secrets and epochs the fork need not have seen, and stays as it is. So does
    an event without words: they were forgotten.
    """
    row = db.execute(
        "SELECT text, manifest_json, epoch FROM events WHERE event_id = ? AND session_id = ?", (event_id, seen.session_id)
    ).fetchone()
    if row is None:
        return
    if row[0] and row[0] != seen.text and sum(manifest.values()) > sum(json.loads(row[1]).values()):
        text, counts = seen.text, json.dumps(dict(sorted(manifest.items())))
        db.execute("UPDATE events SET text = ?, manifest_json = ? WHERE event_id = ?", (text, counts, event_id))
    if row[2] != seen.epoch:
        db.execute("UPDATE events SET epoch = ? WHERE event_id = ?", (seen.epoch, event_id))


def retell(db: sqlite3.Connection, event_id: str, text: str, mac: str, manifest: Mapping[str, int]) -> None:
    """The transcript's own text of an answer takes the place of what a hook said of it, which may be a part, several parts, or spaced otherwise."""
    counts = json.dumps(dict(sorted(manifest.items())))
    db.execute("UPDATE events SET text = ?, text_mac = ?, manifest_json = ? WHERE event_id = ?", (text, mac, counts, event_id))


def sighted(db: sqlite3.Connection, session_id: str, source: str, source_id: str) -> str | None:
    """The event this sighting belongs to, or None when it is new."""
    row = db.execute(
        "SELECT event_id FROM sightings WHERE session_id = ? AND source = ? AND source_id = ?", (session_id, source, source_id)
    ).fetchone()
    return None if row is None else str(row[0])


def sighted_all(db: sqlite3.Connection, session_id: str, source: str, source_ids: Sequence[str]) -> dict[str, str]:
    """The events that sightings belong to, by source id; those that are new are not in it."""
    marks = ", ".join("?" * len(source_ids))
    rows = db.execute(
        f"SELECT source_id, event_id FROM sightings WHERE session_id = ? AND source = ? AND source_id IN ({marks})",  # noqa: S608
        (session_id, source, *source_ids),
    )
    return {row[0]: row[1] for row in rows}


def add_sightings(db: sqlite3.Connection, session_id: str, source: str, pairs: Sequence[tuple[str, str]], now: int) -> None:
    """Remember who saw events: (source id, event id) each; repeated sightings change nothing."""
    db.executemany(
        "INSERT OR IGNORE INTO sightings (session_id, source, source_id, event_id, at_ms) VALUES (?, ?, ?, ?, ?)",
        [(session_id, source, source_id, event_id, now) for source_id, event_id in pairs],
    )


def has_hook_only(db: sqlite3.Connection, session_id: str) -> bool:
    """Whether the session has an event that only a hook saw so far."""
    row = db.execute("SELECT 1 FROM events WHERE session_id = ? AND completeness = 'hook_only' LIMIT 1", (session_id,)).fetchone()
    return row is not None


def add_sighting(db: sqlite3.Connection, session_id: str, source: str, source_id: str, event_id: str, now: int) -> None:
    """Remember who saw the event; a repeated sighting changes nothing."""
    db.execute(
        "INSERT OR IGNORE INTO sightings (session_id, source, source_id, event_id, at_ms) VALUES (?, ?, ?, ?, ?)",
        (session_id, source, source_id, event_id, now),
    )


def unseen_by(db: sqlite3.Connection, session_id: str, source: str, mac: str, role: Role, turn: str | None) -> list[Event]:
    """Messages of this text and role that `source` has not sighted yet: those of the turn first, then the oldest."""
    rows = db.execute(
        f"SELECT {COLUMNS} FROM events WHERE session_id = ? AND text_mac = ? AND role = ? AND kind = 'message' AND NOT EXISTS"  # noqa: S608
        " (SELECT 1 FROM sightings WHERE sightings.event_id = events.event_id AND source = ?)"
        " ORDER BY turn IS NOT ?, generation, offset, part",
        (session_id, mac, role.value, source, turn),
    )
    return [from_row(row) for row in rows]


def unseen_in_turn(db: sqlite3.Connection, session_id: str, source: str, turn: str, role: Role) -> list[Event]:
    """Messages of this turn and role that `source` has not sighted yet, oldest first. (`+`: through the turn's index, not the whole session.)"""
    rows = db.execute(
        f"SELECT {COLUMNS} FROM events WHERE session_id = ? AND turn = ? AND role = ? AND kind = 'message' AND NOT EXISTS"  # noqa: S608
        " (SELECT 1 FROM sightings WHERE sightings.event_id = events.event_id AND source = ?) ORDER BY +generation, offset, part",
        (session_id, turn, role.value, source),
    )
    return [from_row(row) for row in rows]


def elsewhere(db: sqlite3.Connection, native_ids: Sequence[str], session_id: str) -> dict[tuple[str, int], str]:
    """The events another session already has for these records, by native id and part: forks copy records with their ids."""
    marks = ", ".join("?" * len(native_ids))
    rows = db.execute(
        f"SELECT native_id, part, event_id FROM events WHERE native_id IN ({marks}) AND session_id <> ?",  # noqa: S608
        (*native_ids, session_id),
    )
    return {(row[0], row[1]): row[2] for row in rows}


def read_before(db: sqlite3.Connection, seen: Event, mac: str) -> str | None:
    """The event that an earlier generation has of a record without an id of its own: the same words, or the same call, at the same moment.

    A file that was written anew (a host that migrates old files) is read from its start; each record is taken for one earlier event.
    """
    if seen.source_ms is None:
        return None
    if mac:
        index, value = "text_mac = ?", mac
    elif seen.call_id is not None:
        index, value = "call_id = ?", seen.call_id
    elif seen.kind is EventKind.TURN_CUT and seen.parent_id is not None:
        index, value = "kind = 'turn_cut' AND parent_id = ?", seen.parent_id
    else:
        return None
    row = db.execute(
        f"SELECT event_id FROM events WHERE session_id = ? AND {index} AND kind = ? AND role = ? AND source_ms = ? AND call_id IS ?"  # noqa: S608
        " AND native_id IS NULL AND completeness <> 'hook_only' AND generation < ? AND NOT EXISTS (SELECT 1 FROM sightings"
        " WHERE sightings.event_id = events.event_id AND source = 'transcript' AND source_id LIKE ?) ORDER BY +generation, +offset, +part LIMIT 1",
        (
            seen.session_id,
            value,
            seen.kind.value,
            seen.role.value,
            seen.source_ms,
            seen.call_id,
            seen.place.generation,
            f"{seen.place.generation}:%",
        ),
    ).fetchone()
    return None if row is None else str(row[0])


def add_signal(db: sqlite3.Connection, signal: Signal, project_id: str, now: int) -> bool:
    """Store a signal once; False when the event has one already, or what it points at is gone."""
    if db.execute("SELECT 1 FROM events WHERE event_id = ?", (signal.referent_id,)).fetchone() is None:
        return False
    changed = db.execute(
        "INSERT OR IGNORE INTO signals (event_id, kind, referent_id, project_id, at_ms) VALUES (?, ?, ?, ?, ?)",
        (signal.event_id, signal.kind.value, signal.referent_id, project_id, now),
    )
    return changed.rowcount == 1


def signal_of(db: sqlite3.Connection, event_id: str) -> Signal | None:
    """The signal of an event."""
    row = db.execute("SELECT event_id, kind, referent_id FROM signals WHERE event_id = ?", (event_id,)).fetchone()
    return None if row is None else Signal(event_id=row[0], kind=SignalKind(row[1]), referent_id=row[2])
