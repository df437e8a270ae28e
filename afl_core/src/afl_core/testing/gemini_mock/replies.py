"""What the mock model can answer: content, an HTTP error or silence. Plain values; sending them is `server`'s work."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

STATUS_NAMES = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    500: "INTERNAL",
    503: "UNAVAILABLE",
    504: "DEADLINE_EXCEEDED",
}


@dataclass(frozen=True, slots=True)
class Call:
    """One function call of the model."""

    name: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Content:
    """What the model says, its text first, then its calls.

    The text is streamed in pieces of `chunk` characters, `pause` seconds apart, after `delay` seconds. `finish` is the vendor's reason to stop
    (STOP, SAFETY, MAX_TOKENS). `hold` leaves the stream open after the last piece of text until the client goes away; `drop` closes the
    connection there.
    """

    text: str = ""
    calls: tuple[Call, ...] = ()
    finish: str = "STOP"
    usage: Mapping[str, int] = field(default_factory=dict)
    delay: float = 0.0
    chunk: int = 40
    pause: float = 0.0
    hold: bool = False
    drop: bool = False


@dataclass(frozen=True, slots=True)
class Failure:
    """A plain HTTP error with the vendor's error body; `details` are the vendor's typed details."""

    status: int
    message: str = "the mock was told to fail"
    details: tuple[Mapping[str, Any], ...] = ()

    def body(self) -> dict[str, Any]:
        """The vendor's error object."""
        error: dict[str, Any] = {"code": self.status, "message": self.message, "status": STATUS_NAMES.get(self.status, "UNKNOWN")}
        if self.details:
            error["details"] = [dict(one) for one in self.details]
        return {"error": error}


@dataclass(frozen=True, slots=True)
class Hang:
    """No byte at all until the client goes away or the server closes."""


Reply = Content | Failure | Hang


def text(words: str, **how: Any) -> Content:
    """Say `words`; `how` are other fields of `Content`."""
    return Content(words, **how)


def call(name: str, arguments: Mapping[str, Any], *, say: str = "") -> Content:
    """Call one function, after saying `say`."""
    return Content(say, (Call(name, arguments),))


def structured(answer: Mapping[str, Any]) -> Content:
    """Answer a request that holds a JSON schema."""
    return Content(json.dumps(answer))


def http_error(status: int, message: str = "the mock was told to fail") -> Failure:
    """Answer with an HTTP error status."""
    return Failure(status, message)


def hang() -> Hang:
    """Accept the request and never answer it."""
    return Hang()
