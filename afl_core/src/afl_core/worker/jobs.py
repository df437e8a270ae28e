"""The jobs process: absorbs sessions, runs reviews, keeps house. Child of the front; may be killed at any moment; leaves after two idle minutes.

Its standard input carries lines of JSON from the front (`{"session": id, "env": {...}}`); end of input means: finish what is running and leave.
What is to be done when is kept by a clock that cannot jump; the wall clock is for what the store holds.
"""

from __future__ import annotations

import fcntl
import logging
import os
import sqlite3
import sys
import time
from collections.abc import Callable
from typing import TypeVar

from afl_core.api import held
from afl_core.api.home import Home
from afl_core.capture import adopt
from afl_core.model.errors import AflError, StoreError
from afl_core.review import queue
from afl_core.settings.schema import Settings
from afl_core.store import audit, sessions, status, transcripts
from afl_core.store.connection import writing
from afl_core.store.transcripts import Stamp, stamp_of
from afl_core.worker import upkeep
from afl_core.worker.absorb import Absorbed, absorb, capture_enabled
from afl_core.worker.discovery import look
from afl_core.worker.due import evaluate
from afl_core.worker.journal import describe
from afl_core.worker.leasing import RECONCILE, Leased
from afl_core.worker.logs import open_log
from afl_core.worker.mailbox import Mailbox
from afl_core.worker.reviewing import Reviews
from afl_core.worker.spool import drain_spool

IDLE_MS = 120_000
"""Without work for this long, the process leaves."""

POLL_MS = 1_000
"""Transcripts of live sessions are looked at this often while the process is up."""

LOOK_MS = 60_000
"""Transcripts whose hooks were missed are looked for this often while the process is up."""

AGAIN_MS = (300, 1_500, 4_000)
"""After a hook, the session is looked at again this much later: the host writes its records a little after it runs the hook."""

UPKEEP_MS = 60 * 60 * 1000
"""House-keeping is asked for this often; most of it is due once a day."""

RETRY_MS = (1_000, 5_000, 20_000, 60_000)
"""A session that cannot be absorbed is tried again this much later, the last pause for good. Such tries do not keep the process up."""

COME_BACK_MS = 10 * 60_000
"""When the process leaves while a living session could not be absorbed, it asks to be started again this much later."""

OVERDUE_MS = 60_000
"""Hook rows whose grace is over and that still cannot be given their events are tried again this much later."""

ENVIRONMENT_MS = 30_000
"""A review waits this long for somebody to say where its host is; then it is run with what this process inherited."""

REPEAT_MS = 60_000
"""The same trouble is written to the log once in this time."""

NEWER_SCHEMA = "AFL-STORE-003"

log = logging.getLogger("afl.jobs")

T = TypeVar("T")


def elapsed_ms() -> int:
    """Milliseconds by a clock that cannot jump; its zero means nothing."""
    return time.monotonic_ns() // 1_000_000


