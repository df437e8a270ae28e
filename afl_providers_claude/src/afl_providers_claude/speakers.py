"""Who typed a text that the host filed as the user's. A machine's words taken for a person's are the worse mistake, so doubt means machine."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from afl_core.model.observation import Speaker
from afl_providers_claude.manifest import MACHINE_PREFIXES
from afl_providers_claude.record import Record

CUT_MARKER = "[Request interrupted by user"
"""What the host files when the person stops a turn; "for tool use" may follow."""

TYPED_SOURCES = (None, "typed", "queued", "sdk")
"""How a prompt that a person wrote came in. Print mode says `sdk` and no origin."""


def speaker_of(record: Record, source: Mapping[str, Any], text: str) -> Speaker:
    """The speaker of `text`; `source` is what carries the origin: the record itself, or its attachment."""
    doubtful = record.sidechain or source.get("rowSource") == "harness" or is_machine_text(text)
    return Speaker.MACHINE if doubtful or not _typed(source) else Speaker.PERSON


def is_machine_text(text: str) -> bool:
    """Whether the text opens with one of the host's own tags."""
    return text.lstrip().startswith(MACHINE_PREFIXES)


def is_cut(record: Record, text: str) -> bool:
    """Whether the text is the host's note of an interruption, and not a person who typed the same words."""
    if record.sidechain or not text.startswith(CUT_MARKER):
        return False
    return record.text("rowSource") == "harness" or not {"origin", "promptSource"} & record.fields.keys()


def _typed(source: Mapping[str, Any]) -> bool:
    origin = source.get("origin")
    if origin is not None:
        return isinstance(origin, dict) and origin.get("kind") == "human"
    return source.get("promptSource") in TYPED_SOURCES and source.get("commandMode", "prompt") == "prompt"
