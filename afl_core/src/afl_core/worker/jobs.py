"""The jobs process: absorbs sessions, runs reviews, keeps house. Child of the front; may be killed at any moment; leaves after two idle minutes.

Its standard input carries lines of JSON from the front (`{"session": id, "env": {...}}`); end of input means: finish what is running and leave.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import logging
import os
import selectors
import sys
import threading
from collections.abc import Mapping

from afl_core.api.home import Home
from afl_core.model.errors import AflError
from afl_core.review import queue
from afl_core.store import sessions, status
from afl_core.store.connection import writing
from afl_core.worker import upkeep
from afl_core.worker.absorb import absorb
from afl_core.worker.due import evaluate
from afl_core.worker.logs import open_log
from afl_core.worker.spool import drain_spool

IDLE_MS = 120_000
"""Without work for this long, the process leaves."""

POLL_MS = 1_000
"""Transcripts of live sessions are looked at this often while the process is up."""

AGAIN_MS = (300, 1_500, 4_000)
"""After a hook, the session is looked at again this much later: the host writes its records a little after it runs the hook."""

UPKEEP_MS = 60 * 60 * 1000
"""House-keeping is asked for this often; most of it is due once a day."""

MAX_LINE = 1 << 20
"""A longer message from the front is dropped."""

log = logging.getLogger("afl.jobs")


class Mailbox:
    """Reads the front's lines without blocking longer than it is told."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._buffer = b""
        self.closed = False
        os.set_blocking(descriptor, False)
        self._selector = selectors.DefaultSelector()
        try:
            self._selector.register(descriptor, selectors.EVENT_READ)
            self._pollable = True
        except (OSError, ValueError):
            self._pollable = False  # a regular file or /dev/null: read it once
        self._read()

    def wait(self, seconds: float) -> list[dict[str, object]]:
        """The messages that are there, waiting at most `seconds` for the first."""
        if self.closed:
            threading.Event().wait(seconds)
            return []
        if self._pollable and self._selector.select(seconds):
            self._read()
        *lines, self._buffer = self._buffer.split(b"\n")
        messages = []
        for line in lines:
            with contextlib.suppress(ValueError):
                message = json.loads(line)
                if isinstance(message, dict):
                    messages.append(message)
        return messages

    def _read(self) -> None:
        with contextlib.suppress(BlockingIOError):
            while True:
                part = os.read(self._descriptor, 65536)
                if not part:
                    self.closed = True
                    return
                self._buffer += part
                if len(self._buffer) > MAX_LINE:
                    self._buffer = b""


class Reviews:
    """Runs one review at a time in a thread with a store connection of its own: most of a review is waiting for a child process."""

    def __init__(self, home: str, environ: Mapping[str, str]) -> None:
        self._home = home
        self._environ = dict(environ)
        self._thread: threading.Thread | None = None
        self.environments: dict[str, dict[str, str]] = {}

    @property
    def busy(self) -> bool:
        """Whether a review runs."""
        return self._thread is not None and self._thread.is_alive()

    def start(self, review_id: str, session_id: str | None) -> None:
        """Start a review with what is known of the session's environment."""
        environ = {**self._environ, **self.environments.get(session_id or "", {})}
        self._thread = threading.Thread(target=self._run, args=(review_id, environ), name=f"review-{review_id[:8]}")
        self._thread.start()

    def join(self) -> None:
        """Wait for the running review."""
        if self._thread is not None:
            self._thread.join()

    def _run(self, review_id: str, environ: dict[str, str]) -> None:
        from afl_core.worker.reviewing import review

        try:
            with Home(self._home, environ) as home:
                outcome = review(home, review_id)
                log.info("review %s: %s", review_id, outcome)
        except AflError as bad:
            log.warning("review %s: %s: %s", review_id, bad.code, bad.sentence)
        except Exception:
            log.exception("review %s", review_id)


