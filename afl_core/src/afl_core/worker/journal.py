"""Lines of the front and of the daemon in their logs: ids, counts and error messages, never bodies. Written without the logging module, in its format."""

from __future__ import annotations

import contextlib
import os
import time

LIMIT_BYTES = 5_242_880
"""Past this nothing is added. The jobs process rotates the front's file, the daemon its own."""


def describe(bad: BaseException) -> str:
    """An error for the log: our own sentence, or the kind of a foreign error and where it came from, never its text."""
    sentence = getattr(bad, "logged", None)
    if sentence is not None:
        return f"{getattr(bad, 'code', '')}: {sentence}"
    trace = bad.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    where = f" at {trace.tb_frame.f_code.co_filename.rpartition('/')[2]}:{trace.tb_lineno}" if trace else ""
    return type(bad).__name__ + where


class Journal:
    """Appends to one file. A log that cannot be written must not stop the work, so that is not an error."""

    def __init__(self, path: str, name: str = "afl.front") -> None:
        self._path = path
        self._name = name

    def say(self, text: str) -> None:
        """Append one line."""
        stamp = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime())
        line = f"{stamp},{time.time_ns() // 1_000_000 % 1000:03d} {self._name} INFO {text[:500]}\n".replace("\n", " ").rstrip() + "\n"
        with contextlib.suppress(OSError):
            os.makedirs(os.path.dirname(self._path), 0o700, exist_ok=True)
            handle = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
            try:
                if os.fstat(handle).st_size < LIMIT_BYTES:
                    os.write(handle, line.encode("utf-8", "replace"))
            finally:
                os.close(handle)

    def rotate(self) -> None:
        """Begin a new file when this one is full; the one before it stays under another name."""
        with contextlib.suppress(OSError):
            if os.lstat(self._path).st_size >= LIMIT_BYTES:
                os.replace(self._path, self._path + ".1")
