"""What a client sent, without its credentials, and the words inside it. Pure: parsing and redaction, no sockets."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

REMOVED = "<removed>"
SECRET_HEADERS = frozenset({"x-goog-api-key", "authorization", "proxy-authorization", "cookie"})

_METHOD = re.compile(r"/models/(?P<model>[^:/?]+):(?P<method>\w+)")
_KEY = re.compile(r"(?<=[?&]key=)[^&]*")


@dataclass(frozen=True, slots=True)
class Request:
    """One HTTP request in order of arrival.

    `step` is the index of the step that answered (None: no step fitted), `status` the HTTP status sent (None: none yet, or never), `aborted`
    that the client went away before the end of the reply.
    """

    number: int
    path: str
    headers: Mapping[str, str]
    raw: str
    body: Mapping[str, Any]
    step: int | None = None
    status: int | None = None
    aborted: bool = False
    done: bool = False

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
    def asks_for_content(self) -> bool:
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


def without_credentials(headers: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Headers with lower-case names; a credential keeps its name and loses its value."""
    return {name.lower(): REMOVED if name.lower() in SECRET_HEADERS else value for name, value in headers}


def path_without_key(path: str) -> str:
    """A path as it may be kept: a key in its query is taken out."""
    return _KEY.sub(REMOVED, path)
