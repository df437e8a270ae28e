"""A rollout's records as observations, in order. One record at a time, so that how the lines are batched makes no difference."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from afl_core.model.observation import Observation
from afl_core.spec.host import Line
from afl_providers_codex import agent, context_records, heads, people, results, session_records
from afl_providers_codex.heads import Kind
from afl_providers_codex.record import Record, read
from afl_providers_codex.state import ParseState, restored

Reader = Callable[[Record, ParseState], list[Observation]]

HEAD_BYTES = 400
"""How much of a record shows what it is."""

READERS: Mapping[tuple[str | None, str | None, str | None], Reader] = {
    ("session_meta", None, None): session_records.session_meta,
    ("turn_context", None, None): session_records.turn_began,
    ("compacted", None, None): context_records.compacted,
    ("event_msg", "task_started", None): session_records.turn_began,
    ("event_msg", "task_complete", None): session_records.turn_ended,
    ("event_msg", "turn_aborted", None): session_records.turn_aborted,
    ("event_msg", "thread_rolled_back", None): session_records.rolled_back,
    ("event_msg", "user_message", None): people.user_event,
    ("event_msg", "agent_message", None): agent.agent_event,
    ("event_msg", "item_completed", "UserMessage"): people.user_message,
    ("event_msg", "item_completed", "AgentMessage"): agent.agent_message,
    ("event_msg", "item_completed", "CommandExecution"): results.command,
    ("event_msg", "item_completed", "FileChange"): results.file_change,
    ("event_msg", "item_completed", "McpToolCall"): results.mcp_call,
    ("response_item", "message", "user"): people.user_item,
    ("response_item", "message", "developer"): context_records.developer_item,
    ("response_item", "function_call", None): agent.tool_call,
    ("response_item", "custom_tool_call", None): agent.tool_call,
    ("response_item", "local_shell_call", None): agent.tool_call,
    ("response_item", "function_call_output", None): results.output,
    ("response_item", "custom_tool_call_output", None): results.output,
}
"""By record type, payload type and the item's type or the message's role; every other kind, known or new, is skipped."""


def parse(lines: Sequence[Line], state: Mapping[str, Any]) -> tuple[list[Observation], dict[str, Any]]:
    """Observations of the lines and the state for the next call. What cannot be read is skipped."""
    going = restored(state)
    found: list[Observation] = []
    for line in lines:
        found += _observed(line, going)
    return found, going.stored()


def _observed(line: Line, state: ParseState) -> list[Observation]:
    head = line.data[:HEAD_BYTES]
    kind = heads.kind_of(head)
    if state.child or (kind is not None and not _is_news(kind, head, line.data, state)):
        return []
    record = read(line)
    reader = READERS.get(record.kind) if record else None
    if record is None or reader is None:
        return []
    observed = reader(record, state)
    return [] if state.copying else observed


def _is_news(kind: Kind, head: bytes, data: bytes, state: ParseState) -> bool:
    """Whether the record can tell anything, as far as that shows without reading it: most results are told twice."""
    if not heads.is_wanted(kind):
        return False
    _record, payload, detail = kind
    if payload in heads.OUTPUTS:
        call_id = heads.call_id_of(head)
        return call_id is None or call_id in state.open
    if payload == b"task_complete":  # it repeats the turn's last answer, so it can be long
        return heads.may_hold_error(data)
    if detail == b"developer":
        return context_records.may_hold_context(data)
    return not (detail == b"UserMessage" and state.noted)
