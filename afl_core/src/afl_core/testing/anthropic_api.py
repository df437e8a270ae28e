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
from afl_core.testing.mocking.journal import Journal
from afl_core.testing.mocking.running import RunningMock

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


class MockAnthropic(RunningMock[Request]):
    """A running mock: `with MockAnthropic(["Hello."]) as api:` then point a client at `api.url`."""

    server_kind: type[MessagesServer] = MessagesServer

    def __init__(self, steps: Iterable[Scripted] = (), *, default: Reply = NO_STEP, log: Path | None = None, port: int = 0) -> None:
        self._script = Script(steps)
        journal = Journal[Request](log)
        super().__init__(self.server_kind(self._script, default, journal, port), journal, "mock-messages")

    @property
    def unused(self) -> list[Step]:
        """Steps that answered nothing yet."""
        return self._script.unused()

    def add(self, *steps: Scripted) -> None:
        """Append steps to the running script."""
        self._script.add(*steps)


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
