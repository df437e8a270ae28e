"""What a client sent, without its credentials: the part that is the same for every service. Pure."""

from __future__ import annotations

import abc
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

REMOVED = "<removed>"
SECRET_HEADERS = frozenset({"x-api-key", "x-goog-api-key", "authorization", "proxy-authorization", "cookie"})


@dataclass(frozen=True, slots=True)
class Seen(abc.ABC):
    """One HTTP request in order of arrival.

    `step` is the index of the step that answered (None: no step fitted), `status` the HTTP status sent (None: still being
    answered, or never answered), `aborted` that the client went away before the end of the reply.
    """

    number: int
    verb: str
    path: str
    headers: Mapping[str, str]
    raw: str
    body: Mapping[str, Any]
    step: int | None = None
    status: int | None = None
    aborted: bool = False
    done: bool = False

    @property
    @abc.abstractmethod
    def is_message(self) -> bool:
        """Whether this asks the model to say something, and is no token count or probe."""

    def as_json(self) -> dict[str, Any]:
        """The request as one object for a log file."""
        return {
            "number": self.number,
            "method": self.verb,
            "path": self.path,
            "headers": dict(self.headers),
            "body": dict(self.body),
            "step": self.step,
            "status": self.status,
            "aborted": self.aborted,
        }


def without_credentials(headers: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Headers with lower-case names; a credential keeps its name and loses its value."""
    return {name.lower(): REMOVED if name.lower() in SECRET_HEADERS else value for name, value in headers}


def parsed(raw: str) -> dict[str, Any]:
    """The body as an object; empty when it is none (a script can still match on the raw text)."""
    try:
        body = json.loads(raw)
    except ValueError:
        return {}
    return body if isinstance(body, dict) else {}
