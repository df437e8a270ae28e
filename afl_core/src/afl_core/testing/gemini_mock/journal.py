"""The requests a mock has seen, in order of arrival; tests wait on it instead of sleeping."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from afl_core.testing.failure import KitError
from afl_core.testing.gemini_mock.requests import Request


class Journal:
    """Every method may be called from any thread."""

    def __init__(self) -> None:
        self._seen: list[Request] = []
        self._news = threading.Condition()

    def arrived(self, request: Request) -> Request:
        """Enter a request; gives it its number, counted from 1."""
        with self._news:
            entered = replace(request, number=len(self._seen) + 1)
            self._seen.append(entered)
            self._news.notify_all()
            return entered

    def note(self, request: Request, **facts: Any) -> None:
        """Add facts to an entered request."""
        with self._news:
            self._seen[request.number - 1] = replace(self._seen[request.number - 1], **facts)
            self._news.notify_all()

    def all(self) -> list[Request]:
        """Everything so far."""
        with self._news:
            return list(self._seen)

    def wait(self, enough: Callable[[list[Request]], bool], what: str, timeout: float) -> list[Request]:
        """Everything so far, once it is `enough`; KitError naming `what` after `timeout` seconds."""
        deadline = time.monotonic() + timeout
        with self._news:
            while not enough(self._seen):
                left = deadline - time.monotonic()
                if left <= 0:
                    told = [f"{one.path} step {one.step} status {one.status}" for one in self._seen]
                    raise KitError(f"the mock API did not see {what} within {timeout:g} s; it saw {told}")
                self._news.wait(left)
            return list(self._seen)
