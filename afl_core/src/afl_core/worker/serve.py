"""The front's loop: one thread, one poll, no client can hold up another. What an event means is in `turn`; here are sockets, signals and rest."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import socket
import sqlite3
import time
from types import ModuleType

from afl_core.model.clock import now_ms
from afl_core.model.codec import compact
from afl_core.model.errors import AflError, WorkerError
from afl_core.settings.paths import Paths
from afl_core.store import intake, sessions, status
from afl_core.store.connection import FRONT_BUSY_MS, connect
from afl_core.worker.drain import drain
from afl_core.worker.environment import Environments
from afl_core.worker.frames import END, HEALTH, WAKE, Frame, decode
from afl_core.worker.journal import Journal, describe
from afl_core.worker.keyring import Keyring
from afl_core.worker.launch import Jobs
from afl_core.worker.leaving import Now, is_due, may_leave
from afl_core.worker.manifests import Manifests
from afl_core.worker.peer import is_own
from afl_core.worker.selector import SelectorSlot
from afl_core.worker.sockets import Talk, identity, listen, receive, still_listens
from afl_core.worker.turn import Desk, take

TALKS = 64
"""Clients held at a time; more wait in the kernel's queue."""

TICK_S = 5.0
"""How often the front looks around when nobody asks."""

FIRST_TICK_S = 0.3
"""The prompts this front was started for are answered before the spool is drained."""

QUIET_MS = 2_000
"""A checkpoint waits for the disk, and so would an event that comes meanwhile: it is made when nothing came for this long."""

NEWER_SCHEMA = "AFL-STORE-003"


def serve(constants: ModuleType, paths: Paths, journal: Journal) -> None:
    """Open the store, make keys, bind the socket, answer until it is time to leave. The lock is held by the caller."""
    db = connect(paths.database, busy_ms=FRONT_BUSY_MS)
    try:
        db.execute("PRAGMA wal_autocheckpoint = 0")  # a checkpoint waits for the disk; it is made when nobody waits for an answer
        keyring = Keyring(paths)
        keyring.register(db, now_ms())
        selector = SelectorSlot(paths.run, journal.say)
        selector.recover(db, now_ms())
        environments = Environments()
        manifests = Manifests(paths.front_file)
        desk = Desk(db, manifests, keyring, environments, selector, constants.FORWARD, constants.ALLOW, journal.say)
        jobs = Jobs(constants.PYTHON, constants.HOME, constants.DATA, environments, journal.say)
        Front(desk, paths, constants.BUILD, jobs, journal).run()
    finally:
        db.close()


