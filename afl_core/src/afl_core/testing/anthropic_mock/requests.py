"""What a client sent, without its credentials, and the words inside it. Pure: parsing and redaction, no sockets."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

REMOVED = "<removed>"
SECRET_HEADERS = frozenset({"x-api-key", "authorization", "proxy-authorization", "cookie"})


@dataclass(frozen=True, slots=True)
class Request:
    """One HTTP request in order of arrival.

    `step` is the index of the step that answered (None: no step fitted), `status` the HTTP status sent (None: still being
    answered, or never answered), `aborted` that the client went away before the end of the reply.
    """

    number: int
    method: str
    path: str
    headers: Mapping[str, str]
    raw: str
    body: Mapping[str, Any]
    step: int | None = None
    status: int | None = None
    aborted: bool = False
    done: bool = False

    @property
    def is_message(self) -> bool:
        """Whether this asks the model for a message (and not for a token count or anything else)."""
        return self.method == "POST" and self.path.split("?")[0].endswith("/v1/messages")

    @property
    def last_user_text(self) -> str:
        """All text of the last user message, tool results included."""
        users = [message for message in self.body.get("messages", ()) if message.get("role") == "user"]
        return words(users[-1].get("content")) if users else ""

    @property
    def system_text(self) -> str:
        """The system prompt, with later system messages of the conversation."""
        later = [words(message.get("content")) for message in self.body.get("messages", ()) if message.get("role") == "system"]
        return "\n".join([words(self.body.get("system")), *later])

    @property
    def conversation_text(self) -> str:
        """All text of all messages, in order, whatever their role."""
        return "\n".join(words(message.get("content")) for message in self.body.get("messages", ()))

    @property
    def tool_names(self) -> tuple[str, ...]:
        """Names of the tools offered to the model."""
        return tuple(str(offered.get("name", "")) for offered in self.body.get("tools", ()))

    def as_json(self) -> dict[str, Any]:
        """The request as one object for a log file."""
        return {
            "number": self.number,
            "method": self.method,
            "path": self.path,
            "headers": dict(self.headers),
            "body": dict(self.body),
            "step": self.step,
            "status": self.status,
            "aborted": self.aborted,
        }


def words(content: Any) -> str:
    """All text in a Messages `content` value: a string, or blocks with text or with content of their own."""
    if isinstance(content, str):
        return content
    if isinstance(content, Mapping):
        return str(content["text"]) if "text" in content else words(content.get("content"))
    if isinstance(content, Iterable):
        return "\n".join(filter(None, map(words, content)))
    return ""


def without_credentials(headers: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Headers with lower-case names; a credential keeps its name and loses its value."""
    return {name.lower(): REMOVED if name.lower() in SECRET_HEADERS else value for name, value in headers}
