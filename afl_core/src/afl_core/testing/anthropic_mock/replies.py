"""What the mock model can answer: a message, an HTTP error or silence. Plain values; sending them is `server`'s work."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from afl_core.testing.failure import KitError

STRUCTURED_OUTPUT = "StructuredOutput"
"""The tool through which Claude Code asks for an answer that obeys a JSON schema."""

ERROR_KINDS = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    500: "api_error",
    529: "overloaded_error",
}


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call the model makes; without `call_id` the server makes one up that is unique in its life.

    `namespace`: the group in which the Responses API offers the tool, when it is not offered by its name alone.
    """

    name: str
    arguments: Mapping[str, Any]
    call_id: str | None = None
    namespace: str | None = None

    def __post_init__(self) -> None:
        """Refuse arguments that are no object, where the script makes them and not in the server's thread."""
        if not isinstance(self.arguments, Mapping):
            raise KitError(f"the arguments of {self.name} must be an object, not {type(self.arguments).__name__}")


@dataclass(frozen=True, slots=True)
class Message:
    """An assistant message: its text first, then its tool calls.

    `delay` is seconds before the first byte, `chunk` characters a delta, `pause` seconds after each delta. `hold` leaves the
    message open after the last delta of the text until the client goes away: an interruption is then sure to hit it in the
    middle. `drop` closes the connection at that place. (Claude Code shows streamed text line by line: what a test waits for on the
    screen must have a line end after it.)
    """

    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    stop_reason: str | None = None
    usage: Mapping[str, int] = field(default_factory=dict)
    delay: float = 0.0
    chunk: int = 24
    pause: float = 0.0
    hold: bool = False
    drop: bool = False


@dataclass(frozen=True, slots=True)
class Failure:
    """A plain HTTP error with the vendor's error body."""

    status: int
    message: str = "the mock was told to fail"
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def kind(self) -> str:
        """The vendor's name for this status."""
        return ERROR_KINDS.get(self.status, "api_error")


@dataclass(frozen=True, slots=True)
class Hang:
    """No byte at all until the client goes away or the server closes."""


Reply = Message | Failure | Hang


def text(words: str, *, delay: float = 0.0, chunk: int = 24, pause: float = 0.0, hold: bool = False) -> Message:
    """Say `words`; the timing is that of `Message`."""
    return Message(words, delay=delay, chunk=chunk, pause=pause, hold=hold)


def tool(name: str, arguments: Mapping[str, Any], *, say: str = "", namespace: str | None = None) -> Message:
    """Call one tool, after saying `say`."""
    return Message(say, (ToolCall(name, arguments, namespace=namespace),))


def structured(answer: Mapping[str, Any]) -> Message:
    """Answer a run that was given a JSON schema."""
    return tool(STRUCTURED_OUTPUT, answer)


def http_error(status: int, message: str = "the mock was told to fail", headers: Mapping[str, str] | None = None) -> Failure:
    """Answer with an HTTP error status."""
    return Failure(status, message, headers or {})


def dropped(words: str = "") -> Message:
    """Say `words`, then cut the connection in the middle of the message."""
    return Message(words, drop=True)


def hang() -> Hang:
    """Accept the request and never answer it."""
    return Hang()
