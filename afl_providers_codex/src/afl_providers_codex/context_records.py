"""What the host did to the model's context: text of hooks put into it, and compactions, which may repeat words that were not read before."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from typing import Any

from afl_core.model.json_values import mapping_of, text_of
from afl_core.model.observation import Compacted, ContextShown, Observation, Said, Speaker
from afl_providers_codex.people import WORDS_PART, is_machine_text, kinds_of, notes_of, typed_text
from afl_providers_codex.record import NOTES, Record, blocks_of, born_ms, joined_text
from afl_providers_codex.session_records import is_before_fork
from afl_providers_codex.state import ParseState, mark_of

HOOK_KIND = "hooks.additional_context"
HOOK_MARK = b'"hooks.additional_context"'
NOTES_MARK = b'"content_item_kinds"'

RECOVERED = 24
"""The last messages of the person's that are looked at in a compaction."""


def may_hold_context(data: bytes) -> bool:
    """Whether a developer's message can hold a hook's text: the host's own instructions are long, and none of them need be parsed."""
    return HOOK_MARK in data or NOTES_MARK not in data


def developer_item(record: Record, _state: ParseState) -> list[Observation]:
    """Hook text that reached the model. Without notes (0.142) it is what does not open with a tag, as the host's own instructions do."""
    notes = notes_of(record.payload)
    content = record.payload.get("content")
    if notes is None:
        whole = joined_text(content)
        return [ContextShown(record.spot(), whole, at_ms=record.at_ms)] if whole.strip() and not whole.startswith("<") else []
    return [
        ContextShown(record.spot(part), text, at_ms=record.at_ms)
        for part, (block, kind) in enumerate(zip(blocks_of(content), kinds_of(notes), strict=False))
        if kind == HOOK_KIND and (text := text_of(block.get("text")))
    ]


def compacted(record: Record, state: ParseState) -> list[Observation]:
    """The compaction, and those of the person's messages it keeps that were not read before. Its summary is nobody's words."""
    found: list[Observation] = [Compacted(record.spot(), at_ms=record.at_ms)]
    kept = record.payload.get("replacement_history")
    typed = list(_typed(kept if isinstance(kept, list) else [], record.text("message")))
    for item, text in typed[-RECOVERED:]:
        native_id = text_of(item.get("id"))
        at_ms = _said_ms(item, record)
        if (native_id or mark_of(text)) in state.seen or is_before_fork(native_id, at_ms, state):
            continue
        state.saw(native_id or mark_of(text))
        turn = text_of(mapping_of(item.get(NOTES)).get("turn_id"))
        name = native_id or f"kept:{hashlib.sha256(text.encode('utf-8', 'replace')).hexdigest()[:24]}"
        found.append(Said(record.spot(WORDS_PART), Speaker.PERSON, text, native_id=name, turn=turn, at_ms=at_ms, recovered=True))
    return found


def _typed(kept: list[Any], summary: str | None) -> Iterator[tuple[Mapping[str, Any], str]]:
    """The person's messages among what a compaction keeps, with their texts."""
    for item in map(mapping_of, kept):
        if item.get("role") != "user":
            continue
        notes = notes_of(item)
        text = joined_text(item.get("content")) if notes is None else typed_text(item, notes)
        if text and text.strip() and (notes is not None or not (is_machine_text(text) or text == summary)):
            yield item, text


def _said_ms(item: Mapping[str, Any], record: Record) -> int | None:
    """When the message was said: as noted, else as its id tells, else no later than the compaction."""
    noted = mapping_of(item.get(NOTES)).get("create_time")
    if isinstance(noted, float | int) and not isinstance(noted, bool) and 0 < noted < 10**11:
        return int(noted * 1000)
    return born_ms(text_of(item.get("id"))) or record.at_ms
