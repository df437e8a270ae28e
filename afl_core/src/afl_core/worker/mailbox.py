"""The front's lines on the standard input of the jobs process. The end of input is remembered, not raised; what is no message is dropped."""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import time

MAX_LINE = 1 << 20
"""A longer message from the front is dropped."""


class Mailbox:
    """Reads lines of JSON without blocking longer than it is told."""

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
            self._pollable = False  # a regular file or /dev/null: it is read as far as it goes
        self._read()

    def wait(self, seconds: float) -> list[dict[str, object]]:
        """The messages that are there, waiting at most `seconds` for the first."""
        if self.closed:
            if b"\n" not in self._buffer:
                time.sleep(seconds)
        elif not self._pollable or self._selector.select(0 if b"\n" in self._buffer else seconds):
            self._read()
        *lines, self._buffer = self._buffer.split(b"\n")
        messages = []
        for line in lines:
            with contextlib.suppress(ValueError, RecursionError):
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
                if len(self._buffer) > MAX_LINE and b"\n" not in self._buffer:
                    self._buffer = b""
