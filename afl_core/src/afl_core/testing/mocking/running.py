"""A mock that runs: its address, what it saw, and its end. What it says is the business of each service's own."""

from __future__ import annotations

import threading
from types import TracebackType
from typing import Any, Generic, Self

from afl_core.testing.failure import KitError
from afl_core.testing.mocking.journal import Journal, Request
from afl_core.testing.mocking.loopback import LoopbackServer

PATIENCE_S = 60.0
"""How long a test waits for a request, unless it says otherwise."""


class RunningMock(Generic[Request]):
    """A server in a thread of its own. Leaving the block raises KitError when a callable step raised while it was used."""

    def __init__(self, server: LoopbackServer[Any, Any, Request], journal: Journal[Request], name: str) -> None:
        self._server, self._journal = server, journal
        self._thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, name=name)
        self._thread.start()

    @property
    def url(self) -> str:
        """What a client takes as its base URL."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def requests(self) -> list[Request]:
        """The requests for a message, in order of arrival; token counts and probes are in `traffic`."""
        return [request for request in self._journal.all() if request.is_message]

    @property
    def traffic(self) -> list[Request]:
        """Every HTTP request, in order of arrival."""
        return self._journal.all()

    def wait_requests(self, count: int, *, timeout: float = PATIENCE_S) -> list[Request]:
        """The requests for a message once there are `count` of them; KitError after `timeout` seconds."""
        self._journal.wait(lambda seen: sum(request.is_message for request in seen) >= count, f"{count} message requests", timeout)
        return self.requests

    def wait_aborted(self, count: int = 1, *, timeout: float = PATIENCE_S) -> list[Request]:
        """The requests whose client went away before the reply ended, once there are `count` of them."""
        seen = self._journal.wait(lambda seen: sum(request.aborted for request in seen) >= count, f"{count} aborted requests", timeout)
        return [request for request in seen if request.aborted]

    def close(self) -> None:
        """Stop the server, ending every reply that waits. Idempotent."""
        if self._thread.is_alive():
            self._server.close()
            self._thread.join()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, raised: BaseException | None, trace: TracebackType | None) -> None:
        self.close()
        errors = self._server.script_errors
        if errors and raised is None:
            raise KitError(f"a step of the mock's script raised: {errors[0]!r}") from errors[0]
