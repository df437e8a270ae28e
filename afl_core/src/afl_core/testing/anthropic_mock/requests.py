"""The words inside what a Messages client sent. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from afl_core.testing.mocking.seen import Seen


@dataclass(frozen=True, slots=True)
class Request(Seen):
    """One HTTP request of a Messages client; the fields are those of `Seen`."""

    @property
    def method(self) -> str:
        """The HTTP method."""
        return self.verb

    @property
    def is_message(self) -> bool:
        """Whether this asks the model for a message (and not for a token count or anything else)."""
        return self.verb == "POST" and self.path.split("?")[0].endswith("/v1/messages")

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


def words(content: Any) -> str:
    """All text in a Messages `content` value: a string, or blocks with text or with content of their own."""
    if isinstance(content, str):
        return content
    if isinstance(content, Mapping):
        return str(content["text"]) if "text" in content else words(content.get("content"))
    if isinstance(content, Iterable):
        return "\n".join(filter(None, map(words, content)))
    return ""