class Jobs:
    """The loop."""

    def __init__(self, home: Home, mailbox: Mailbox) -> None:
        self.home = home
        self.mailbox = mailbox
        self.reviews = Reviews(home.paths.home, home.environ)
        self._due: dict[str, list[int]] = {}
        self._sizes: dict[str, tuple[int, int]] = {}
        self._busy_ms = home.clock()
        self._upkeep_ms = 0
        self._failures: dict[str, int] = {}

    def run(self) -> None:
        """Until the front is gone, or nothing was to do for two minutes."""
        self._drain()
        for session_id in sessions.with_waiting(self.home.db):
            self._due.setdefault(session_id, []).append(0)
        while True:
            now = self.home.clock()
            for message in self.mailbox.wait(self._pause(now) / 1000):
                self._take(message)
            worked = self._absorb_due() or self._poll()
            worked = self._review() or worked
            self._keep_house()
            now = self.home.clock()
            if worked or self.reviews.busy:
                self._busy_ms = now
            if self.mailbox.closed and not self._due_now(now):
                break
            if now - self._busy_ms > IDLE_MS and not self._due:
                break
        self.reviews.join()
        self._say_next()

    def _pause(self, now: int) -> int:
        soonest = min((times[0] for times in self._due.values() if times), default=now + POLL_MS)
        return max(0, min(POLL_MS, soonest - now))

    def _take(self, message: dict[str, object]) -> None:
        session_id = message.get("session")
        env = message.get("env")
        if not isinstance(session_id, str):
            return
        if not session_id:
            self._drain()
            return
        if isinstance(env, dict):
            self.reviews.environments[session_id] = {str(name): str(value) for name, value in env.items()}
        now = self.home.clock()
        self._due[session_id] = [now, *(now + later for later in AGAIN_MS)]
        self._busy_ms = now

    def _drain(self) -> None:
        """Spool records that the front could not open."""
        try:
            for session_id in drain_spool(self.home):
                self._due.setdefault(session_id, []).append(0)
        except AflError as bad:
            log.warning("spool: %s: %s", bad.code, bad.sentence)

    def _due_now(self, now: int) -> list[str]:
        return [session_id for session_id, times in self._due.items() if times and times[0] <= now]

    def _absorb_due(self) -> bool:
        now = self.home.clock()
        ready = self._due_now(now)
        for session_id in ready:
            left = [time for time in self._due.pop(session_id) if time > now]
            if left:
                self._due[session_id] = left
            self._absorb(session_id)
        return bool(ready)

    def _absorb(self, session_id: str) -> None:
        try:
            done = absorb(self.home, session_id)
        except AflError as bad:
            count = self._failures[session_id] = self._failures.get(session_id, 0) + 1
            log.warning("absorb %s: %s: %s", session_id, bad.code, bad.sentence)
            if count <= 3:
                self._due.setdefault(session_id, []).append(self.home.clock() + 5_000 * count)
            return
        self._failures.pop(session_id, None)
        if not done.caught_up:
            self._due.setdefault(session_id, []).insert(0, self.home.clock())
        if done.born or done.joined or done.adopted or done.reached or done.gaps or done.problem:
            log.info(
                "absorb %s: born %d joined %d adopted %d signals %d reached %d gaps %d %s",
                session_id,
                done.born,
                done.joined,
                done.adopted,
                done.signals,
                len(done.reached),
                len(done.gaps),
                done.problem,
            )

    def _poll(self) -> bool:
        """Live sessions whose transcript changed since it was last looked at, and waiting hook rows whose grace is over."""
        worked = False
        for row in sessions.alive(self.home.db, self.home.clock()):
            if row.transcript_path is None:
                continue
            try:
                found = os.stat(row.transcript_path)
            except OSError:
                continue
            size = (found.st_size, found.st_mtime_ns)
            if self._sizes.get(row.session_id) != size:
                self._sizes[row.session_id] = size
                self._absorb(row.session_id)
                worked = True
        return worked

    def _review(self) -> bool:
        if self.reviews.busy:
            return True
        now = self.home.clock()
        with writing(self.home.db):
            queue.recover(self.home.db, now)
        evaluate(self.home.db, self.home.settings, now)
        ready = queue.due_reviews(self.home.db, self.home.settings, now)
        if not ready:
            return False
        session = self.home.db.execute(
            "SELECT events.session_id FROM queue JOIN events USING (event_id) WHERE queue.review_id = ? ORDER BY queue.created_ms DESC LIMIT 1",
            (ready[0],),
        ).fetchone()
        self.reviews.start(ready[0], session[0] if session else None)
        return True

    def _keep_house(self) -> None:
        now = self.home.clock()
        if self._upkeep_ms == 0 or now - self._upkeep_ms > UPKEEP_MS:
            self._upkeep_ms = now
            try:
                upkeep.run(self.home)
            except AflError as bad:
                log.warning("upkeep: %s: %s", bad.code, bad.sentence)

    def _say_next(self) -> None:
        """Tell the front when to start this process again without being asked."""
        now = self.home.clock()
        due = queue.next_due_ms(self.home.db, self.home.settings, now)
        with writing(self.home.db):
            status.put(self.home.db, "jobs_next_ms", {"at_ms": due}, now)


def main(arguments: list[str] | None = None) -> int:
    """Entry of `python -m afl_core.worker.jobs HOME`. Exit 0, also when another one runs already."""
    arguments = sys.argv[1:] if arguments is None else arguments
    os.umask(0o077)
    os.chdir("/")
    with Home(arguments[0] if arguments else None, killable=True) as home:
        lock = os.open(os.path.join(home.paths.run, "jobs.lock"), os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return 0
        open_log(home.paths.runtime_log, home.settings.max_log_bytes, debug=home.settings.debug)
        try:
            Jobs(home, Mailbox(0)).run()
        except AflError as bad:
            log.error("jobs: %s: %s", bad.code, bad.sentence)
            return 1
        except Exception:
            log.exception("jobs")
            return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
