"""One bounded pass over everything known: the spool, every session's transcript, due rules, reviews. What `afl reconcile` runs."""

from __future__ import annotations

import functools
import math
import os
import sqlite3
import time
from collections.abc import Callable
from typing import Any

import attrs

from afl_core.api import reviews
from afl_core.api.home import Home
from afl_core.capture.batch import Session
from afl_core.capture.sync import behind
from afl_core.model.errors import AflError, CaptureError
from afl_core.review import queue
from afl_core.store import status
from afl_core.store.connection import writing
from afl_core.worker import due, upkeep
from afl_core.worker.absorb import Absorbed, absorb, capture_enabled
from afl_core.worker.reviewing import review as run_one
from afl_core.worker.spool import drain_spool
from afl_core.worker.todo import LOOK_BACK_MS, NEXT

REVIEWS_PER_PASS = 32


@attrs.frozen
class Unread:
    """A session with something to read, or with hook rows that wait. `size`: unread bytes, None when its transcript cannot be read."""

    session_id: str
    path: str
    size: int | None


def plan(home: Home, *, review: bool = True) -> dict[str, Any]:
    """What a pass would do, as far as is known before anything is read; changes nothing.

    `reviews`: those that would start; `newReviews`: those that would be made; `waiting`: open ones that would not start.
    """
    unread = _unread(home) if capture_enabled(home.db) else []
    now = home.clock()
    steps = due.plan(home.db, home.settings, now)
    joined = [step.review_id for step in steps if not step.fresh]
    starting = [*dict.fromkeys([*joined, *queue.due_reviews(home.db, home.settings, now)])][:REVIEWS_PER_PASS] if review else []
    known = reviews.waiting(home)
    started = [one for one in known if one["review_id"] in starting and (one["reason"] is None or one["review_id"] in joined)]
    return {
        "spool": spooled(home),
        "transcripts": [{"session": one.session_id, "path": one.path, "unread": one.size} for one in unread if one.size],
        "hooks": [one.session_id for one in unread if one.size == 0],
        "unreadable": [{"session": one.session_id, "path": one.path} for one in unread if one.size is None],
        "reviews": [{"review_id": one["review_id"], "handle": one["handle"]} for one in started],
        "newReviews": [_new(home, step) for step in steps if step.fresh],
        "waiting": [one for one in known if one not in started],
    }


def _new(home: Home, step: due.Step) -> dict[str, Any]:
    project = home.db.execute("SELECT root FROM projects WHERE project_id = ?", (step.project_id,)).fetchone()
    return {
        "project_id": step.project_id,
        "root": project[0] if project and project[0] else step.project_id[:12],
        "host": step.host,
        "messages": step.messages,
        "stopped_by": reviews.stopped_by(home, step.project_id, step.host),
    }


def run(
    home: Home, *, review: bool = True, at_most_s: float = math.inf, progress: Callable[[str], None] = lambda _line: None
) -> dict[str, Any]:
    """Do it. Errors of one session or review do not stop the others. After `at_most_s` seconds nothing more is begun."""
    end = time.monotonic() + at_most_s
    _say_next(home, home.clock())  # killed in the middle, it is run again
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
        "waiting": [],
        "errors": [],
    }
    pending = _unread(home)
    if not capture_enabled(home.db):
        body["filesSkipped"], pending = len(pending), []
    for number, one in enumerate(pending, 1):
        if time.monotonic() > end:
            break
        progress(f"reading {number} of {len(pending)}: {one.path} ({one.size or 0} bytes)")
        _try(body, one.path, functools.partial(_read, home, one, body, end))
    with writing(home.db):
        queue.recover(home.db, home.clock())
    due.evaluate(home.db, home.settings, home.clock())
    for review_id in queue.due_reviews(home.db, home.settings, home.clock())[:REVIEWS_PER_PASS] if review else ():
        if time.monotonic() > end:
            break
        progress(f"reviewing {review_id[:12]}")
        _try(body, f"review {review_id}", functools.partial(_review, home, review_id, body))
    _try(body, "upkeep", functools.partial(upkeep.run, home))
    body["waiting"] = reviews.waiting(home)
    if body["errors"]:
        body["status"] = "completed_with_errors"
    with writing(home.db):
        due_ms = queue.next_due_ms(home.db, home.settings, home.clock())
        # What a pass without reviews leaves is due again right after it, or the daemon would take it for seen to.
        _say_next(home, due_ms if review or due_ms is None else max(due_ms, home.clock() + 1))
        status.put(home.db, "reconcile", {key: value for key, value in body.items() if isinstance(value, str | int)}, home.clock())
    return body


def _say_next(home: Home, at_ms: int | None) -> None:
    """When a review may start or become due without anything new: the daemon then runs a pass."""
    with writing(home.db):
        status.put(home.db, NEXT, {"at_ms": at_ms}, home.clock())


def spooled(home: Home) -> int:
    """How many records of hooks wait in the spool."""
    try:
        return sum(name.endswith(".rec") for name in os.listdir(home.paths.spool))
    except FileNotFoundError:
        return 0


def _try(body: dict[str, Any], what: str, act: Callable[[], object]) -> None:
    try:
        act()
    except AflError as bad:
        _note(body, what, bad.code, bad.sentence)
    except (OSError, sqlite3.Error) as bad:
        _note(body, what, AflError.code, f"{type(bad).__name__}: {bad}")


def _note(body: dict[str, Any], what: str, code: str, message: str) -> None:
    body["errors"].append({"path": what, "code": code, "message": message})


def _read(home: Home, one: Unread, body: dict[str, Any], end: float) -> None:
    body["filesScanned"] += 1
    done = Absorbed(one.session_id, caught_up=False)
    while not done.caught_up and not done.problem and time.monotonic() <= end:
        done = absorb(home, one.session_id)
        body["eventsCaptured"] += done.born + done.adopted
        body["duplicateEvents"] += done.known + done.joined
        body["immediateSignals"] += done.signals
        body["coverageGaps"].extend({"path": one.path, **gap} for gap in done.gaps)
    if done.problem:
        _note(body, one.path, done.code, done.problem)


def _review(home: Home, review_id: str, body: dict[str, Any]) -> None:
    outcome = AflError.code
    try:
        outcome = run_one(home, review_id)
    except AflError as bad:
        outcome = bad.code
        raise
    finally:
        body["reviews"].append({"review_id": review_id, "handle": reviews.handle(home.db, review_id), "outcome": outcome})


def _unread(home: Home) -> list[Unread]:
    found = []
    rows = home.db.execute(
        "SELECT session_id, host, project_id, epoch, transcript_path, EXISTS (SELECT 1 FROM intake WHERE intake.session_id = sessions.session_id"
        " AND state = 'new') AS waits FROM sessions WHERE seen_ms > ? ORDER BY seen_ms, session_id",
        (home.clock() - LOOK_BACK_MS,),
    ).fetchall()
    for row in rows:
        path = str(row["transcript_path"] or "")
        size: int | None = 0
        if path and os.path.lexists(path):
            try:
                size = behind(home.db, Session(row["session_id"], row["host"], row["project_id"], row["epoch"]), path)
            except CaptureError:
                size = None  # `absorb` says why
        if size != 0 or row["waits"]:
            found.append(Unread(str(row["session_id"]), path, size))
    return found