class Front:
    """The loop and what it holds."""

    def __init__(self, desk: Desk, paths: Paths, build: str, jobs: Jobs, journal: Journal) -> None:
        self._desk = desk
        self._paths = paths
        self._build = build
        self._jobs = jobs
        self._journal = journal
        self._talks: dict[int, Talk] = {}
        self._poll = select.poll()
        self._leaving = self._is_told_to_leave = self._has_looked = False
        self._started_ms = now_ms()
        self._last_event = time.monotonic()
        self._next_tick = self._last_event + FIRST_TICK_S
        self._left_in_spool: frozenset[str] = frozenset()
        self._drains = self._has_rotated = False
        self._counts_seen = 0
        self._database = identity(paths.database)
        self._fault = ""
        self._listener = listen(paths)
        self._socket = identity(paths.socket)
        self._alarm, self._alarm_in = socket.socketpair()

    def run(self) -> None:
        """Until told to leave or not needed."""
        self._catch_signals()
        for link in (self._listener, self._alarm):
            self._poll.register(link, select.POLLIN)
        with contextlib.suppress(FileNotFoundError):
            os.unlink(os.path.join(self._paths.run, "woken"))  # the start succeeded: the next one need not wait
        self._journal.say(f"front {os.getpid()} serves, build {self._build}")
        try:
            while not (self._leaving and not self._talks):
                for number, _events in self._poll.poll(self._pause_ms()):
                    self._ready(number)
                self._drop_late()
                if self._is_told_to_leave:
                    self._leave()
                if not self._talks and not self._leaving:
                    self._rest()
        finally:
            self._leave()
            self._jobs.dismiss()
            signal.set_wakeup_fd(-1)
            self._journal.say(f"front {os.getpid()} left")

    # signals and leaving

    def _catch_signals(self) -> None:
        for link in (self._alarm, self._alarm_in):
            link.setblocking(False)
        signal.set_wakeup_fd(self._alarm_in.fileno(), warn_on_full_buffer=False)
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._tell_to_leave)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.signal(signal.SIGHUP, signal.SIG_IGN)

    def _tell_to_leave(self, _number: int, _frame: object) -> None:
        self._is_told_to_leave = True  # the loop acts on it: a signal arrives in the middle of anything

    def _leave(self) -> None:
        """Take the socket away and no more clients; those that were let in are still answered."""
        if self._leaving:
            return
        self._leaving = True
        if identity(self._paths.socket) == self._socket:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(self._paths.socket)
        with contextlib.suppress(KeyError):
            self._poll.unregister(self._listener)
        self._accept()
        self._listener.close()

    # clients

    def _pause_ms(self) -> float:
        now = time.monotonic()
        if self._talks:
            return max(0.0, min(talk.deadline for talk in self._talks.values()) - now) * 1000 + 1
        return 0 if self._drains else max(0.0, self._next_tick - now) * 1000 + 1

    def _ready(self, number: int) -> None:
        if number == self._alarm.fileno():
            with contextlib.suppress(BlockingIOError):
                self._alarm.recv(4096)
            if self._jobs.reap():
                self._jobs.start()
        elif number in self._talks:
            self._go_on(self._talks[number])
        elif not self._leaving:
            self._accept()

    def _accept(self) -> None:
        while len(self._talks) < TALKS:
            try:
                link, _address = self._listener.accept()
            except (BlockingIOError, ConnectionAbortedError):
                return
            if not is_own(link):
                link.close()
                continue
            link.setblocking(False)
            self._talks[link.fileno()] = Talk(link)
            self._poll.register(link, select.POLLIN)

    def _go_on(self, talk: Talk) -> None:
        try:
            if talk.reply:
                self._send(talk)
                return
            is_open = receive(talk)
            frame = decode(talk.sent)
            if frame is not None:
                self._answer(talk, frame)
            elif not is_open:
                self._close(talk)
        except OSError:  # it vanished
            self._close(talk)
        except WorkerError:  # it is no client of ours, or one of a build that speaks another way
            self._close(talk)
            if self._is_retired():
                self._retire()
        except Exception as bad:  # noqa: BLE001 - one event must not end the front; the hook keeps it in the spool
            self._journal.say(f"an event was not taken: {describe(bad)}")
            self._close(talk)
            if isinstance(bad, AflError) and bad.code == NEWER_SCHEMA:
                self._leave()

    def _answer(self, talk: Talk, frame: Frame) -> None:
        self._last_event = time.monotonic()
        woken: str | None = None
        if frame.event == HEALTH:
            body = self._health()
        elif frame.event == WAKE:
            body, woken = b"{}", ""
        else:
            answer = take(self._desk, frame, now_ms(), is_listening=still_listens(talk.link))
            body = answer.reply
            woken = answer.session_id if answer.has_work else None
        talk.reply = body + END
        self._send(talk)
        if woken is not None:
            self._jobs.wake(woken)
        if frame.build != self._build and self._is_retired():
            self._retire()

    def _send(self, talk: Talk) -> None:
        with contextlib.suppress(BlockingIOError):
            talk.reply = talk.reply[talk.link.send(talk.reply) :]
        if talk.reply:
            self._poll.modify(talk.link, select.POLLOUT)
        else:
            self._close(talk)

    def _close(self, talk: Talk) -> None:
        number = talk.link.fileno()
        if self._talks.pop(number, None) is not None:
            self._poll.unregister(number)
        talk.link.close()

    def _drop_late(self) -> None:
        now = time.monotonic()
        for talk in [talk for talk in self._talks.values() if talk.deadline <= now]:
            self._close(talk)
        if not self._leaving:
            self._accept()

    def _health(self) -> bytes:
        body = {
            "build": self._build,
            "pid": os.getpid(),
            "started_ms": self._started_ms,
            "jobs": self._jobs.is_running,
            "left_in_spool": len(self._left_in_spool),
            "fault": self._desk.manifests.fault,
        }
        return compact(body).encode()

    def _retire(self) -> None:
        self._journal.say("another build is installed: this front retires")
        self._leave()

    def _is_retired(self) -> bool:
        try:
            with open(self._paths.current, encoding="utf-8") as handle:
                return bool(json.load(handle)["build"] != self._build)
        except (OSError, ValueError, KeyError, TypeError):  # being replaced: there is no successor to make way for
            return False

    # when nobody asks

    def _rest(self) -> None:
        """One small piece of what is not urgent; an event that comes meanwhile waits for no more than that."""
        try:
            if self._drains:
                self._drain()
            elif time.monotonic() >= self._next_tick:
                self._next_tick = time.monotonic() + TICK_S
                self._tick()
        except (AflError, OSError, sqlite3.Error) as bad:  # locked, full: it is tried again at the next tick
            self._drains = False
            self._next_tick = time.monotonic() + TICK_S
            self._journal.say(f"later: {describe(bad)}")

    def _drain(self) -> None:
        done = drain(self._desk, self._paths.spool, self._desk.keyring.spool_key, self._left_in_spool)
        self._drains = done.is_more
        if done.left:
            self._left_in_spool |= done.left
            self._jobs.wake("")
        for session_id in done.sessions:
            self._jobs.wake(session_id)
        if not done.is_more and not self._has_rotated:
            self._desk.keyring.rotate_spool_key(self._desk.db, now_ms())
            self._has_rotated = True

    def _tick(self) -> None:
        now, db = now_ms(), self._desk.db
        path = self._desk.manifests.current()
        if self._desk.manifests.fault != self._fault:
            self._fault = self._desk.manifests.fault
            self._journal.say(self._fault or "the front file can be read again")
        self._desk.selector.settle(db, path.selector_name, path.selector_target)
        quiet = int((time.monotonic() - self._last_event) * 1000)
        if quiet > QUIET_MS:
            db.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
        self._report_counts()
        timer = (status.get(db, "jobs_next_ms") or {}).get("at_ms")
        next_ms = timer if isinstance(timer, int) else 0
        if not self._jobs.is_running and (self._jobs.has_died or is_due(now, next_ms) or self._is_first_look()):
            self._jobs.start()
        self._jobs.flush()
        self._drains = not self._has_rotated or any(name not in self._left_in_spool for name in _spooled(self._paths.spool))
        alive_until = sessions.alive_until(db, now)
        if not self._is_in_place() or may_leave(Now(now, quiet, alive_until, self._jobs.is_running, next_ms, path.scheduled)):
            self._leave()

    def _is_first_look(self) -> bool:
        """Whether rows were left by an earlier front, asked once."""
        if self._has_looked:
            return False
        self._has_looked = True
        return intake.any_waiting(self._desk.db)

    def _is_in_place(self) -> bool:
        """Whether home, socket and database are still those this front was started for; another front is started where they are not."""
        return (
            identity(self._paths.socket) == self._socket
            and identity(self._paths.database) == self._database
            and os.path.exists(self._paths.hook_dir)
        )

    def _report_counts(self) -> None:
        """Write the hook's counts to the log when they grew."""
        with contextlib.suppress(FileNotFoundError), open(self._paths.counts, encoding="ascii", errors="replace") as handle:
            stamp = os.fstat(handle.fileno()).st_mtime_ns
            if stamp != self._counts_seen:
                self._counts_seen = stamp
                self._journal.say("hook failures so far (reason, count, last ms): " + handle.read(4096).replace("\n", "; "))


def _spooled(spool: str) -> list[str]:
    try:
        return [name for name in os.listdir(spool) if name.endswith(".rec")]
    except FileNotFoundError:
        return []
