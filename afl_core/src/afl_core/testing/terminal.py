"""Drive a program in a pseudo-terminal: type, press keys, wait for words on its screen, and end its whole process group."""

from __future__ import annotations

import builtins
import contextlib
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from afl_core.testing.failure import KitError
from afl_core.testing.screen import Screen

KEYS = {
    "enter": b"\r",
    "escape": b"\x1b",
    "tab": b"\t",
    "backspace": b"\x7f",
    "up": b"\x1b[A",
    "down": b"\x1b[B",
    "right": b"\x1b[C",
    "left": b"\x1b[D",
    "ctrl-c": b"\x03",
    "ctrl-d": b"\x04",
    "ctrl-u": b"\x15",
}
GRACE_S = 3.0
"""How long a program may take to end itself before its group is killed."""

AGAIN_S = 5.0
"""After how long a key is pressed again that shows no effect."""

READ_S = 0.1
"""How often the reader looks whether the terminal was closed."""

LAUNCHER = (
    "import fcntl,os,sys,termios;"
    "fcntl.ioctl(0,termios.TIOCSCTTY,0);"  # the new session gets the pseudo-terminal, so that ctrl-c is a signal
    "os.execvp(sys.argv[1],sys.argv[1:])"
)


class Terminal:
    """A running program and its screen; a thread reads, so the program never blocks on a full pipe."""

    def __init__(
        self, command: Sequence[str | Path], *, environment: Mapping[str, str], folder: Path, columns: int = 160, rows: int = 50
    ) -> None:
        self._screen = Screen(columns, rows)
        self._changed = threading.Condition()
        self._bytes = bytearray()
        self._ended = False
        self._master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", "-c", LAUNCHER, *map(str, command)],
                stdin=slave, stdout=slave, stderr=slave, cwd=folder, env=dict(environment), start_new_session=True,
            )  # fmt: skip
        except BaseException:
            os.close(self._master)
            raise
        finally:
            os.close(slave)
        self._closing = threading.Event()
        self._reader = threading.Thread(target=self._read, name="terminal-reader")
        self._reader.start()

    @property
    def pid(self) -> int:
        """The program's process id, which is also its group's and session's."""
        return self._process.pid

    @property
    def returncode(self) -> int | None:
        """The exit status (negative: the signal), or None while the program runs."""
        return self._process.poll()

    def screen(self) -> str:
        """What the screen shows now."""
        with self._changed:
            return self._screen.text()

    def output(self) -> bytes:
        """Every byte the program has written, escape sequences included."""
        with self._changed:
            return bytes(self._bytes)

    def wait_for(self, pattern: str, *, timeout: float = 30.0) -> str:
        """The screen once `pattern` (a regular expression) is on it; KitError with the screen after `timeout` seconds.

        Runs of white space count as one space, so a phrase is found where the program wrapped it.
        """
        return self.wait_until(lambda shown: re.search(pattern, shown) is not None, f"{pattern!r} to appear", timeout=timeout)

    def wait_gone(self, pattern: str, *, timeout: float = 30.0) -> str:
        """The screen once `pattern` is no longer on it."""
        return self.wait_until(lambda shown: re.search(pattern, shown) is None, f"{pattern!r} to go", timeout=timeout)

    def wait_until(self, enough: Callable[[str], bool], what: str, *, timeout: float = 30.0) -> str:
        """The screen once `enough` says so of its text with white space made one; `what` names it in the KitError."""
        deadline = time.monotonic() + timeout
        with self._changed:
            while True:
                if enough(" ".join(self._screen.text().split())):
                    return self._screen.text()
                left = deadline - time.monotonic()
                if left <= 0 or self._ended:
                    why = "the program ended" if self._ended else f"{timeout:g} s passed"
                    raise KitError(f"{why} before the wait for {what} was over; the screen:\n{self._screen.text()}")
                self._changed.wait(left)

    def wait_exit(self, *, timeout: float = 30.0) -> int:
        """The exit status, once the program has ended."""
        try:
            return self._process.wait(timeout)
        except subprocess.TimeoutExpired as late:
            raise KitError(f"the program did not end within {timeout:g} s; its screen:\n{self.screen()}") from late

    def type(self, words: str) -> None:
        """Type characters, without Enter."""
        self._send(words.encode())

    def key(self, name: str) -> None:
        """Press one key of KEYS."""
        if name not in KEYS:
            raise KitError(f"no key is called {name!r}", hint=f"one of {', '.join(KEYS)}")
        self._send(KEYS[name])

    def press(self, key: str, until: str, *, gone: bool = False, again: float = AGAIN_S, timeout: float = 30.0) -> None:
        """Press a key until the screen shows `until` (a regular expression), or with `gone` no longer shows it.

        A program that is busy drawing may lose a key. For keys of which one too many does no harm.
        """
        self.insist(lambda: self.key(key), until, gone=gone, again=again, timeout=timeout)

    def insist(self, act: Callable[[], None], until: str, *, gone: bool = False, again: float = AGAIN_S, timeout: float = 30.0) -> None:
        """Do something, such as typing a letter, until it shows; once more each time that `again` seconds passed without any effect."""
        deadline = time.monotonic() + timeout
        while True:
            act()
            left = min(again, max(0.0, deadline - time.monotonic()))
            try:
                (self.wait_gone if gone else self.wait_for)(until, timeout=left)
            except KitError:
                if self._ended or time.monotonic() >= deadline:
                    raise
            else:
                return

    def submit(self, words: str, *, timeout: float = 30.0) -> None:
        """Type one line, wait until the program shows it, press Enter."""
        self.type(words)
        self.wait_for(re.escape(" ".join(words.split())), timeout=timeout)
        self.key("enter")

    def close(self) -> None:
        """End the program and everything in its process group: asked first, killed after a grace. Idempotent."""
        if self._closing.is_set():
            return
        if self._process.poll() is None:
            self._signal(signal.SIGTERM)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(GRACE_S)
        self._signal(signal.SIGKILL)
        self._process.wait()
        self._closing.set()
        self._reader.join()
        os.close(self._master)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: builtins.type[BaseException] | None, raised: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def _signal(self, number: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):  # the whole group is already gone (macOS says EPERM)
            os.killpg(self._process.pid, number)

    def _send(self, data: bytes) -> None:
        while data:
            data = data[os.write(self._master, data) :]

    def _read(self) -> None:
        while not self._closing.is_set():
            if not select.select([self._master], [], [], READ_S)[0]:
                continue
            try:
                data = os.read(self._master, 65536)
            except OSError:  # Linux: the last holder of the other side has closed it
                data = b""
            with self._changed:
                self._bytes += data
                self._screen.feed(data)
                replies, self._screen.replies = b"".join(self._screen.replies), []
                self._ended = not data
                self._changed.notify_all()
            if self._ended:
                return
            if replies:
                with contextlib.suppress(OSError):  # the program may end between its question and our answer
                    self._send(replies)
