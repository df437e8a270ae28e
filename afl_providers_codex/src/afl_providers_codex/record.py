"""One record of a rollout, read with suspicion: every field may be missing or of any type."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from afl_core.model.json_values import DECODER, mapping_of, milliseconds, text_of
from afl_core.model.observation import Spot
from afl_core.spec.host import Line

NOTES = "internal_chat_message_metadata_passthrough"
"""Where a model item carries its turn, its time and who wrote each part of it."""

UUID_DIGITS = 12
"""Hexadecimal digits of a version 7 UUID that are its time, ms since the epoch."""


@attrs.frozen
class Record:
    """A record's type, its payload and where it begins in its file (bytes). `numbered`: the newer format, in which every record has an ordinal."""

    offset: int
    type: str | None
    payload: Mapping[str, Any]
    at_ms: int | None
    numbered: bool

    def spot(self, part: int = 0) -> Spot:
        """Where the thing number `part` of this record is."""
        return Spot(self.offset, part)

    def text(self, key: str) -> str | None:
        """The payload's field when it is a string that is not empty."""
        return text_of(self.payload.get(key))

    def mapping(self, key: str) -> Mapping[str, Any]:
        """The payload's field when it is an object, else an empty one."""
        return mapping_of(self.payload.get(key))

    @property
    def kind(self) -> tuple[str | None, str | None, str | None]:
        """Record type, payload type where that is told, and the item's type or the message's role where these two do not decide."""
        if self.type not in ("response_item", "event_msg"):
            return self.type, None, None
        inner = self.text("type")
        if inner == "message":
            return self.type, inner, self.text("role")
        return self.type, inner, text_of(self.mapping("item").get("type")) if inner == "item_completed" else None

    @property
    def turn(self) -> str | None:
        """The turn the record names: its own, or that of the model item in it."""
        return self.text("turn_id") or text_of(self.mapping(NOTES).get("turn_id"))


def read(line: Line) -> Record | None:
    """The record in a line, or None when it is not one JSON object with a payload (cut off, damaged, or too deep to read).

    Bytes that are not UTF-8 become the replacement character: one broken letter must not lose a person's words.
    """
    try:
        fields = DECODER.decode(line.data.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None
    if not isinstance(fields, dict) or not isinstance(payload := fields.get("payload"), dict):
        return None
    return Record(line.offset, text_of(fields.get("type")), payload, milliseconds(fields.get("timestamp")), numbered="ordinal" in fields)


def blocks_of(content: object) -> list[Mapping[str, Any]]:
    """Content blocks in order; bare text is one block, and what is no object becomes an empty block, so that each keeps its index."""
    if isinstance(content, str):
        return [{"text": content}]
    return [mapping_of(block) for block in content] if isinstance(content, list) else []


def joined_text(content: object) -> str:
    """All text of a content, one line break between blocks; images and other kinds have none."""
    return "\n".join(text for block in blocks_of(content) if (text := text_of(block.get("text"))))


def born_ms(native_id: str | None) -> int | None:
    """When an id was made, ms since the epoch: the host's ids end in a version 7 UUID, which begins with its time. None for any other id."""
    uuid = (native_id or "").rpartition("_")[2]
    digits = uuid.replace("-", "")
    if len(uuid) != 36 or len(digits) != 32 or digits[UUID_DIGITS] != "7":
        return None
    try:
        return int(digits[:UUID_DIGITS], 16)
    except ValueError:
        return None
