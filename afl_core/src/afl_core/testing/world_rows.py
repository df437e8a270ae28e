"""What capture left in a home, as plain tuples that tests compare."""

from __future__ import annotations

import json
import sqlite3
from typing import Any

from afl_core.api.home import Home
from afl_core.store import sessions
from afl_core.store.events import HOOK_ONLY_PART

EVENT_COLUMNS = (
    "event_id, project_id, epoch, kind, role, text, manifest_json, text_mac, turn, native_id, parent_id, call_id, tool_name, is_error,"
    " exit_code, completeness, source_ms, blob IS NOT NULL"
)


class WorldRows:
    """Reads of one home's store; changes nothing."""

    def __init__(self, home: Home) -> None:
        self.home = home

    @property
    def db(self) -> sqlite3.Connection:
        """The store."""
        return self.home.db

    def _all(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        return [tuple(row) for row in self.db.execute(sql, values)]

    def events(self, *columns: str, session_id: str) -> list[Any]:
        """Columns of a session's events in the order of their places; one column alone is not wrapped in a tuple."""
        names = ", ".join(columns or ("role", "text"))
        rows = self._all(f"SELECT {names} FROM events WHERE session_id = ? ORDER BY generation, offset, part", session_id)  # noqa: S608
        return [row if len(row) > 1 else row[0] for row in rows]

    def messages(self, session_id: str) -> list[tuple[Any, ...]]:
        """(role, text) of what was said."""
        return self._all(
            "SELECT role, text FROM events WHERE session_id = ? AND kind = 'message' ORDER BY generation, offset, part", session_id
        )

    def signals(self) -> list[tuple[Any, ...]]:
        """(kind, the person's words, kind and text of what they point at)."""
        return self._all(
            "SELECT signals.kind, said.text, referent.kind, referent.text FROM signals JOIN events AS said USING (event_id)"
            " JOIN events AS referent ON referent.event_id = signals.referent_id ORDER BY said.generation, said.offset, said.part"
        )

    def sightings(self) -> list[tuple[Any, ...]]:
        """(source, text of the event) of every sighting."""
        return self._all("SELECT source, text FROM sightings JOIN events USING (event_id) ORDER BY source, source_id")

    def waiting(self) -> list[tuple[Any, ...]]:
        """(words, whether they are to be reviewed at once) of what waits for a review."""
        return self._all("SELECT text, immediate FROM queue JOIN events USING (event_id) ORDER BY generation, offset, part")

    def states(self) -> dict[str, str]:
        """What became of each hook row."""
        return {row[0]: row[1] for row in self._all("SELECT intake_id, state FROM intake ORDER BY intake_id")}

    def epoch(self, session_id: str) -> int:
        """The epoch of a session that is known."""
        row = sessions.get(self.db, session_id)
        if row is None:
            raise LookupError(session_id)
        return row.epoch

    def raw(self, event_text: str) -> str:
        """The unsealed raw record of the event with this text."""
        [(name,)] = self._all("SELECT blob FROM events WHERE text = ?", event_text)[:1]
        return self.home.blobs.get(self.home.opener, name).decode()

    def sequences(self, session_id: str) -> list[int]:
        """The sequence numbers of a session's events."""
        return [row[0] for row in self._all("SELECT seq FROM events WHERE session_id = ? ORDER BY seq", session_id)]

    def rows(self) -> dict[str, list[Any]]:
        """Everything capture left behind, with ids replaced by places: equal for equal histories."""
        places = {  # of what only a hook saw the part tells the order of birth
            row[0]: f"{row[1]}@{row[2]}:{row[3]}:{row[4] if row[4] < HOOK_ONLY_PART else 'hook'}"
            for row in self._all("SELECT event_id, session_id, generation, offset, part FROM events")
        }

        def table(sql: str) -> list[str]:
            return sorted(json.dumps([places.get(value, value) for value in row], sort_keys=True) for row in self._all(sql))

        found: dict[str, list[Any]] = {
            "events": table(f"SELECT {EVENT_COLUMNS} FROM events"),  # noqa: S608 - names of this file
            "sightings": table("SELECT session_id, source, source_id, event_id FROM sightings"),
            "signals": table("SELECT event_id, kind, referent_id FROM signals"),
            "queue": table("SELECT event_id, immediate, status FROM queue"),
            "reviewed": table("SELECT event_id FROM queue WHERE review_id IS NOT NULL"),
            "signalled": table("SELECT event_id FROM queue WHERE immediate"),
            "grains": table("SELECT tool_name, is_error, signature, call_id, session_id, fields_json FROM grains"),
            "sessions": table("SELECT session_id, epoch FROM sessions"),
        }
        cursors: list[Any] = []
        for generation, offset, skipping, state, gaps in self._all(
            "SELECT generation, offset, skipping, state_json, gaps_json FROM cursors ORDER BY path"
        ):
            told = state
            for ident, place in places.items():
                told = told.replace(ident, place)
            cursors.append([generation, offset, skipping, told, gaps])
        return {**found, "cursors": cursors}
