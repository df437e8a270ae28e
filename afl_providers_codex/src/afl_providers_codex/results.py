"""How calls ended. The host's own record of a command, a change or an MCP call knows more than the text the model was given, and comes first; a call is told once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from afl_core.model.json_values import json_text, mapping_of, text_of, whole_number
from afl_core.model.observation import Denial, Observation, ToolCalled, ToolReturned
from afl_providers_codex.outcomes import Outcome, outcome_of, refusal_of
from afl_providers_codex.record import Record, joined_text
from afl_providers_codex.state import OpenCall, ParseState

INNER_CALL = "exec-"
"""How the id of a call begins that a script of the agent made (code mode): no model item tells of it."""

RESULT_PART = 1
"""A result is named by its call and always has this number, whichever record tells it; part 0 is the call."""

SHELL_FLAGS = ("-lc", "-c")


def output(record: Record, state: ParseState) -> list[Observation]:
    """What the model was given back, where nothing told the call's result before. A command that goes on has a record of its own when it ends."""
    call_id = record.text("call_id")
    call = state.open.get(call_id) if call_id else None
    if call_id is None or call is None:
        return []
    text = joined_text(record.payload.get("output"))
    ended = outcome_of(text)
    if ended.running and record.numbered and not call.looks:
        return []
    state.closed(call_id)
    if call.looks and ended.exit_code is not None:
        ended = Outcome()  # that is how the command ended, which its own call tells
    turn = record.turn or state.turn
    return [
        ToolReturned(
            record.spot(RESULT_PART),
            call_id,
            text,
            ended.is_error,
            exit_code=ended.exit_code,
            duration_ms=_waited(record, call) if ended.denial is Denial.NONE else None,
            denial=ended.denial,
            native_id=state.name(call_id, turn),
            turn=turn,
            at_ms=record.at_ms,
        )
    ]


def command(record: Record, state: ParseState) -> list[Observation]:
    """A command that ended."""
    item = record.mapping("item")
    code = whole_number(item.get("exit_code"))
    text = text_of(item.get("aggregated_output")) or ""
    ended = Outcome(is_error=_is_failed(item) or code not in (None, 0), exit_code=code)
    return _told(record, state, "exec_command", {"cmd": _spelled(item.get("command"))}, text, ended)


def file_change(record: Record, state: ParseState) -> list[Observation]:
    """A patch that was applied, or not."""
    item = record.mapping("item")
    text = "\n".join(part for key in ("stdout", "stderr") if (part := text_of(item.get(key))))
    return _told(record, state, "apply_patch", {"changes": item.get("changes")}, text, Outcome(is_error=_is_failed(item)))


def mcp_call(record: Record, state: ParseState) -> list[Observation]:
    """A call of an MCP server's tool."""
    item = record.mapping("item")
    result = mapping_of(item.get("result"))
    text = joined_text(result.get("content")) or text_of(mapping_of(item.get("error")).get("message")) or ""
    failed = _is_failed(item) or result.get("isError") is True or result.get("is_error") is True
    name = f"mcp__{text_of(item.get('server')) or ''}__{text_of(item.get('tool')) or ''}"
    return _told(record, state, name, item.get("arguments"), text, Outcome(is_error=failed))


def _told(record: Record, state: ParseState, name: str, given: object, text: str, ended: Outcome) -> list[Observation]:
    """The result of an open call, or call and result of one that a script made. Of a call that was told before (or a person's own command) nothing."""
    item = record.mapping("item")
    call_id = text_of(item.get("id"))
    if call_id is None:
        return []
    turn = record.turn or state.turn
    found: list[Observation] = []
    if state.closed(call_id) is None:
        if not call_id.startswith(INNER_CALL) or (written := json_text(given)) is None:
            return []
        state.agent_acted(turn)
        began = whole_number(record.payload.get("started_at_ms")) or record.at_ms
        found.append(ToolCalled(record.spot(), call_id, name, written, native_id=state.name(call_id, turn), turn=turn, at_ms=began))
    if item.get("status") == "declined":
        ended = Outcome(is_error=True, denial=refusal_of(text))
    returned = ToolReturned(
        record.spot(RESULT_PART),
        call_id,
        text,
        ended.is_error,
        exit_code=ended.exit_code,
        duration_ms=_took(record, item) if ended.denial is Denial.NONE else None,
        denial=ended.denial,
        native_id=state.name(call_id, turn),
        turn=turn,
        at_ms=record.at_ms,
    )
    return [*found, returned]


def _is_failed(item: Mapping[str, Any]) -> bool:
    return item.get("status") not in ("completed", None)


def _spelled(words: object) -> str | None:
    """The command line as the agent wrote it: what a shell was given, else the words in a row."""
    match words:
        case [str(), str(flag), str(line)] if flag in SHELL_FLAGS:
            return line
        case [*parts]:
            return " ".join(part for part in parts if isinstance(part, str))
        case _:
            return text_of(words)


def _took(record: Record, item: Mapping[str, Any]) -> int | None:
    """What the host measured, else the time between start and end, ms."""
    told = mapping_of(item.get("duration"))
    seconds, nanos = whole_number(told.get("secs")), whole_number(told.get("nanos"))
    if seconds is not None and nanos is not None:
        return max(0, seconds * 1000 + nanos // 1_000_000)
    began, ended = (whole_number(record.payload.get(key)) for key in ("started_at_ms", "completed_at_ms"))
    return ended - began if began is not None and ended is not None and ended >= began else None


def _waited(record: Record, call: OpenCall) -> int | None:
    """From the call to its result, ms; waiting for a permission is in it."""
    if call.at_ms is None or record.at_ms is None or record.at_ms < call.at_ms:
        return None
    return record.at_ms - call.at_ms
