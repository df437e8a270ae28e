"""The list of requests a server has seen, kept in memory for tests and written as JSON lines when a file is named."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Generic, TypeVar

from afl_core.testing.failure import KitError
from afl_core.testing.mocking.seen import Seen

Request = TypeVar("Request", bound=Seen)


class Journal(Generic[Request]):
    """Requests in order of arrival; every method may be called from any thread."""

    def __init__(self, path: Path | None = None) -> None:
        self._path = path
        self._requests: list[Request] = []
        self._changed = threading.Condition()

    def arrived(self, request: Request) -> Request:
        """Enter a request; returns it with its number, counted from 1."""
        with self._changed:
            numbered = replace(request, number=len(self._requests) + 1)
            self._requests.append(numbered)
            self._changed.notify_all()
            return numbered

    def note(self, request: Request, **facts: Any) -> Request:
        """Replace facts of an entered request."""
        with self._changed:
            noted = replace(self._requests[request.number - 1], **facts)
            self._requests[request.number - 1] = noted
            if noted.done and self._path is not None:
                with self._path.open("a", encoding="utf-8") as log:
                    log.write(json.dumps(noted.as_json(), ensure_ascii=False) + "\n")
            self._changed.notify_all()
            return noted

    def all(self) -> list[Request]:
        """Everything so far."""
        with self._changed:
            return list(self._requests)

    def wait(self, enough: Callable[[list[Request]], bool], what: str, timeout: float) -> list[Request]:
        """Everything so far, once it is `enough`; KitError naming `what` when that takes longer than `timeout` seconds."""
        deadline = time.monotonic() + timeout
        with self._changed:
            while not enough(self._requests):
                left = deadline - time.monotonic()
                if left <= 0 or not self._changed.wait(left):
                    if enough(self._requests):
                        break
                    seen = [f"{request.verb} {request.path} step {request.step} status {request.status}" for request in self._requests]
                    raise KitError(f"the mock API did not see {what} within {timeout:g} s; it saw {seen}")
            return list(self._requests)
