"""Rows of `deliveries` and `omissions`: what was given to which session, how far it came, and what was left out. Decides nothing.

Named tuples, not attrs: the front writes through this file. Every writer joins the caller's transaction.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from afl_core.model.ids import digest

if TYPE_CHECKING:
    import sqlite3

HOLD_ROW = ""
"""The lesson id of an omission row that records a hold."""


class Emission(NamedTuple):
    """One card about to be given to one session. `match_json` says why it was chosen; `at_ms` in ms since the epoch."""

    lesson_id: str
    revision: int
    session_id: str
    epoch: int
    nonce: str
    intake_id: str
    match_json: str
    at_ms: int


class Delivery(NamedTuple):
    """One row of `deliveries`. `state`: emitted, reached or unconfirmed; times in ms since the epoch."""

    delivery_id: str
    lesson_id: str
    revision: int
    session_id: str
    epoch: int
    nonce: str
    state: str
    emissions: int
    intake_id: str
    match_json: str
    emitted_ms: int
    reached_ms: int | None


class Omission(NamedTuple):
    """One row of `omissions`."""

    intake_id: str
    lesson_id: str
    session_id: str
    reason: str
    at_ms: int


_COLUMNS = ", ".join(Delivery._fields)


def delivery_id(session_id: str, epoch: int, lesson_id: str, revision: int) -> str:
    """The same for every emission of one revision in one epoch of one session."""
    return digest("delivery:v1", session_id, str(epoch), lesson_id, str(revision))


def hold_reason(state: str, epoch: int) -> str:
    """The reason that marks a hold as told in an epoch."""
    return f"{state} in epoch {epoch}"


def emitted(db: sqlite3.Connection, cards: Sequence[Emission]) -> None:
    """Record emissions. The same intake again is a replay and counts once; a delivery that reached stays reached."""
    db.executemany(
        f"INSERT INTO deliveries ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, 'emitted', 1, ?, ?, ?, NULL)"  # noqa: S608 - names of this file
        " ON CONFLICT (delivery_id) DO UPDATE SET nonce = excluded.nonce, state = 'emitted', emissions = emissions + 1,"
        " intake_id = excluded.intake_id, match_json = excluded.match_json, emitted_ms = excluded.emitted_ms"
        " WHERE deliveries.intake_id <> excluded.intake_id AND deliveries.state <> 'reached'",
        [(delivery_id(card.session_id, card.epoch, card.lesson_id, card.revision), *card) for card in cards],
    )


def omitted(db: sqlite3.Connection, intake_id: str, session_id: str, left: Sequence[tuple[str, str]], at_ms: int) -> None:
    """Record which lessons (id, reason) were left out of what an intake was given; the first reason stays."""
    rows = [(intake_id, lesson_id, session_id, reason, at_ms) for lesson_id, reason in left]
    db.executemany("INSERT OR IGNORE INTO omissions VALUES (?, ?, ?, ?, ?)", rows)


def reached(db: sqlite3.Connection, session_id: str, nonce: str, at_ms: int) -> list[str]:
    """Turn a session's deliveries with this nonce into reached; gives the lesson ids that were not reached before."""
    rows = db.execute(
        "SELECT delivery_id, lesson_id FROM deliveries WHERE nonce = ? AND session_id = ? AND state <> 'reached' ORDER BY lesson_id",
        (nonce, session_id),
    ).fetchall()
    db.executemany("UPDATE deliveries SET state = 'reached', reached_ms = ? WHERE delivery_id = ?", [(at_ms, row[0]) for row in rows])
    return [row[1] for row in rows]


def unconfirmed(db: sqlite3.Connection, session_id: str, before_ms: int) -> int:
    """Turn a session's deliveries emitted before a time and still not proved into unconfirmed; gives how many."""
    return db.execute(
        "UPDATE deliveries SET state = 'unconfirmed' WHERE session_id = ? AND state = 'emitted' AND emitted_ms < ?", (session_id, before_ms)
    ).rowcount


def hold_told(db: sqlite3.Connection, session_id: str, state: str, epoch: int) -> bool:
    """Whether a hold was already told in this epoch of the session."""
    row = db.execute(
        "SELECT 1 FROM omissions WHERE session_id = ? AND lesson_id = ? AND reason = ?", (session_id, HOLD_ROW, hold_reason(state, epoch))
    ).fetchone()
    return row is not None


def get(db: sqlite3.Connection, delivery_id: str) -> Delivery | None:
    """One delivery by its id."""
    row = db.execute(f"SELECT {_COLUMNS} FROM deliveries WHERE delivery_id = ?", (delivery_id,)).fetchone()  # noqa: S608 - names of this file
    return Delivery(*row) if row else None


def latest_for(db: sqlite3.Connection, lesson_id: str, limit: int) -> list[Delivery]:
    """A lesson's deliveries, newest first."""
    rows = db.execute(
        f"SELECT {_COLUMNS} FROM deliveries WHERE lesson_id = ? ORDER BY emitted_ms DESC, delivery_id LIMIT ?",  # noqa: S608 - names of this file
        (lesson_id, limit),
    )
    return [Delivery(*row) for row in rows]


def of_session(db: sqlite3.Connection, session_id: str) -> list[Delivery]:
    """Everything a session was given, oldest first."""
    rows = db.execute(
        f"SELECT {_COLUMNS} FROM deliveries WHERE session_id = ? ORDER BY emitted_ms, delivery_id",  # noqa: S608 - names of this file
        (session_id,),
    )
    return [Delivery(*row) for row in rows]


def omissions_of(db: sqlite3.Connection, session_id: str) -> list[Omission]:
    """Everything a session was not given and was told of, oldest first."""
    rows = db.execute(
        "SELECT intake_id, lesson_id, session_id, reason, at_ms FROM omissions WHERE session_id = ? ORDER BY at_ms, intake_id, lesson_id",
        (session_id,),
    )
    return [Omission(*row) for row in rows]
