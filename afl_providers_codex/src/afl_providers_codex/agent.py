"""What the agent said and which tools it called. Its reasoning is never read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from afl_core.model.json_values import json_text, text_of
from afl_core.model.observation import Observation, Said, Speaker, ToolCalled
from afl_providers_codex.record import Record, joined_text
from afl_providers_codex.state import OpenCall, ParseState

MCP_NAMESPACE = "mcp__"
SAID_PART = 2
"""The agent's words always have this number: a question to the person is also a call, under the same id, which takes 0 and 1."""

LOOKING_TOOL = "write_stdin"
"""Talks to a command that another call started; that call tells how the command ended."""


def agent_message(record: Record, state: ParseState) -> list[Observation]:
    """The agent's text, complete."""
    item = record.mapping("item")
    return _said(record, joined_text(item.get("content")), text_of(item.get("id")), state)


def agent_event(record: Record, state: ParseState) -> list[Observation]:
    """The same before 0.169; the event has no id."""
    return _said(record, record.text("message") or "", None, state)


def tool_call(record: Record, state: ParseState) -> list[Observation]:
    """A call as the model made it; it stays open until one record tells its result."""
    payload = record.payload
    call_id, name, given = record.text("call_id"), _name(record), _input(payload)
    if call_id is None or name is None or given is None:
        return []
    turn = record.turn or state.turn
    state.opened(call_id, OpenCall(record.at_ms, looks=name == LOOKING_TOOL and record.numbered))
    state.agent_acted(turn)
    native_id = state.name(call_id, turn)
    return [ToolCalled(record.spot(), call_id, name, given, native_id=native_id, turn=turn, at_ms=record.at_ms)]


def _said(record: Record, text: str, native_id: str | None, state: ParseState) -> list[Observation]:
    if not text.strip():
        return []
    turn = record.turn or state.turn
    state.agent_acted(turn)
    return [Said(record.spot(SAID_PART), Speaker.AGENT, text, native_id=state.name(native_id, turn), turn=turn, at_ms=record.at_ms)]


def _name(record: Record) -> str | None:
    """The tool's name as hooks know it: an MCP tool's begins with its server's."""
    if record.text("type") == "local_shell_call":
        return "local_shell"
    name, namespace = record.text("name"), record.text("namespace") or ""
    return f"{namespace}__{name}" if name and namespace.startswith(MCP_NAMESPACE) else name


def _input(payload: Mapping[str, Any]) -> str | None:
    """The input as JSON text. A function's is JSON text already, unless the model made a mistake; a custom tool's is plain text."""
    if "arguments" not in payload:
        return json_text({"input": payload["input"]} if "input" in payload else payload.get("action"))
    given = payload["arguments"]
    return text_of(given) if isinstance(given, str) and given[:1] == "{" and given[-1:] == "}" else json_text(given)
