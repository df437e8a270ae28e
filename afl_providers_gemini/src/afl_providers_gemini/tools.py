"""Tool calls with their results: outcome, exit code, who denied or stopped the call, and what the person said with it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import attrs

from afl_core.model.json_values import json_text, mapping_of, milliseconds, text_of
from afl_core.model.observation import Cut, Denial, Observation, Said, Speaker, ToolCalled, ToolReturned
from afl_providers_gemini.answers import answers, refuses
from afl_providers_gemini.manifest import HOOK_CONTEXT
from afl_providers_gemini.record import Record, parts_of
from afl_providers_gemini.state import ParseState

DONE = ("success", "error", "cancelled")
"""The states a call can end in. Before that it is not told of."""

SHELL = "run_shell_command"

STOPPED = "Operation cancelled by user"
"""Said of a call that a cut ended while it ran, or before it could begin. Refusing one call says something else, and the turn goes on if others are left."""

BY_POLICY = re.compile(r'Tool execution (?:denied by policy|blocked: |for ".*" denied by policy)', re.DOTALL)

SPOTS_PER_CALL = 16
"""Indexes within the message that belong to one call: the call, its result, a cut, then the person's words."""

EXIT = "Exit Code: "
_EXIT = re.compile(rf"^{EXIT}(-?\d{{1,9}})$", re.MULTILINE)
_WRAPPED = re.compile(r"\s*<untrusted_context>\n?(.*?)\n?</untrusted_context>\s*", re.DOTALL)
# The host escapes the brackets in what a hook gave.
_CONTEXTS = re.compile(rf"(?:\n\n{re.escape(HOOK_CONTEXT[0])}[^<]*{re.escape(HOOK_CONTEXT[1])})+\Z")


def tool_calls(record: Record, state: ParseState) -> list[Observation]:
    """Calls that ended and were not told of yet, in order, each followed by its result and what the person did about it."""
    found: list[Observation] = []
    for number, call in enumerate(record.calls):
        call_id, name, given = text_of(call.get("id")), text_of(call.get("name")), json_text(call.get("args", {}))
        status = call.get("status")
        if call_id is None or name is None or given is None or status not in DONE or not state.is_new_call(call_id):
            continue
        first = 1 + number * SPOTS_PER_CALL
        found.append(ToolCalled(record.spot(first), call_id, name, given, native_id=record.id, turn=state.turn, at_ms=record.at_ms))
        found += _ended(record, first, call, ToolEnd(call_id, name, str(status), _text(call.get("result"))), state)
    return found


@attrs.frozen
class ToolEnd:
    """How a call ended, as the host tells it."""

    call_id: str
    name: str
    status: str
    text: str


def _ended(record: Record, first: int, call: Mapping[str, Any], end: ToolEnd, state: ParseState) -> list[Observation]:
    at = milliseconds(call.get("timestamp"))
    at = record.at_ms if at is None else at
    exit_code = _exit_code(end)
    returned = ToolReturned(
        record.spot(first + 1),
        end.call_id,
        end.text,
        # A command that fails is a success to the host: the tool did run it.
        end.status != "success" or _failed(call.get("result")) or exit_code not in (None, 0),
        exit_code=exit_code,
        denial=_denial(end),
        native_id=record.id,
        turn=state.turn,
        at_ms=at,
    )
    found: list[Observation] = [returned]
    if end.status == "cancelled" and STOPPED in end.text:
        # The note of the cut stands before this call in the log, so it points at what the agent said before; this one points at the call.
        found.append(Cut(record.spot(first + 2), native_id=record.id, turn=state.turn, at_ms=at))
    if state.subagent:
        return found
    for number, (words, rejects) in enumerate(answers(end.name, call, end.text)):
        if number < SPOTS_PER_CALL - 3:
            spot = record.spot(first + 3 + number)
            rejected = end.call_id if rejects else None
            found.append(Said(spot, Speaker.PERSON, words, native_id=record.id, turn=state.turn, at_ms=at, rejects=rejected))
    return found


def _text(result: object) -> str:
    """What the model was given, without the host's wrapping and without what hooks put behind it."""
    texts = []
    for part in parts_of(result):
        response = mapping_of(mapping_of(part.get("functionResponse")).get("response"))
        told = text_of(response.get("output")) or text_of(response.get("error")) or text_of(part.get("text"))
        if told:
            bare = _CONTEXTS.sub("", told) if told.endswith(HOOK_CONTEXT[1]) else told
            wrapped = _WRAPPED.fullmatch(bare)
            texts.append(wrapped[1] if wrapped else bare)
    return "\n".join(texts)


def _failed(result: object) -> bool:
    return any("error" in mapping_of(mapping_of(part.get("functionResponse")).get("response")) for part in parts_of(result))


def _exit_code(end: ToolEnd) -> int | None:
    """Told in the text, and only when it is not 0. What a command prints stands before it, so the last such line is the host's."""
    codes = _EXIT.findall(end.text) if end.name == SHELL and EXIT in end.text else []
    return int(codes[-1]) if codes else None


def _denial(end: ToolEnd) -> Denial:
    """Only a person cancels: by refusing, by refusing another call of the same reply, or by a cut."""
    if end.status == "cancelled" or refuses(end.name, end.text):
        return Denial.PERSON
    return Denial.POLICY if end.status == "error" and BY_POLICY.match(end.text) else Denial.NONE
