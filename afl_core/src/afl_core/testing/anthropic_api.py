"""A scriptable mock of the Anthropic Messages API, in process or as `python -m afl_core.testing.anthropic_api`.

A request that no step fits gets a plain HTTP 400, so a test that scripts too little fails instead of going on by luck.
Standard library only; it never leaves the loopback interface.
"""

from __future__ import annotations

import argparse
import sys
import threading
from collections.abc import Iterable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from afl_core.testing.anthropic_mock.journal import Journal
from afl_core.testing.anthropic_mock.replies import (
    STRUCTURED_OUTPUT,
    Failure,
    Hang,
    Message,
    Reply,
    ToolCall,
    dropped,
    hang,
    http_error,
    structured,
    text,
    tool,
)
from afl_core.testing.anthropic_mock.requests import Request, words
from afl_core.testing.anthropic_mock.script import Script, Scripted, Step, reviewing
from afl_core.testing.anthropic_mock.scriptfile import read_script
from afl_core.testing.anthropic_mock.server import MessagesServer
from afl_core.testing.failure import KitError

__all__ = [
    "STRUCTURED_OUTPUT",
    "Failure",
    "Hang",
    "Message",
    "MockAnthropic",
    "Reply",
    "Request",
    "Step",
    "ToolCall",
    "dropped",
    "hang",
    "http_error",
    "reviewing",
    "structured",
    "text",
    "tool",
    "words",
]

NO_STEP = Failure(400, "no step of the mock's script fits this request")


class MockAnthropic:
    """A running mock: `with MockAnthropic(["Hello."]) as api:` then point a client at `api.url`.

    Leaving the block raises KitError when a callable step raised while it was used.
    """

    server_kind: type[MessagesServer] = MessagesServer

    def __init__(self, steps: Iterable[Scripted] = (), *, default: Reply = NO_STEP, log: Path | None = None, port: int = 0) -> None:
        self._script = Script(steps)
        self._journal = Journal(log)
        self._server = self.server_kind(self._script, default, self._journal, port)
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, name="mock-messages")
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

    @property
    def unused(self) -> list[Step]:
        """Steps that answered nothing yet."""
        return self._script.unused()

    def add(self, *steps: Scripted) -> None:
        """Append steps to the running script."""
        self._script.add(*steps)

    def wait_requests(self, count: int, *, timeout: float = 30.0) -> list[Request]:
        """The requests for a message once there are `count` of them; KitError after `timeout` seconds."""
        self._journal.wait(lambda seen: sum(request.is_message for request in seen) >= count, f"{count} message requests", timeout)
        return self.requests

    def wait_aborted(self, count: int = 1, *, timeout: float = 30.0) -> list[Request]:
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


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve a script file until interrupted; prints the base URL as its first line."""
    parser = argparse.ArgumentParser(prog="python -m afl_core.testing.anthropic_api", description="A scriptable mock Messages API.")
    parser.add_argument("script", type=Path, help="JSON list of steps")
    parser.add_argument("--log", type=Path, help="append each finished request as one JSON line")
    parser.add_argument("--port", type=int, default=0, help="loopback port (default: a free one)")
    chosen = parser.parse_args(arguments)
    try:
        steps = read_script(chosen.script)
    except (KitError, OSError) as bad:
        sys.stderr.write(f"{bad}\n")
        return 1
    api = MockAnthropic(steps, log=chosen.log, port=chosen.port)
    sys.stdout.write(f"{api.url}\n")
    sys.stdout.flush()
    try:
        threading.Event().wait()
    except KeyboardInterrupt:
        return 0
    finally:
        api.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
