"""Which reply answers which request: the first unused step that fits. Thread-safe; knows nothing of HTTP."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from afl_core.testing.anthropic_mock.replies import STRUCTURED_OUTPUT, Failure, Hang, Message, Reply, structured, text
from afl_core.testing.anthropic_mock.requests import Request
from afl_core.testing.failure import KitError

Answer = Callable[[Mapping[str, Any]], "Reply | str"]
"""Gets the parsed request body, returns the reply."""


@dataclass(frozen=True, slots=True)
class Step:
    """One reply and the requests it is for; every condition given must hold.

    `last`, `raw` and `system` are regular expressions (dot matches newline) searched in the last user message, the raw body
    and the system prompt. `tools` True or False asks for any or no tools, a string for a tool of that name. A step answers
    once unless `repeat`.
    """

    reply: Reply | Answer
    last: str | None = None
    raw: str | None = None
    system: str | None = None
    tools: bool | str | None = None
    repeat: bool = False

    def fits(self, request: Request) -> bool:
        """Whether this step may answer `request`."""
        searched = ((self.last, request.last_user_text), (self.raw, request.raw), (self.system, request.system_text))
        if any(pattern is not None and not re.search(pattern, value, re.DOTALL) for pattern, value in searched):
            return False
        if isinstance(self.tools, str):
            return self.tools in request.tool_names
        return self.tools is None or self.tools == bool(request.tool_names)


Scripted = Step | Reply | Answer | str


def reviewing(answer: Mapping[str, Any] | Callable[[Mapping[str, Any]], Mapping[str, Any]], *, repeat: bool = False) -> Step:
    """A step for a run that was given a JSON schema; a callable gets the request body and returns the structured answer."""
    if callable(answer):
        return Step(lambda body: structured(answer(body)), tools=STRUCTURED_OUTPUT, repeat=repeat)
    return Step(structured(answer), tools=STRUCTURED_OUTPUT, repeat=repeat)


def as_step(scripted: Scripted) -> Step:
    """A step from the short forms: a reply, a callable, or words to say."""
    if isinstance(scripted, Step):
        return scripted
    if isinstance(scripted, str):
        return Step(text(scripted))
    return Step(scripted)


class Script:
    """The steps in order, and which of them are used up."""

    def __init__(self, steps: Iterable[Scripted]) -> None:
        self._steps = [as_step(scripted) for scripted in steps]
        self._used: set[int] = set()
        self._lock = threading.Lock()

    def add(self, *steps: Scripted) -> None:
        """Append steps; safe while the server runs."""
        with self._lock:
            self._steps.extend(map(as_step, steps))

    def unused(self) -> list[Step]:
        """Steps that never answered, those that repeat included."""
        with self._lock:
            return [step for index, step in enumerate(self._steps) if index not in self._used]

    def take(self, request: Request) -> tuple[int, Step] | None:
        """The first step that fits, with its index; None when there is none. Taking a step uses it up."""
        with self._lock:
            for index, step in enumerate(self._steps):
                if (step.repeat or index not in self._used) and step.fits(request):
                    self._used.add(index)
                    return index, step
        return None


def answered(step: Step, request: Request) -> Reply:
    """The reply of a step, computed when it is a callable; anything else than a reply is refused."""
    reply: Any = step.reply(request.body) if callable(step.reply) else step.reply
    if isinstance(reply, str):
        return text(reply)
    if isinstance(reply, Message | Failure | Hang):
        return reply
    raise KitError(f"a step answered {type(reply).__name__}", hint="return text(...), tool(...), structured(...) or http_error(...)")
