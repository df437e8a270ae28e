"""One child process in its own session and group, with its pipes and everything it started; `run` and `dialogue` are made of it."""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from typing import IO

from afl_core.model.errors import ProcessError

STDERR_LIMIT = 512 * 1024
"""Bytes of diagnostics that are kept, the newest; more is dropped and ends nothing."""

GRACE_SECONDS = 2.0
"""Between asking a group to end (TERM) and ending it (KILL)."""

DRAIN_SECONDS = 1.0
"""How long output is still read after the group was killed; only a process that left the group can keep a pipe open longer."""

POLL_SECONDS = 0.1
"""How often the end of the child, the deadline and `on_tick` are looked at while the pipes are silent."""

_CHUNK = 65_536
_TETHER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "tether.py")


class Child:
    """One running child with its pipes. `stdout` holds what it printed and was not taken out yet.

    A command without a slash is looked up on the PATH of `environment`. Raises `ProcessError` when it cannot be started.
    """

    def __init__(self, argv: Sequence[str], environment: Mapping[str, str], cwd: str, grace_seconds: float = GRACE_SECONDS) -> None:
        if os.name != "posix":
            raise ProcessError(
                "child processes are run on Linux and macOS only", code="AFL-PROCESS-003", hint="run the review on another system"
            )
        if not argv or "\0" in "".join(argv):
            raise ProcessError("a command is empty or holds a NUL character", code="AFL-PROCESS-002")
        self.stdout, self.stderr, self.returncode = bytearray(), bytearray(), -1
        self._grace_seconds = grace_seconds
        self._input, self._closing = memoryview(b""), False
        self._selector = selectors.DefaultSelector()
        held, self._tether = os.pipe()
        status, told = os.pipe()
        try:
            # -I -S: nothing of the person's Python is imported into the few lines that run before the command.
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", _TETHER, str(held), str(told), *argv],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=dict(environment),
                cwd=cwd,
                start_new_session=True,
                pass_fds=(held, told),
            )
        except (OSError, ValueError) as bad:
            for descriptor in (self._tether, status):
                os.close(descriptor)
            self._selector.close()
            raise ProcessError(
                f"{argv[0]} cannot be started in {cwd}: {bad}", code="AFL-PROCESS-001", hint="check that the directory exists"
            ) from bad
        finally:
            os.close(held)
            os.close(told)
        for pipe, kept in ((self._process.stdout, self.stdout), (self._process.stderr, self.stderr)):
            os.set_blocking(_open(pipe).fileno(), False)
            self._selector.register(_open(pipe), selectors.EVENT_READ, kept)
        with os.fdopen(status, "rb") as told_by:
            number = told_by.read(16)
        if number:
            self.end()
            problem = os.strerror(int(number))
            raise ProcessError(
                f"{argv[0]} cannot be run: {problem}",
                code="AFL-PROCESS-001",
                hint="check the path of the command and that it may be executed",
            )

    def feed(self, stdin: bytes) -> None:
        """Remember what to write; an empty input is an ended one."""
        self.say(stdin)
        self.hang_up()

    def say(self, data: bytes) -> None:
        """Write more, as soon as the child reads it; its input stays open."""
        pipe = _open(self._process.stdin)
        if pipe.closed or not data:  # a child that closed its input hears nothing; its end is noticed elsewhere
            return
        if not self._input:
            os.set_blocking(pipe.fileno(), False)
            self._selector.register(pipe, selectors.EVENT_WRITE, None)
        self._input = memoryview(bytes(self._input) + data)

    def hang_up(self) -> None:
        """End its input once everything was written."""
        self._closing = True
        if not self._input:
            _open(self._process.stdin).close()

    @property
    def ended_output(self) -> bool:
        """Whether it closed its standard output, or ended."""
        return not any(key.data is self.stdout for key in self._selector.get_map().values())

    def leave(self, seconds: float) -> None:
        """Give it that long to end by itself after `hang_up`; what it prints then is nobody's."""
        until = time.monotonic() + seconds
        while self._process.poll() is None and time.monotonic() < until:
            self.move(min(POLL_SECONDS, seconds), keep=False)

    def follow(self, deadline: float, stdout_limit: int, on_tick: Callable[[], None] | None) -> str:
        """Move bytes until the child ends, the deadline passes or stdout overflows: `ended`, `deadline` or `overflow`."""
        while self._process.poll() is None:
            left = deadline - time.monotonic()
            if left <= 0:
                return "deadline"
            self.move(min(POLL_SECONDS, left))
            if len(self.stdout) > stdout_limit:
                return "overflow"
            if on_tick is not None:
                on_tick()
        self._cut()
        self._drain(stdout_limit)
        return "overflow" if len(self.stdout) > stdout_limit else "ended"

    def end(self) -> None:
        """End the group whatever happened: TERM, the grace, KILL. Idempotent; closes every pipe."""
        if self._tether >= 0:
            if self._process.poll() is None:
                self._signal(signal.SIGTERM)
                self.leave(self._grace_seconds)
            self._cut()
        self._process.wait()
        self.returncode = self._process.returncode
        self._selector.close()
        for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
            with contextlib.suppress(BrokenPipeError):
                _open(pipe).close()

    def _cut(self) -> None:
        """Kill what is left of the group. The watcher in it keeps its number ours until now."""
        if self._tether < 0:
            return
        self._signal(signal.SIGKILL)
        os.close(self._tether)
        self._tether = -1

    def _signal(self, number: signal.Signals) -> None:
        # No such group: the child left nothing, not even its watcher (it was killed from outside).
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, number)

    def _drain(self, stdout_limit: int) -> None:
        until = time.monotonic() + DRAIN_SECONDS
        while self._reading() and time.monotonic() < until and len(self.stdout) <= stdout_limit:
            self.move(POLL_SECONDS)

    def _reading(self) -> bool:
        return any(key.events & selectors.EVENT_READ for key in self._selector.get_map().values())

    def move(self, seconds: float, *, keep: bool = True) -> None:
        """One turn of reading and writing; without any open pipe, a short wait for the child's end."""
        if not self._selector.get_map():
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(seconds)
            return
        for key, events in self._selector.select(seconds):
            if events & selectors.EVENT_WRITE:
                self._write(key)
            else:
                self._read(key, keep=keep)

    def _write(self, key: selectors.SelectorKey) -> None:
        try:
            self._input = self._input[os.write(key.fd, self._input[:_CHUNK]) :]
        except BlockingIOError:
            return
        except BrokenPipeError:  # a command need not read what it is given
            self._input, self._closing = memoryview(b""), True
        if not self._input:
            self._selector.unregister(key.fileobj)
            if self._closing:
                _open(self._process.stdin).close()

    def _read(self, key: selectors.SelectorKey, *, keep: bool) -> None:
        try:
            data = os.read(key.fd, _CHUNK)
        except BlockingIOError:
            return
        if not data:
            self._drop(key)
        elif keep:
            key.data.extend(data)
            if key.data is self.stderr and len(self.stderr) > STDERR_LIMIT:
                del self.stderr[:-STDERR_LIMIT]

    def _drop(self, key: selectors.SelectorKey) -> None:
        self._selector.unregister(key.fileobj)
        pipe = key.fileobj
        if not isinstance(pipe, int):
            pipe.close()  # type: ignore[attr-defined]


def _open(pipe: IO[bytes] | None) -> IO[bytes]:
    if pipe is None:
        raise ProcessError("a pipe to the child is missing", code="AFL-PROCESS-002")
    return pipe