class Jobs:
    """The loop."""

    def __init__(self, home: Home, mailbox: Mailbox) -> None:
        self.home = home
        self.mailbox = mailbox
        self.reviews = Reviews(home.paths.home, home.environ)
        self._started = self._busy = elapsed_ms()
        self._due: dict[str, list[int]] = {}
        self._stamps: dict[str, Stamp] = {}
        self._failures: dict[str, int] = {}
        self._overdue: dict[str, int] = {}
        self._upkeep: int | None = None
        self._looked: int | None = None
        self._unread: dict[str, Stamp] = {}
        self._audited: tuple[int, str] | None = None
        self._said: dict[str, tuple[str, int]] = {}

    def run(self) -> None:
        """Until the front is gone and nothing runs, or nothing was to do for two minutes. Raises only when the store has become another's."""
        self._attempt("timer", lambda: self._put_timer(self.home.clock()))  # killed together with its front, it is started by the next one
        self._look_everywhere()
        while True:
            messages = self.mailbox.wait(self._pause() / 1000)
            for message in messages:
                self._take(message)
            self._attempt("look", self._look)
            worked = self._absorb_due()
            worked = bool(self._attempt("poll", self._poll)) or worked
            if not self.mailbox.closed:
                worked = bool(self._attempt("reviews", self._review)) or worked
                self._keep_house()
            now = elapsed_ms()
            if worked or messages or self.reviews.busy:
                self._busy = now
            if self.reviews.busy:
                continue
            if self.mailbox.closed or (now - self._busy > IDLE_MS and self._due.keys() <= self._failures.keys()):
                break
        if self.mailbox.closed:
            self._look_everywhere()  # once more, for what the front kept while it was told nothing
            self._absorb_due()
        self._attempt("timer", self._say_next)

    # what there is to do

    def _look_everywhere(self) -> None:
        for session_id in self._attempt("spool", lambda: drain_spool(self.home)) or ():
            self._ask_for(session_id)
        for session_id in self._attempt("intake", lambda: sessions.with_waiting(self.home.db)) or ():
            self._ask_for(session_id)

    def _look(self) -> None:
        """Ask for sessions with something to read that no hook told of. One look at a time in a home, and each state of a file once."""
        now = elapsed_ms()
        if (self._looked is not None and now - self._looked < LOOK_MS) or self.mailbox.closed or not capture_enabled(self.home.db):
            return
        self._looked = now
        with Leased(self.home.db, RECONCILE, self.home.clock) as lease:
            if not lease.is_held:
                return
            since = self.home.clock() - self.home.settings.reconcile_lookback * 1000
            found = look(self.home, since, keep_going=lease.keep)
        for one in found.unread:
            if self._unread.get(one.path) != one.stamp:
                self._unread[one.path] = one.stamp
                self._ask_for(one.session_id)
        for error in found.errors:
            self._say(f"look at {error['path']}", f"{error['code']}: {error['message']}")

    def _ask_for(self, session_id: str) -> None:
        self._due.setdefault(session_id, []).insert(0, elapsed_ms())

    def _pause(self) -> int:
        now = elapsed_ms()
        soonest = min((times[0] for times in self._due.values() if times), default=now + POLL_MS)
        return max(0, min(POLL_MS, soonest - now))

    def _take(self, message: dict[str, object]) -> None:
        session_id = message.get("session")
        env = message.get("env")
        if not isinstance(session_id, str):
            return
        if not session_id:
            self._look_everywhere()
            return
        if isinstance(env, dict):
            variables = {str(name): str(value) for name, value in env.items()}
            self.reviews.learn(session_id, variables)
            self._attempt("settings", lambda: self.home.listen(variables))
        now = elapsed_ms()
        self._due[session_id] = [now, *(now + later for later in AGAIN_MS)]

    def _absorb_due(self) -> bool:
        now = elapsed_ms()
        ready = [session_id for session_id, times in self._due.items() if times and times[0] <= now]
        for session_id in ready:
            left = [moment for moment in self._due.pop(session_id) if moment > now]
            if left:
                self._due[session_id] = left
            self._absorb(session_id)
        return any(session_id not in self._failures for session_id in ready)

    def _absorb(self, session_id: str) -> None:
        """One pass over one session. Whatever is wrong with it, the others are not kept waiting."""
        done = self._attempt(f"absorb {session_id}", lambda: absorb(self.home, session_id))
        if done is None:
            count = self._failures[session_id] = self._failures.get(session_id, 0) + 1
            again = elapsed_ms() + RETRY_MS[min(count, len(RETRY_MS)) - 1]
            self._due[session_id] = sorted({*self._due.get(session_id, []), again})
            return
        self._failures.pop(session_id, None)
        if not done.caught_up:
            self._ask_for(session_id)
        report(done)

    def _poll(self) -> bool:
        """Living sessions whose transcript changed since it was last looked at, and hook rows whose grace is over."""
        worked = False
        for row in sessions.alive(self.home.db, self.home.clock()):
            files = [file.path for file in transcripts.of_session(self.home.db, row.session_id)]
            if row.transcript_path is not None and row.transcript_path not in files:
                files.append(row.transcript_path)
            changed = False
            for path in files:
                try:
                    stamp = stamp_of(os.stat(path, follow_symlinks=False))
                except OSError:
                    continue
                changed = changed or self._stamps.get(path) != stamp
                self._stamps[path] = stamp
            if changed:
                self._absorb(row.session_id)
                worked = True
        for session_id in sessions.with_waiting(self.home.db):
            if self._overdue.get(session_id, 0) <= elapsed_ms() and self._has_overdue(session_id):
                self._overdue[session_id] = elapsed_ms() + OVERDUE_MS
                self._absorb(session_id)
                worked = True
        return worked

    def _has_overdue(self, session_id: str) -> bool:
        row = sessions.get(self.home.db, session_id)
        return row is not None and bool(adopt.due(self.home.db, session_id, self.home.clock(), row.ended_ms is not None))

    def _review(self) -> bool:
        if self.reviews.busy:
            return True
        now = self.home.clock()
        with writing(self.home.db):
            queue.recover(self.home.db, now)
        evaluate(self.home.db, self.home.settings, now)
        for review_id in queue.due_reviews(self.home.db, self.home.settings, now):
            if self.reviews.rests(review_id):
                continue
            environ = self.reviews.environment(*self._whose(review_id))
            if environ is None and elapsed_ms() - self._started < ENVIRONMENT_MS:
                continue
            self.reviews.start(review_id, environ or {})
            return True
        return False

    def _whose(self, review_id: str) -> tuple[str | None, str]:
        """The session whose words a review is about, and its host."""
        row = self.home.db.execute(
            "SELECT reviews.host, (SELECT events.session_id FROM queue JOIN events USING (event_id) WHERE queue.review_id = reviews.review_id"
            " ORDER BY queue.created_ms DESC LIMIT 1) FROM reviews WHERE review_id = ?",
            (review_id,),
        ).fetchone()
        return row[1], row[0]

    def _keep_house(self) -> None:
        now = elapsed_ms()
        if self._upkeep is None or now - self._upkeep > UPKEEP_MS:
            self._upkeep = now
            self._attempt("upkeep", lambda: upkeep.run(self.home))
        self._attempt("held", self._mark_held)

    def _mark_held(self) -> None:
        """A card that came or changed may be held by a host already; changes of the notes themselves are found by upkeep."""
        last = audit.head(self.home.db)
        if last != self._audited:
            self._audited = last
            held.mark(self.home)

    # trouble, and the way out

    def _attempt(self, what: str, act: Callable[[], T]) -> T | None:
        """What `act` returns; None when it failed, which is logged. Only a store that belongs to a newer version ends the process."""
        try:
            result = act()
        except Exception as bad:
            if isinstance(bad, StoreError) and bad.code == NEWER_SCHEMA:
                raise
            self._say(what, trouble(bad))
            return None
        self._said.pop(what, None)
        return result

    def _say(self, what: str, text: str) -> None:
        before, at = self._said.get(what, ("", 0))
        if text != before or elapsed_ms() - at > REPEAT_MS:
            self._said[what] = (text, elapsed_ms())
            log.warning("%s: %s", what, text)

    def _say_next(self) -> None:
        """Tell the front when to start this process again without being asked."""
        now, db = self.home.clock(), self.home.db
        moments = [queue.next_due_ms(db, self.home.settings, now), self._grace_ends(now)]
        if any(row.session_id in self._failures for row in sessions.alive(db, now)):
            moments.append(now + COME_BACK_MS)
        self._put_timer(min((moment for moment in moments if moment is not None), default=None))

    def _put_timer(self, at_ms: int | None) -> None:
        with writing(self.home.db):
            status.put(self.home.db, "jobs_next_ms", {"at_ms": at_ms}, self.home.clock())

    def _grace_ends(self, now: int) -> int | None:
        """When the first hook row that still waits for its transcript is to get its event; None when none waits or all are overdue."""
        row = self.home.db.execute(
            "SELECT min(received_ms) FROM intake WHERE state = 'new' AND sealed IS NOT NULL AND received_ms BETWEEN ? AND ?",
            (now - adopt.GRACE_MS + 1, now),
        ).fetchone()
        return None if row[0] is None else int(row[0]) + adopt.GRACE_MS


