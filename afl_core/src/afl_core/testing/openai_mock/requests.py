"""The words inside a request of the Responses API. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from afl_core.testing.anthropic_mock.requests import Request, words


@dataclass(frozen=True, slots=True)
class ResponsesRequest(Request):
    """One HTTP request of a Responses client; the fields are those of `Request`."""

    @property
    def is_message(self) -> bool:
        """Whether this asks the model for an answer."""
        return self.verb == "POST" and self.path.split("?")[0].endswith("/responses")

    @property
    def items(self) -> list[Mapping[str, Any]]:
        """The input items."""
        return [item for item in self.body.get("input", ()) if isinstance(item, Mapping)]

    @property
    def last_user_text(self) -> str:
        """What the model was told last: the last user message or tool output."""
        told = [item for item in self.items if item.get("role") == "user" or str(item.get("type", "")).endswith("_output")]
        return item_words(told[-1]) if told else ""

    @property
    def system_text(self) -> str:
        """Instructions and developer messages, in which a hook's context stands too."""
        developer = [item_words(item) for item in self.items if item.get("role") in ("developer", "system")]
        return "\n".join([str(self.body.get("instructions") or ""), *developer])

    @property
    def conversation_text(self) -> str:
        """All text of all items, in order, whatever their role."""
        return "\n".join(map(item_words, self.items))

    @property
    def tool_names(self) -> tuple[str, ...]:
        """Names of the tools offered to the model."""
        return tuple(str(offered.get("name", "")) for offered in self.body.get("tools", ()))

    @property
    def answer_schema(self) -> Mapping[str, Any] | None:
        """The JSON schema the answer must have, None when any text will do."""
        form = self.body.get("text", {}).get("format", {})
        return form.get("schema") if isinstance(form, Mapping) else None


def item_words(item: Mapping[str, Any]) -> str:
    """All text of an input item: a message's content, or a tool's output."""
    return words(item.get("content")) or words(item.get("output"))
