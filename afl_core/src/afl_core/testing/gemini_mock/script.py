"""Which reply answers which request: the first unused step that fits. Thread-safe; knows nothing of HTTP."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from afl_core.testing.failure import KitError
from afl_core.testing.gemini_mock.replies import Content, Failure, Hang, Reply, text
from afl_core.testing.gemini_mock.requests import Request

Answer = Callable[[Request], "Reply | str"]


@dataclass(frozen=True, slots=True)
class Step:
    """One reply and the requests it is for; every condition given must hold.

    `last`, `raw` and `model` are regular expressions (dot matches newline) searched in the last user content, the raw body and the model's name.
    `schema`: whether the request holds a JSON schema. A step answers once unless `repeat`.
    """

    reply: Reply | Answer
    last: str | None = None
    raw: str | None = None
    model: str | None = None
    schema: bool | None = None
    repeat: bool = False

    def fits(self, request: Request) -> bool:
        """Whether this step may answer `request`."""
        searched = ((self.last, request.last_user_text), (self.raw, request.raw), (self.model, request.model))
        if any(pattern is not None and not re.search(pattern, value, re.DOTALL) for pattern, value in searched):
            return False
        return self.schema is None or self.schema == (request.schema is not None)

    def answer(self, request: Request) -> Reply:
        """The reply, computed when it is a callable. Raises KitError for what is none."""
        reply = self.reply(request) if callable(self.reply) else self.reply
        if isinstance(reply, str):
            return text(reply)
        if isinstance(reply, Content | Failure | Hang):
            return reply
        raise KitError(f"a step answered {type(reply).__name__}", hint="return text(...), call(...), structured(...) or http_error(...)")


Scripted = Step | Reply | Answer | str


class Script:
    """The steps in order, and which of them are used up."""

    def __init__(self, steps: Iterable[Scripted]) -> None:
        self._lock = threading.Lock()
        self._steps: list[Step] = []
        self._used: set[int] = set()
        self.add(*steps)

    def add(self, *steps: Scripted) -> None:
        """Append steps; safe while the server runs."""
        with self._lock:
            for one in steps:
                self._steps.append(one if isinstance(one, Step) else Step(text(one) if isinstance(one, str) else one))

    def unused(self) -> list[Step]:
        """Steps that never answered."""
        with self._lock:
            return [step for index, step in enumerate(self._steps) if index not in self._used]

    def take(self, request: Request) -> tuple[int, Step] | None:
        """The first step that fits, with its index; it is used up by that. None when there is none."""
        with self._lock:
            for index, step in enumerate(self._steps):
                if (step.repeat or index not in self._used) and step.fits(request):
                    self._used.add(index)
                    return index, step
        return None
