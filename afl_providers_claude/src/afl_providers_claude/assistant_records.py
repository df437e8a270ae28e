"""Records of type `assistant`: what the agent said and which tools it called. Its thinking is never read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from afl_core.model.json_values import json_text, text_of
from afl_core.model.observation import Observation, Said, Speaker, ToolCalled
from afl_providers_claude.answers import ASKING_TOOL
from afl_providers_claude.record import Record
from afl_providers_claude.state import OpenCall, ParseState

SYNTHETIC = "<synthetic>"
"""The model's name in messages that the host wrote itself."""


def assistant_record(record: Record, state: ParseState) -> list[Observation]:
    """Text blocks and calls in order; calls are opened in `state`."""
    found: list[Observation] = []
    for part, block in enumerate(record.blocks):
        if block.get("type") == "text" and (text := text_of(block.get("text"))) and text.strip():
            found.append(_said(record, part, text, state.turn))
        elif block.get("type") == "tool_use" and (called := _called(record, part, block, state.turn)):
            state.opened(called.call_id, OpenCall(called.at_ms, called.name == ASKING_TOOL))
            found.append(called)
    return found


def _said(record: Record, part: int, text: str, turn: str | None) -> Said:
    # The host reports its own failures (an API error) in the agent's name.
    machine = record.says("isApiErrorMessage") or record.mapping("message").get("model") == SYNTHETIC
    return Said(
        record.spot(part),
        Speaker.MACHINE if machine else Speaker.AGENT,
        text,
        native_id=record.uuid,
        turn=turn,
        parent_id=record.parent,
        at_ms=record.at_ms,
        partial=record.says("isAbortedMidStream"),
    )


def _called(record: Record, part: int, block: Mapping[str, Any], turn: str | None) -> ToolCalled | None:
    call_id, name = text_of(block.get("id")), text_of(block.get("name"))
    given = json_text(block.get("input", {}))
    if call_id is None or name is None or given is None:
        return None
    return ToolCalled(record.spot(part), call_id, name, given, native_id=record.uuid, turn=turn, at_ms=record.at_ms)
