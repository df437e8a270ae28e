"""One bounded pass over everything: the spool, every session's transcripts, known or not, due rules, reviews. What `afl reconcile` runs."""

from __future__ import annotations

import functools
import math
import os
import sqlite3
import time
from collections.abc import Callable
from typing import Any

from afl_core.api import reviews
from afl_core.api.home import Home
from afl_core.capture.batch import Session
from afl_core.capture.sync import behind
from afl_core.model.errors import AflError, CaptureError, StoreError
from afl_core.review import queue
from afl_core.store import reviews as review_rows
from afl_core.store import sessions, status
from afl_core.store.connection import writing
from afl_core.worker import due, upkeep
from afl_core.worker.absorb import absorb, capture_enabled
from afl_core.worker.discovery import NOTHING_NEW, Discovery, Unread, look
from afl_core.worker.leasing import RECONCILE, Leased
from afl_core.worker.reviewing import review as run_one
from afl_core.worker.spool import drain_spool
from afl_core.worker.todo import NEXT

UPKEEP_MS = 60 * 60 * 1000
"""House-keeping that was done later than this ago is not due."""

LOST = "AFL-STORE-014"

BETWEEN_TRANSACTIONS = ("sealed", "committed", "caught-up", "read", "adopted", "discovered", "moved", "next")
"""Steps at which nothing is open, so that the lease can be renewed."""

REVIEWS_PER_PASS = 32


def plan(home: Home, *, review: bool = True, since_ms: int | None = None) -> dict[str, Any]:
    """What a pass would do, as far as is known before anything is read; changes nothing. `since_ms` as of `run`.

    `reviews`: those that would start; `newReviews`: those that would be made; `waiting`: open ones that would not start.
    """
    found = look(home, _since(home, since_ms), changes=False) if capture_enabled(home.db) else Discovery()
    now = home.clock()
    steps = due.plan(home.db, home.settings, now)
    joined = [step.review_id for step in steps if not step.fresh]
    starting = [*dict.fromkeys([*joined, *queue.due_reviews(home.db, home.settings, now)])][:REVIEWS_PER_PASS] if review else []
    known = reviews.waiting(home)
    started = [one for one in known if one["review_id"] in starting and (one["reason"] is None or one["review_id"] in joined)]
    unread = [(one, _behind(home, one)) for one in found.unread]
    reading = {one.session_id for one in found.unread}
    return {
        "spool": spooled(home),
        "transcripts": [{"session": one.session_id, "path": one.path, "unread": size} for one, size in unread if size],
        "hooks": [session_id for session_id in found.waiting if session_id not in reading],
        "unreadable": [{"session": one.session_id, "path": one.path} for one, size in unread if size is None],
        "coverageGaps": found.gaps,
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
    home: Home,
    *,
    review: bool = True,
    since_ms: int | None = None,
    at_most_s: float = math.inf,
    progress: Callable[[str], None] = lambda _line: None,
    checkpoint: Callable[[str], None] = lambda _step: None,
) -> dict[str, Any]:
    """Do it. Errors of one file, session or review do not stop the others. While another process does the same, nothing is done.

    After `at_most_s` seconds nothing more is begun.

    `since_ms`: transcripts that no hook told of are looked for when they were changed since then; None: since the look-back of the settings.
    """
    end = time.monotonic() + at_most_s
    with Leased(home.db, RECONCILE, home.clock) as lease:
        if not lease.is_held:
            return {"status": "skipped", "reason": "lease_held", "leaseUntil": lease.until_ms}
        checkpoint("leased")
        _say_next(home, home.clock())  # killed in the middle, it is run again
        body = _empty(home)
        try:
            _catch_up(home, body, since_ms, end, lease, progress, checkpoint)
        except _LeaseLostError:
            body["status"], body["reason"] = "interrupted", "lease_lost"
    # Reviews have leases of their own, and may take long: others may read meanwhile.
    if review and body["status"] != "interrupted":
        _run_reviews(home, body, end, progress)
    body["waiting"] = reviews.waiting(home)
    body["oversizedLinesSkipped"] = sum(gap["kind"] == "oversized_record" for gap in body["coverageGaps"])
    if body["errors"] and body["status"] == "completed":
        body["status"] = "completed_with_errors"
    with writing(home.db):
        due_ms = queue.next_due_ms(home.db, home.settings, home.clock())
        # What a pass without reviews leaves is due again right after it, or the daemon would take it for seen to.
        _say_next(home, due_ms if review or due_ms is None else max(due_ms, home.clock() + 1))
        status.put(home.db, "reconcile", {key: value for key, value in body.items() if isinstance(value, str | int)}, home.clock())
    return body


class _LeaseLostError(Exception):
    """Another process has taken the lease over (this one was stopped for long): it goes on, this one ends."""


def _empty(home: Home) -> dict[str, Any]:
    return {
        "status": "completed",
        "filesScanned": 0,
        "filesSkipped": 0,
        "eventsCaptured": 0,
        "duplicateEvents": 0,
        "immediateSignals": 0,
        "spoolDrained": len(drain_spool(home)),
        "reviewersLaunched": 0,
        "recoveredReviewers": 0,
        "exhaustedReviewerJobs": 0,
        "oversizedLinesSkipped": 0,
        "coverageGaps": [],
        "reviews": [],
        "waiting": [],
        "errors": [],
    }


