"""The scheduled reconcile of one home: looks every interval whether something waits, and only then runs a pass. Stays in the foreground.

Started by a service manager, or by `afl reconcile-daemon`. While nothing waits it imports the standard library and the store's reading half only.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import select
import signal
import sys
import time
from collections.abc import Mapping, Sequence
from types import ModuleType

from afl_core.model.clock import now_ms
from afl_core.settings.paths import Paths
from afl_core.worker.front import enter
from afl_core.worker.journal import Journal, describe
from afl_core.worker.rhythm import Rhythm, Score
from afl_core.worker.ripening import Ripening
from afl_core.worker.todo import Lookout

BEAT_S = 20.0
"""How often the daemon shows that it lives while a pass runs."""

PATIENCE_S = 5.0
"""How long a newcomer waits for a daemon that is leaving."""


class LeavingError(Exception):
    """The daemon was told to leave while a pass ran."""


def main(constants: ModuleType) -> int:
    """Serve the home that the rendered constants name until told to leave; 1 when another daemon does. A home without an install needs none: 0."""
    os.umask(0o077)
    paths = Paths(constants.HOME, constants.DATA)
    if not constants.HOME or not enter(paths.run):
        return 0
    os.chdir("/")
    journal = Journal(paths.reconcile_log, "afl.schedule")
    lock = take_lock(paths.reconcile_lock)
    if lock is None:
        journal.say("another daemon serves this home")
        sys.stderr.write("afl: another reconcile daemon serves this home\n")
        return 1
    daemon = Daemon(constants, paths, journal, lock)
    try:
        daemon.run()
    except Exception as bad:  # noqa: BLE001 - the last place where it can be said
        journal.say(f"daemon ended: {describe(bad)}")
        return 1
    finally:
        os.close(lock)
    if daemon.is_replaced:
        os.execv(sys.executable, [sys.executable, "-I", "-S", os.path.join(paths.hook_dir, "schedule.py")])  # noqa: S606 - no shell, on purpose
    return 0


def take_lock(path: str) -> int | None:
    """The lock's descriptor; None when another daemon holds it."""
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    end = time.monotonic() + PATIENCE_S
    while True:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > end:
                os.close(handle)
                return None
            time.sleep(0.05)
        else:
            return handle


class Daemon:
    """The loop. The time of the lock file is when it last looked; its content is its process id."""

    def __init__(self, constants: ModuleType, paths: Paths, journal: Journal, lock: int) -> None:
        self._constants = constants
        self._paths = paths
        self._journal = journal
        self._lock = lock
        self._score = Score(paths.front_file, os.environ)
        self._lookout = Lookout(paths)
        self._ripening = Ripening()
        self._rendered = os.path.join(paths.hook_dir, "constants.py")
        self._build = _identity(self._rendered)
        self._is_leaving = self._is_asked = False
        self._beat = 0.0
        self._fault = ""
        self._alarm, self._alarm_in = os.pipe()
        self.is_replaced = False

    def run(self) -> None:
        """Until told to leave, or until install put another build in place."""
        self._catch_signals()
        self._journal.say(f"daemon {os.getpid()} looks every {self._score.current().interval} s, build {self._constants.BUILD}")
        os.ftruncate(self._lock, 0)
        os.pwrite(self._lock, b"%d\n" % os.getpid(), 0)
        try:
            while not self._is_leaving:
                self.is_replaced = _identity(self._rendered) != self._build
                if self.is_replaced:
                    break
                with contextlib.suppress(LeavingError):
                    self._tick()
                self._rest()
        finally:
            signal.set_wakeup_fd(-1)
            for end in (self._alarm, self._alarm_in):
                os.close(end)
            self._journal.say(f"daemon {os.getpid()} left")

    def _catch_signals(self) -> None:
        for end in (self._alarm, self._alarm_in):
            os.set_blocking(end, False)
        signal.set_wakeup_fd(self._alarm_in, warn_on_full_buffer=False)
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._leave)
        signal.signal(signal.SIGHUP, self._ask)

    def _ask(self, _number: int, _frame: object) -> None:
        self._is_asked = True

    def _leave(self, _number: int, _frame: object) -> None:
        self._is_leaving = True  # the loop acts on it: a signal arrives in the middle of anything

    def _rest(self) -> None:
        """Sleep for the interval, by a clock that cannot jump. TERM and INT end it, and HUP asks to look at once."""
        end = time.monotonic() + self._score.current().interval
        while not (self._is_leaving or self._is_asked) and (left := end - time.monotonic()) > 0:
            select.select([self._alarm], [], [], left)
            with contextlib.suppress(BlockingIOError):
                os.read(self._alarm, 4096)
        self._is_asked = False

    def _tick(self) -> None:
        self._journal.rotate()
        rhythm = self._score.current()
        if self._score.fault != self._fault:
            self._fault = self._score.fault
            self._journal.say(self._fault or "the front file can be read again")
        waiting = self._lookout.look(rhythm.roots, now_ms())
        ripe = self._ripening.ripe(waiting, time.monotonic())
        if ripe:
            self._pass(rhythm, waiting, ripe)
        self._show_life()

    def _pass(self, rhythm: Rhythm, waiting: Mapping[str, str], ripe: Sequence[str]) -> None:
        from afl_core.worker.scheduled import run_pass

        done = run_pass(self._constants, os.environ, reviewer_ms=rhythm.reviewer_ms, grace_ms=rhythm.grace_ms, on_tick=self._while_it_runs)
        self._journal.say(f"{done.said} (for {len(ripe)} reasons, first: {ripe[0].partition(' ')[0]})")
        self._ripening.passed(self._lookout.look(rhythm.roots, now_ms()), waiting, time.monotonic())

    def _while_it_runs(self) -> None:
        if self._is_leaving:
            raise LeavingError
        if time.monotonic() - self._beat > BEAT_S:
            self._show_life()

    def _show_life(self) -> None:
        self._beat = time.monotonic()
        os.utime(self._lock)


def _identity(path: str) -> tuple[int, ...]:
    try:
        seen = os.stat(path)
    except OSError:
        return ()
    return seen.st_mtime_ns, seen.st_size, seen.st_ino
