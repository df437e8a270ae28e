"""A dialogue with a child that waits to be asked: one JSON object a line each way, deadlines, caps, and a group that is gone afterwards.

What is said is decided by whoever holds the dialogue; here are only bytes and time.
"""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from afl_core.model.codec import compact
from afl_core.model.errors import ProcessError
from afl_core.processes.child import POLL_SECONDS, Child

ANSWER_SECONDS = 8.0
"""How long one answer may take."""

LINE_LIMIT = 4 * 1024 * 1024
"""Bytes of one line; a longer one ends the dialogue."""

HEARD_LIMIT = 16 * 1024 * 1024
"""Bytes a child may print in one dialogue; more ends it."""

LEAVE_SECONDS = 1.0
"""How long a child may take to end by itself once its input was closed; then its group gets TERM and KILL as after any run."""

_BY_HAND = "run the command by hand to see what it says"


class Dialogue:
    """An open dialogue."""

    def __init__(self, child: Child, name: str) -> None:
        self._child, self._name = child, name
        self._heard = 0

    def tell(self, message: Mapping[str, Any]) -> None:
        """Say something that has no answer."""
        self._child.say(compact(dict(message)).encode() + b"\n")

    def ask(self, message: Mapping[str, Any], answer_id: int, *, seconds: float = ANSWER_SECONDS) -> Mapping[str, Any]:
        """Say it and wait for the message with that `id`; whatever else is said meanwhile (notifications, requests, noise) is passed over.

        Raises `ProcessError` when it does not come in time, when the child ends first, or says more than is read.
        """
        self.tell(message)
        until = time.monotonic() + seconds
        while True:
            for line in self._lines():
                if (said := _object(line)).get("id") == answer_id and "method" not in said:
                    return said
            left = until - time.monotonic()
            if self._child.ended_output:
                raise ProcessError(f"{self._name} ended before it answered", code="AFL-PROCESS-005", hint=_BY_HAND)
            if left <= 0:
                raise ProcessError(f"{self._name} did not answer within {seconds:g} s", code="AFL-PROCESS-004", hint=_BY_HAND)
            self._child.move(min(POLL_SECONDS, left))

    def _lines(self) -> Iterator[bytes]:
        """The complete lines that were heard, taken out of the child's output; what follows an answer stays for the next one."""
        heard = self._child.stdout
        while (end := heard.find(b"\n")) >= 0:
            line = bytes(heard[:end])
            del heard[: end + 1]
            self._heard += end + 1
            if self._heard > HEARD_LIMIT or end > LINE_LIMIT:
                raise self._too_much()
            yield line
        if len(heard) > LINE_LIMIT:
            raise self._too_much()

    def _too_much(self) -> ProcessError:
        return ProcessError(f"{self._name} said more than is read", code="AFL-PROCESS-006", hint=_BY_HAND)


@contextlib.contextmanager
def dialogue(argv: Sequence[str], *, environment: Mapping[str, str], cwd: str) -> Iterator[Dialogue]:
    """Start `argv` and talk to it. Afterwards its input is closed; when it does not end by itself its whole group is ended.

    Raises `ProcessError` when it cannot be started.
    """
    child = Child(argv, environment, cwd)
    try:
        yield Dialogue(child, argv[0])
        child.hang_up()
        child.leave(LEAVE_SECONDS)
    finally:
        child.end()


def _object(line: bytes) -> Mapping[str, Any]:
    """The object in a line; an empty one for anything else, which cannot be an answer."""
    try:
        said = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return said if isinstance(said, dict) else {}
