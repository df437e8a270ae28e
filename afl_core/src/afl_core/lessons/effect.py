"""What a lesson did: how often it reached an agent, how many turns followed, and how often the same fault came back. Read only; claims no cause."""

from __future__ import annotations

import sqlite3

import attrs

from afl_core.store import lessons


@attrs.frozen
class Effect:
    """A lesson's record. `turns`: the person's messages after it reached a session, in the same epoch; `violations`: incidents of its family
    complained about in those turns; `recurrences`: incidents of its family after the first, wherever.
    """

    lesson_id: str
    emitted: int
    reached: int
    unconfirmed: int
    sessions: int
    turns: int
    violations: int
    recurrences: int

    @property
    def words(self) -> str:
        """The state in words for a person."""
        if self.violations:
            return f"reached, then violated {_times(self.violations)} in {_turns(self.turns)}"
        if self.reached and self.turns:
            return f"reached, no complaint seen in {_turns(self.turns)}"
        if self.reached:
            return "reached, no turn since"
        if self.unconfirmed:
            return "given, not confirmed by a transcript"
        return "given, waiting for proof" if self.emitted else "never selected"


def effect(db: sqlite3.Connection, lesson_id: str) -> Effect | None:
    """The record of one lesson; None when there is no such lesson."""
    row = lessons.get(db, lesson_id)
    if row is None:
        return None
    states = dict(db.execute("SELECT state, count(*) FROM deliveries WHERE lesson_id = ? GROUP BY state", (lesson_id,)).fetchall())
    sessions = db.execute(
        "SELECT count(DISTINCT session_id) FROM deliveries WHERE lesson_id = ? AND state = 'reached'", (lesson_id,)
    ).fetchone()[0]
    after = (
        " FROM (SELECT session_id, epoch, min(emitted_ms) AS since FROM deliveries WHERE lesson_id = :lesson AND state = 'reached'"
        " GROUP BY session_id, epoch) d JOIN events e ON e.session_id = d.session_id AND e.epoch = d.epoch AND e.role = 'user'"
        " AND e.kind = 'message' AND coalesce(e.source_ms, e.captured_ms) > d.since"
    )
    turns = db.execute(f"SELECT count(DISTINCT e.event_id){after}", {"lesson": lesson_id}).fetchone()[0]
    violations = db.execute(
        f"SELECT count(DISTINCT i.incident_id){after} JOIN incidents i ON i.feedback_event_id = e.event_id AND i.family_id = :family",
        {"lesson": lesson_id, "family": row.family_id},
    ).fetchone()[0]
    return Effect(
        lesson_id=lesson_id,
        emitted=sum(states.values()),
        reached=states.get("reached", 0),
        unconfirmed=states.get("unconfirmed", 0),
        sessions=sessions,
        turns=turns,
        violations=violations,
        recurrences=row.recurrence - 1,
    )


def _turns(count: int) -> str:
    return f"{count} turn{'' if count == 1 else 's'}"


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"
