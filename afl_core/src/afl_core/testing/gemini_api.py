"""A scriptable mock of the Gemini API (generateContent, streamGenerateContent, countTokens), in process.

A request that no step fits gets a plain HTTP 400, so a test that scripts too little fails instead of going on by luck.
Standard library only; it never leaves the loopback interface.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from afl_core.testing.gemini_mock.replies import Call, Content, Failure, Hang, Reply, call, hang, http_error, structured, text
from afl_core.testing.gemini_mock.requests import Request
from afl_core.testing.gemini_mock.script import Script, Scripted, Step
from afl_core.testing.gemini_mock.server import ContentServer
from afl_core.testing.mocking.journal import Journal
from afl_core.testing.mocking.running import RunningMock

__all__ = [
    "Call",
    "Content",
    "Failure",
    "Hang",
    "MockGemini",
    "Reply",
    "Request",
    "Step",
    "call",
    "hang",
    "http_error",
    "reviewing",
    "structured",
    "text",
]

NO_STEP = Failure(400, "no step of the mock's script fits this request")


def reviewing(answer: Mapping[str, Any] | Callable[[Request], Mapping[str, Any]], *, repeat: bool = False) -> Step:
    """A step for a request that holds a JSON schema; a callable gets the request and returns the answer."""
    if callable(answer):
        return Step(lambda request: structured(answer(request)), schema=True, repeat=repeat)
    return Step(structured(answer), schema=True, repeat=repeat)


class MockGemini(RunningMock[Request]):
    """A running mock: `with MockGemini(["Hello."]) as api:` then point a client at `api.url`."""

    def __init__(self, steps: Iterable[Scripted] = (), *, default: Reply = NO_STEP) -> None:
        self._script = Script(steps)
        journal = Journal[Request]()
        super().__init__(ContentServer(self._script, default, journal), journal, "mock-content")

    @property
    def unused(self) -> list[Step]:
        """Steps that answered nothing yet."""
        return self._script.unused()

    def add(self, *steps: Scripted) -> None:
        """Append steps to the running script."""
        self._script.add(*steps)
