"""One transcript record, read with suspicion: every field may be missing or of any type."""

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

    def mapping(self, key: str) -> Mapping[str, Any]:
        """The field when it is an object, else an empty one."""
        return mapping_of(self.fields.get(key))

    def says(self, key: str) -> bool:
        """Whether the field is `true`."""
        return self.fields.get(key) is True

    @property
    def kind(self) -> str | None:
        """The record's type."""
        return self.text("type")

    @property
    def uuid(self) -> str | None:
        """The host's id; a fork copies it."""
        return self.text("uuid")

    @property
    def parent(self) -> str | None:
        """The record this one hangs under."""
        return self.text("parentUuid")

    @property
    def sidechain(self) -> bool:
        """Whether a subagent, and not the person, is talked to here."""
        return self.fields.get("isSidechain", False) is not False

    @property
    def at_ms(self) -> int | None:
        """When the host wrote it, ms since the epoch."""
        return milliseconds(self.fields.get("timestamp"))

    @property
    def blocks(self) -> list[Mapping[str, Any]]:
        """The message's content as blocks; bare text is one text block."""
        return blocks_of(self.mapping("message").get("content"))


def read(line: Line) -> Record | None:
    """The record in a line, or None when it is not one JSON object (cut off, damaged, or too deep to read).

    Bytes that are not UTF-8 become the replacement character: one broken letter must not lose a person's words.
    """
    try:
        fields = DECODER.decode(line.data.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None
    return Record(line.offset, fields) if isinstance(fields, dict) else None


def blocks_of(content: object) -> list[Mapping[str, Any]]:
    """Content blocks in order; what is no object becomes an empty block, so that each keeps its index."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [mapping_of(block) for block in content] if isinstance(content, list) else []


def joined_text(content: object) -> str:
    """All text of a content, one line break between blocks; images and other kinds are left out."""
    texts = (text_of(block.get("text")) for block in blocks_of(content) if block.get("type") == "text")
    return "\n".join(text for text in texts if text)
