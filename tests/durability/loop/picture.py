"""What a store holds, without everything that may differ between two runs of the same story: ids and times."""

from __future__ import annotations

import json
import pathlib
import re
import sqlite3
from typing import Any


def picture(db: sqlite3.Connection, home: pathlib.Path) -> dict[str, Any]:
    """Rows of every table of the loop in the order of the transcripts, event ids replaced by their place in it."""
    label = {}
    events = []
    for row in db.execute("SELECT * FROM events ORDER BY session_id, generation, offset, part"):
        label[row["event_id"]] = f"{row['session_id']}#{sum(key['session_id'] == row['session_id'] for key in events)}"
        events.append(row)
    seen = "SELECT event_id, source, count(*) AS n FROM sightings GROUP BY event_id, source ORDER BY source"
    sightings: dict[str, dict[str, int]] = {}
    for row in db.execute(seen):
        sightings.setdefault(row["event_id"], {})[row["source"]] = row["n"]
    kept = (
        "generation",
        "offset",
        "part",
        "epoch",
        "kind",
        "role",
        "text",
        "turn",
        "native_id",
        "call_id",
        "tool_name",
        "is_error",
        "completeness",
    )
    made: dict[str, Any] = {
        "events": [
            {
                "id": label[row["event_id"]],
                **{name: row[name] for name in kept},
                "parent": label.get(row["parent_id"], row["parent_id"]),
                "raw": row["blob"] is not None,
                "seen": sightings.get(row["event_id"], {}),
            }
            for row in events
        ],
        "signals": sorted((label[row["event_id"]], row["kind"], label[row["referent_id"]]) for row in db.execute("SELECT * FROM signals")),
        "queue": sorted((label[row["event_id"]], row["immediate"], row["status"]) for row in db.execute("SELECT * FROM queue")),
        "incidents": sorted(
            (row["severity"], label[row["feedback_event_id"]], row["quote"]) for row in db.execute("SELECT * FROM incidents")
        ),
        "audit": sorted(row["action"] for row in db.execute("SELECT action FROM audit")),
    }
    for name, sql in {
        "prompts and stops": "SELECT session_id, kind, turn, state, sealed IS NULL FROM intake WHERE kind IN ('prompt', 'stop') ORDER BY 1, 2, 3",
        "reviews": "SELECT host, status, immediate, reason, detail FROM reviews ORDER BY created_ms, review_id",
        "reports": "SELECT text FROM reports ORDER BY text",
        "receipts": "SELECT count(*) FROM receipts",
        "lessons": "SELECT project_id IS NULL, class_id, revision, severity, status, promotion FROM lessons ORDER BY 2, 3",
        "revisions": "SELECT class_id, lesson_revisions.revision FROM lesson_revisions JOIN lessons USING (lesson_id) ORDER BY 1, 2",
        "grains": "SELECT type, tool_name, is_error, call_id, superseded_by IS NULL FROM grains ORDER BY 1, 2, 4",
        "deliveries": "SELECT class_id, deliveries.revision, session_id, epoch, state FROM deliveries JOIN lessons USING (lesson_id) ORDER BY 1, 3, 4",
        "projection": "SELECT revision, substr(card_text, instr(card_text, 'When:')) FROM projection ORDER BY 2",
        "cursors": "SELECT session_id, generation, gaps_json FROM cursors ORDER BY 1",
    }.items():
        made[name] = [tuple(row) for row in db.execute(sql)]
    return json.loads(json.dumps(made).replace(str(home), "HOME").replace(re.sub(r"[^A-Za-z0-9]", "-", str(home)), "HOME"))
