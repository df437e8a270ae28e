"""The jobs process as the front sees it: started when there is work, told what happened, started again when it died with work left."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Callable

from afl_core.model.codec import compact
from afl_core.worker.environment import Environments, for_child

BACKOFF_S = (1.0, 2.0, 5.0, 15.0, 60.0, 300.0)
"""Waits before a process that died is started again, the last one for good; a process that lived longer than it counts as well."""

RECENT_S = 5.0
"""What was told this shortly before the process left may not have been read; the next one is told again."""

AT_ONCE_S = 1.0
"""A process that leaves this soon found that an elder one, of a front that is gone, still finishes a review."""

PENDING_BYTES = 1 << 20
"""More than this is not kept for a process that does not read: it finds its work in the store anyway."""


DEFAULT_SIGNALS = (signal.SIGHUP, signal.SIGPIPE)
"""What this process ignores, a child must not."""


class Jobs:
    """At most one child, in a process group of its own, with a pipe as its standard input: closing it means finish and leave."""

    def __init__(self, python: str, home: str, data: str, environments: Environments, say: Callable[[str], None]) -> None:
        self._command = [python, "-I", "-m", "afl_core.worker.jobs", home]
        self._data = data
        self._environments = environments
        self._say = say
        self._pid = 0
        self._pipe = -1
        self._pending = b""
        self._told: dict[str, float] = {}
        self._started = 0.0
        self._failures = 0
        self._not_before = 0.0

    @property
    def is_running(self) -> bool:
        """Whether there is a child."""
        return self._pid != 0

    @property
    def has_died(self) -> bool:
        """Whether the last child did not end by itself; it left work behind and is to be started again."""
        return self._failures > 0

    def wake(self, session_id: str) -> None:
        """There is work for a session ('' for none in particular): tell the child, or start one."""
        self._told[session_id] = time.monotonic()
        if not self._pid:
            self.start()
        elif session_id:
            self._tell(session_id)
        self.flush()

    def start(self) -> None:
        """Start the child unless it runs or died a moment ago; tell it what every known session's environment is."""
        if self._pid or time.monotonic() < self._not_before:
            return
        read_end, write_end = os.pipe()
        actions = [
            (os.POSIX_SPAWN_DUP2, read_end, 0),
            (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
            (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
        ]
        environ = {**for_child(os.environ), "AFL_DATA_ROOT": self._data}
        try:
            self._pid = os.posix_spawn(
                self._command[0], self._command, environ, file_actions=actions, setpgroup=0, setsigdef=DEFAULT_SIGNALS
            )
        except OSError as bad:
            os.close(write_end)
            self._failed(f"cannot be started: {bad.strerror}")
            return
        finally:
            os.close(read_end)
        os.set_blocking(write_end, False)
        self._pipe, self._pending, self._started = write_end, b"", time.monotonic()
        for session_id in self._environments.sessions():
            self._tell(session_id)
        for session_id in self._told:
            if session_id and session_id not in self._environments.sessions():
                self._tell(session_id)

    def flush(self) -> None:
        """Write what the pipe takes now."""
        while self._pending and self._pipe >= 0:
            try:
                self._pending = self._pending[os.write(self._pipe, self._pending) :]
            except BlockingIOError:
                return
            except OSError:  # it died; `reap` will say so
                self._pending = b""

    def reap(self) -> bool:
        """Notice that the child ended; True when it was told of something so late that it may not have read it."""
        if not self._pid:
            return False
        pid, code = os.waitpid(self._pid, os.WNOHANG)
        if pid == 0:
            return False
        now = time.monotonic()
        self._close()
        self._pid = 0
        status = os.waitstatus_to_exitcode(code)
        if status != 0:
            if now - self._started > BACKOFF_S[-1]:
                self._failures = 0
            self._failed(f"ended with status {status}")
            return False
        self._failures, self._not_before = 0, 0.0
        self._told = {session_id: at for session_id, at in self._told.items() if now - at < RECENT_S}
        if self._told and now - self._started < AT_ONCE_S:
            self._failures, self._not_before = 1, now + BACKOFF_S[0]  # no spinning: the next tick starts one
            return False
        return bool(self._told)

    def dismiss(self) -> None:
        """Let the child finish and leave."""
        self._close()

    def _tell(self, session_id: str) -> None:
        line = compact({"session": session_id, "env": self._environments.get(session_id)}).encode("utf-8", "surrogatepass") + b"\n"
        if len(self._pending) + len(line) <= PENDING_BYTES:
            self._pending += line

    def _failed(self, how: str) -> None:
        wait = BACKOFF_S[min(self._failures, len(BACKOFF_S) - 1)]
        self._failures += 1
        self._not_before = time.monotonic() + wait
        self._say(f"jobs {how}; the next start is {wait:.0f} s away")

    def _close(self) -> None:
        if self._pipe >= 0:
            with contextlib.suppress(OSError):
                os.close(self._pipe)
            self._pipe = -1
