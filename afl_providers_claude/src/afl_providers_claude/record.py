"""One transcript record, read with suspicion: every field may be missing or of any type."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import attrs

from afl_core.model.codec import compact
from afl_core.model.observation import Spot
from afl_core.spec.host import Line

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


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
        fields = _DECODER.decode(line.data.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None
    return Record(line.offset, fields) if isinstance(fields, dict) else None


def _refuse(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


_DECODER = json.JSONDecoder(parse_constant=_refuse)


def text_of(value: object) -> str | None:
    """The string, with halves of surrogate pairs (which no encoding can write) replaced; None when it is empty or no string."""
    if not isinstance(value, str) or not value:
        return None
    return value if value.isascii() else value.encode("utf-8", "replace").decode("utf-8")


def mapping_of(value: object) -> Mapping[str, Any]:
    """The object, or an empty one for anything else."""
    return value if isinstance(value, dict) else {}


def blocks_of(content: object) -> list[Mapping[str, Any]]:
    """Content blocks in order; what is no object becomes an empty block, so that each keeps its index."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [mapping_of(block) for block in content] if isinstance(content, list) else []


def joined_text(content: object) -> str:
    """All text of a content, one line break between blocks; images and other kinds are left out."""
    texts = (text_of(block.get("text")) for block in blocks_of(content) if block.get("type") == "text")
    return "\n".join(text for text in texts if text)


def json_text(value: object) -> str | None:
    """A tool's input as JSON text, in the order given; None when it cannot be written."""
    try:
        return text_of(compact(value))
    except (ValueError, RecursionError):
        return None


def milliseconds(value: object) -> int | None:
    """An ISO 8601 time as ms since the epoch; a time without a zone is UTC."""
    if not isinstance(value, str):
        return None
    try:
        moment = datetime.fromisoformat(value)
        return ((moment if moment.tzinfo else moment.replace(tzinfo=UTC)) - EPOCH) // timedelta(milliseconds=1)
    except (ValueError, OverflowError):
        return None


def whole_number(value: object) -> int | None:
    """The value when it is an integer from 0 up (a boolean is none)."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
