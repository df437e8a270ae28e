"""One bounded pass over everything known: the spool, every session's transcript, due rules, reviews. What `afl reconcile` runs."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from afl_core.api.home import Home
from afl_core.capture.sync import Session, behind
from afl_core.model.errors import AflError, CaptureError
from afl_core.review import queue
from afl_core.store import status
from afl_core.store.connection import writing
from afl_core.worker import upkeep
from afl_core.worker.absorb import absorb
from afl_core.worker.due import evaluate
from afl_core.worker.reviewing import review as run_one
from afl_core.worker.spool import drain_spool

LOOK_BACK_MS = 30 * 24 * 60 * 60 * 1000
"""Sessions not seen for longer are left alone (hosts delete their transcripts after 30 days)."""

REVIEWS_PER_PASS = 32


def plan(home: Home) -> dict[str, Any]:
    """What a pass would do; changes nothing."""
    transcripts = []
    for session_id, path, unread in _unread(home):
        transcripts.append({"session": session_id, "path": path, "unread": unread})
    return {"transcripts": [one for one in transcripts if one["unread"]], "reviews": queue.due_reviews(home.db, home.settings, home.clock())}


def run(home: Home, *, review: bool = True, progress: Callable[[str], None] = lambda _line: None) -> dict[str, Any]:
    """Do it. Errors of one session or review do not stop the others."""
    body: dict[str, Any] = {
        "status": "completed",
        "filesScanned": 0,
        "filesSkipped": 0,
        "eventsCaptured": 0,
        "duplicateEvents": 0,
        "immediateSignals": 0,
        "spoolDrained": len(drain_spool(home)),
        "coverageGaps": [],
        "reviews": [],
        "errors": [],
    }
    pending = _unread(home)
    for number, (session_id, path, unread) in enumerate(pending, 1):
        progress(f"reading {number} of {len(pending)}: {path} ({unread} bytes)")
        _one(home, session_id, path, body)
    with writing(home.db):
        queue.recover(home.db, home.clock())
    evaluate(home.db, home.settings, home.clock())
    if review:
        for review_id in queue.due_reviews(home.db, home.settings, home.clock())[:REVIEWS_PER_PASS]:
            progress(f"reviewing {review_id[:12]}")
            try:
                outcome = run_one(home, review_id)
            except AflError as bad:
                outcome = bad.code
                body["errors"].append({"path": f"review {review_id}", "code": bad.code, "message": bad.sentence})
            body["reviews"].append({"review_id": review_id, "outcome": outcome})
    upkeep.run(home)
    if body["errors"]:
        body["status"] = "completed_with_errors"
    with writing(home.db):
        status.put(home.db, "reconcile", {key: value for key, value in body.items() if isinstance(value, (str, int))}, home.clock())
    return body


def _one(home: Home, session_id: str, path: str, body: dict[str, Any]) -> None:
    try:
        while True:
            done = absorb(home, session_id)
            body["filesScanned"] += 1
            body["eventsCaptured"] += done.born + done.adopted
            body["duplicateEvents"] += done.known + done.joined
            body["immediateSignals"] += done.signals
            body["coverageGaps"].extend({"path": path, **gap} for gap in done.gaps)
            if done.problem:
                body["errors"].append({"path": path, "code": "AFL-CAPTURE-001", "message": done.problem})
            if done.caught_up or done.problem:
                return
    except AflError as bad:
        body["errors"].append({"path": path, "code": bad.code, "message": bad.sentence})


def _unread(home: Home) -> list[tuple[str, str, int]]:
    """(session, transcript path, unread bytes) of sessions that have something to read or hook rows that wait."""
    found = []
    rows = home.db.execute(
        "SELECT session_id, host, project_id, epoch, transcript_path, EXISTS (SELECT 1 FROM intake WHERE intake.session_id = sessions.session_id AND state = 'new') AS waits FROM sessions WHERE seen_ms > ? ORDER BY seen_ms",
        (home.clock() - LOOK_BACK_MS,),
    ).fetchall()
    for row in rows:
        path = row["transcript_path"] or ""
        unread = 0
        if path and os.path.lexists(path):
            try:
                unread = behind(home.db, Session(row["session_id"], row["host"], row["project_id"], row["epoch"]), path)
            except CaptureError:
                unread = -1  # unreadable: absorb says why
        if unread or row["waits"]:
            found.append((str(row["session_id"]), str(path), unread))
    return found
