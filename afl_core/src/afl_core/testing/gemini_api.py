"""A scriptable mock of the Gemini API (generateContent, streamGenerateContent, countTokens), in process.

A request that no step fits gets a plain HTTP 400, so a test that scripts too little fails instead of going on by luck.
Standard library only; it never leaves the loopback interface.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping
from types import TracebackType
from typing import Any, Self

from afl_core.testing.failure import KitError
from afl_core.testing.gemini_mock.journal import Journal
from afl_core.testing.gemini_mock.replies import Call, Content, Failure, Hang, Reply, call, hang, http_error, structured, text
from afl_core.testing.gemini_mock.requests import Request
from afl_core.testing.gemini_mock.script import Script, Scripted, Step
from afl_core.testing.gemini_mock.server import ContentServer

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


class MockGemini:
    """A running mock: `with MockGemini(["Hello."]) as api:` then point a client at `api.url`.

    Leaving the block raises KitError when a callable step raised while it was used.
    """

    def __init__(self, steps: Iterable[Scripted] = (), *, default: Reply = NO_STEP) -> None:
        self._script = Script(steps)
        self._journal = Journal()
        self._server = ContentServer(self._script, default, self._journal)
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, name="mock-content")
        self._thread.start()

    @property
    def url(self) -> str:
        """What a client takes as its base URL."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def requests(self) -> list[Request]:
        """The requests for content, in order of arrival; token counts and anything else are in `traffic`."""
        return [request for request in self._journal.all() if request.asks_for_content]

    @property
    def traffic(self) -> list[Request]:
        """Every HTTP request, in order of arrival."""
        return self._journal.all()

    @property
    def unused(self) -> list[Step]:
        """Steps that answered nothing yet."""
        return self._script.unused()

    def add(self, *steps: Scripted) -> None:
        """Append steps to the running script."""
        self._script.add(*steps)

    def wait_requests(self, count: int, *, timeout: float = 60.0) -> list[Request]:
        """The requests for content once there are `count` of them; KitError after `timeout` seconds."""
        self._journal.wait(lambda seen: sum(one.asks_for_content for one in seen) >= count, f"{count} requests for content", timeout)
        return self.requests

    def wait_aborted(self, count: int = 1, *, timeout: float = 60.0) -> list[Request]:
        """The requests whose client went away before the reply ended, once there are `count` of them."""
        seen = self._journal.wait(lambda seen: sum(one.aborted for one in seen) >= count, f"{count} aborted requests", timeout)
        return [one for one in seen if one.aborted]

    def close(self) -> None:
        """Stop the server, ending every reply that waits. Idempotent."""
        if self._thread.is_alive():
            self._server.close()
            self._thread.join()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, raised: BaseException | None, trace: TracebackType | None) -> None:
        self.close()
        if self._server.broken and raised is None:
            raise KitError(f"a step of the mock's script raised: {self._server.broken[0]!r}") from self._server.broken[0]
