"""The words inside what a client of the Gemini API sent. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from afl_core.testing.mocking.seen import REMOVED, Seen

_METHOD = re.compile(r"/models/(?P<model>[^:/?]+):(?P<method>\w+)")
_KEY = re.compile(r"(?<=[?&]key=)[^&]*")


@dataclass(frozen=True, slots=True)
class Request(Seen):
    """One HTTP request of a client of the Gemini API; the fields are those of `Seen`."""

    @property
    def method(self) -> str:
        """What is asked: generateContent, streamGenerateContent, countTokens; '' for anything that is no question to a model."""
        found = _METHOD.search(self.path)
        return found["method"] if found else ""

    @property
    def model(self) -> str:
        """The model's name in the path."""
        found = _METHOD.search(self.path)
        return found["model"] if found else ""

    @property
    def is_message(self) -> bool:
        """Whether the model shall say something."""
        return self.method in ("generateContent", "streamGenerateContent")

    @property
    def contents_text(self) -> str:
        """All text of the conversation, whoever said it, in order; results of functions included."""
        return "\n".join(words(self.body.get("contents")))

    @property
    def last_user_text(self) -> str:
        """All text of the last content that is not the model's."""
        contents = [one for one in self.body.get("contents") or () if one.get("role") != "model"]
        return "\n".join(words(contents[-1])) if contents else ""

    @property
    def system_text(self) -> str:
        """The system instruction."""
        return "\n".join(words(self.body.get("systemInstruction")))

    @property
    def function_names(self) -> tuple[str, ...]:
        """Names of the functions offered to the model."""
        return tuple(str(one.get("name")) for tool in self.body.get("tools") or () for one in tool.get("functionDeclarations") or ())

    @property
    def schema(self) -> Mapping[str, Any] | None:
        """The JSON schema the answer shall obey, if any."""
        config = self.body.get("generationConfig")
        found = config.get("responseJsonSchema") if isinstance(config, Mapping) else None
        return found if isinstance(found, Mapping) else None


def words(value: Any) -> list[str]:
    """Every `text` in a value of the vendor's content shapes, and what functions gave back."""
    if isinstance(value, Mapping):
        own = [str(value["text"])] if isinstance(value.get("text"), str) else []
        own += [str(value["output"])] if isinstance(value.get("output"), str) else []
        return own + [word for inner in value.values() for word in words(inner)]
    if isinstance(value, list):
        return [word for inner in value for word in words(inner)]
    return []


def path_without_key(path: str) -> str:
    """A path as it may be kept: a key in its query is taken out."""
    return _KEY.sub(REMOVED, path)