def _catch_up(
    home: Home,
    body: dict[str, Any],
    since_ms: int | None,
    end: float,
    lease: Leased,
    progress: Callable[[str], None],
    checkpoint: Callable[[str], None],
) -> None:
    """Find and read what was missed, let expired leases go, make the reviews that are due, keep house."""

    def keep_going() -> None:
        try:
            lease.keep()
        except StoreError as bad:
            if bad.code != LOST:
                raise
            raise _LeaseLostError from bad

    def step(name: str) -> None:
        checkpoint(name)
        if name in BETWEEN_TRANSACTIONS:
            keep_going()

    is_capturing = capture_enabled(home.db)
    since_ms = _since(home, since_ms) if is_capturing else NOTHING_NEW
    found = look(home, since_ms, keep_going=keep_going, checkpoint=step)
    body["filesSkipped"] += found.skipped
    body["coverageGaps"].extend(found.gaps)
    body["errors"].extend(found.errors)
    if is_capturing:
        _read_all(home, body, found, end, progress, step)
    else:
        body["filesSkipped"] += len(found.unread)
    with writing(home.db):
        body["recoveredReviewers"] = len(queue.recover(home.db, home.clock()))
    due.evaluate(home.db, home.settings, home.clock())
    checkpoint("evaluated")
    _try(
        body, "upkeep", functools.partial(upkeep.sweep_reviews, home)
    )  # evidence that a killed review had written out does not lie for an hour
    last = (status.get(home.db, "upkeep") or {}).get("updated_ms", 0)
    if not 0 <= home.clock() - last < UPKEEP_MS:
        _try(body, "upkeep", functools.partial(upkeep.run, home))


def _read_all(
    home: Home, body: dict[str, Any], found: Discovery, end: float, progress: Callable[[str], None], step: Callable[[str], None]
) -> None:
    """Session after session, until time is up."""
    files: dict[str, list[Unread]] = {session_id: [] for session_id in found.sessions}
    for one in found.unread:
        files[one.session_id].append(one)
    for number, (session_id, unread) in enumerate(files.items(), 1):
        if time.monotonic() > end:
            break
        step("next")
        where = unread[0].path if unread else session_id
        progress(f"reading {number} of {len(files)}: {where} ({sum(one.size for one in unread)} bytes)")
        _try(body, where, functools.partial(_read, home, session_id, unread, body, end, step))


def _run_reviews(home: Home, body: dict[str, Any], end: float, progress: Callable[[str], None]) -> None:
    now = home.clock()
    tried = {row.review_id for row in review_rows.all_open(home.db) if row.attempt > 0 and row.reason != "lease_expired"}
    for review_id in queue.due_reviews(home.db, home.settings, now)[:REVIEWS_PER_PASS]:
        if time.monotonic() > end:
            break
        progress(f"reviewing {review_id[:12]}")
        _try(body, f"review {review_id}", functools.partial(_review, home, review_id, body))
        body["recoveredReviewers"] += review_id in tried
    body["reviewersLaunched"] = len(body["reviews"])
    body["exhaustedReviewerJobs"] = sum("retry_exhausted" in one["outcome"] for one in body["reviews"])


def _since(home: Home, since_ms: int | None) -> int:
    return since_ms if since_ms is not None else home.clock() - home.settings.reconcile_lookback * 1000


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


def _read(home: Home, session_id: str, unread: list[Unread], body: dict[str, Any], end: float, step: Callable[[str], None]) -> None:
    """Read on until nothing is left: what one look reads of a file is bounded, and one that brought nothing on is the last."""
    body["filesScanned"] += len(unread)
    while True:
        done = absorb(home, session_id, submits=False, checkpoint=step)
        body["eventsCaptured"] += done.born + done.adopted
        body["duplicateEvents"] += done.known + done.joined
        body["immediateSignals"] += done.signals
        body["coverageGaps"].extend(done.gaps)
        if done.caught_up or not done.bytes_read or time.monotonic() > end:
            break
    found = Discovery()
    for trouble in done.troubles:
        found.note(trouble["path"] or session_id, trouble["code"], trouble["message"], trouble["hint"])
    body["coverageGaps"].extend(found.gaps)
    body["errors"].extend(found.errors)


def _review(home: Home, review_id: str, body: dict[str, Any]) -> None:
    outcome = AflError.code
    try:
        outcome = run_one(home, review_id)
    except AflError as bad:
        outcome = bad.code
        raise
    finally:
        body["reviews"].append({"review_id": review_id, "handle": reviews.handle(home.db, review_id), "outcome": outcome})


def _behind(home: Home, one: Unread) -> int | None:
    """Bytes of a file that are not read; of one that nobody knows yet all of them; None when it cannot be read."""
    row = sessions.get(home.db, one.session_id)
    if row is None:
        return one.size
    try:
        session = Session(row.session_id, row.host, row.project_id, row.epoch)
        return behind(home.db, session, one.path, home.half, home.paths.run)
    except CaptureError:
        return None  # `absorb` says why