def report(done: Absorbed) -> None:
    """Say what a pass did, when it did something."""
    if done.born or done.joined or done.adopted or done.reached or done.gaps or done.problem:
        log.info(
            "absorb %s: born %d joined %d adopted %d signals %d reached %d gaps %d %s",
            done.session_id,
            done.born,
            done.joined,
            done.adopted,
            done.signals,
            len(done.reached),
            len(done.gaps),
            done.problem,
        )


def trouble(bad: Exception) -> str:
    """An error for the log. What the system says (a full disk) is said, the text of other foreign errors may quote somebody and is not."""
    said = f": {bad.strerror}" if isinstance(bad, OSError) and bad.strerror else f": {bad}" if isinstance(bad, sqlite3.Error) else ""
    return describe(bad) + said


def main(arguments: list[str] | None = None) -> int:
    """Entry of `python -m afl_core.worker.jobs HOME`. Exit 0, also when another one runs already."""
    arguments = sys.argv[1:] if arguments is None else arguments
    os.umask(0o077)
    os.chdir("/")
    with Home(arguments[0] if arguments else None, killable=True) as home:
        lock = os.open(os.path.join(home.paths.run, "jobs.lock"), os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return 0
        _open_log(home)
        try:
            Jobs(home, Mailbox(0)).run()
        except Exception as bad:  # noqa: BLE001 - the last place where it can be said
            log.error("jobs ended: %s", trouble(bad))  # noqa: TRY400 - a traceback may quote what somebody said
            return 1
    return 0


def _open_log(home: Home) -> None:
    """A log that cannot be written must not stop the work; settings that cannot be read will be said in it."""
    try:
        settings = home.settings
    except AflError:
        settings = Settings()
    try:
        open_log(home.paths.runtime_log, settings.max_log_bytes, debug=settings.debug)
    except OSError:
        open_log(os.devnull, settings.max_log_bytes)


if __name__ == "__main__":
    raise SystemExit(main())
