"""One record of a chat log, read with suspicion: every field may be missing or of any type."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from afl_core.model.json_values import DECODER, mapping_of, milliseconds, text_of
from afl_core.model.observation import Spot
from afl_core.spec.host import Line


@attrs.frozen
class Record:
    """A record's JSON object and where it begins in its file (bytes)."""

    offset: int
    fields: Mapping[str, Any]

    def spot(self, part: int = 0) -> Spot:
        """Where the thing number `part` of this record is."""
        return Spot(self.offset, part)

    def text(self, key: str) -> str | None:
        """The field when it is a string that is not empty."""
        return text_of(self.fields.get(key))

    @property
    def kind(self) -> str | None:
        """The message's type."""
        return self.text("type")

    @property
    def id(self) -> str | None:
        """The host's id of the message. What the host repeats gets another one; a newer version of the same message keeps it."""
        return self.text("id")

    @property
    def at_ms(self) -> int | None:
        """When the host wrote it, ms since the epoch."""
        return milliseconds(self.fields.get("timestamp"))

    @property
    def parts(self) -> list[Mapping[str, Any]]:
        """The message's content in parts."""
        return parts_of(self.fields.get("content"))

    @property
    def calls(self) -> list[Mapping[str, Any]]:
        """The tool calls the message has so far; they are only ever added to."""
        calls = self.fields.get("toolCalls")
        return [mapping_of(call) for call in calls] if isinstance(calls, list) else []


def read(line: Line) -> Record | None:
    """The record in a line, or None when it is not one JSON object (cut off, damaged, or too deep to read).

    Bytes that are not UTF-8 become the replacement character: one broken letter must not lose a person's words.
    """
    try:
        fields = DECODER.decode(line.data.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None
    return Record(line.offset, fields) if isinstance(fields, dict) else None


def parts_of(content: object) -> list[Mapping[str, Any]]:
    """The parts of a content in order: bare text is one part; what is no object becomes an empty part, so that each keeps its index."""
    if isinstance(content, str):
        return [{"text": content}]
    return [{"text": part} if isinstance(part, str) else mapping_of(part) for part in content] if isinstance(content, list) else []


def spoken(part: Mapping[str, Any]) -> str | None:
    """The part's text; the model's thoughts have none for us."""
    return None if part.get("thought") else text_of(part.get("text"))
