"""Tool results: outcome, exit code, duration, who denied the call, and the words a person added in the prompt that asked for permission."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from afl_core.model.json_values import mapping_of, natural_number, text_of
from afl_core.model.observation import Denial, Observation, Said, Speaker, ToolReturned
from afl_providers_claude.answers import free_answers
from afl_providers_claude.record import Record, joined_text
from afl_providers_claude.state import OpenCall, ParseState

_EXIT = re.compile(r"(?:Error: )?Exit code (-?\d{1,9})(?:\n|$)")


def results(record: Record, blocks: Sequence[Mapping[str, Any]], state: ParseState) -> list[Observation]:
    """Every result in the record, in order, each followed by what the person said with it. Closes the calls in `state`."""
    found: list[Observation] = []
    spoken = len(blocks)
    feedback = _feedback(record)
    turn = record.text("promptId") or state.turn
    for part, block in enumerate(blocks):
        call_id = text_of(block.get("tool_use_id"))
        if block.get("type") != "tool_result" or call_id is None:
            continue
        call = state.closed(call_id)
        returned = _returned(record, part, block, call_id, call, turn)
        found.append(returned)
        rejected = returned.denial is Denial.PERSON
        words = [(feedback, call_id if rejected else None, not rejected)] if feedback else []
        feedback = None
        if call and call.asks and not record.sidechain:
            words += [(answer, None, False) for answer in free_answers(record.mapping("toolUseResult"))]
        for text, rejects, steering in words:
            found.append(
                Said(
                    record.spot(spoken),
                    Speaker.PERSON,
                    text,
                    native_id=record.uuid,
                    turn=turn,
                    parent_id=record.parent,
                    at_ms=record.at_ms,
                    steering=steering,
                    rejects=rejects,
                )
            )
            spoken += 1
    return found


def _returned(record: Record, part: int, block: Mapping[str, Any], call_id: str, call: OpenCall | None, turn: str | None) -> ToolReturned:
    text = joined_text(block.get("content"))
    is_error = block.get("is_error") is True
    denial = _denial(record)
    return ToolReturned(
        record.spot(part),
        call_id,
        text,
        is_error,
        exit_code=_exit_code(record, text) if is_error else None,
        duration_ms=_duration(record, call) if denial is Denial.NONE else None,
        denial=denial,
        native_id=record.uuid,
        turn=turn,
        at_ms=record.at_ms,
    )


def _exit_code(record: Record, text: str) -> int | None:
    found = _EXIT.match(text) or _EXIT.match(record.text("toolUseResult") or "")
    return int(found[1]) if found else None


def _duration(record: Record, call: OpenCall | None) -> int | None:
    """What the host tells; else the time from the call to its result, which includes waiting for a permission. ms."""
    outcome = record.mapping("toolUseResult")
    for key in ("durationMs", "totalDurationMs"):
        if (told := natural_number(outcome.get(key))) is not None:
            return told
    ended = record.at_ms
    if call is None or call.at_ms is None or ended is None or ended < call.at_ms:
        return None
    return ended - call.at_ms


def _denial(record: Record) -> Denial:
    """`user-rejected` is also said of a rule's denial, so the decision's source has the last word; only a person's source begins with `user`."""
    kind, decision = record.text("toolDenialKind"), mapping_of(record.fields.get("permissionDecision"))
    if kind is None and decision.get("decision") != "reject":
        return Denial.NONE
    source = decision.get("source")
    if source is None:
        return Denial.PERSON if kind == "user-rejected" else Denial.POLICY
    return Denial.PERSON if isinstance(source, str) and source.startswith("user") else Denial.POLICY


def _feedback(record: Record) -> str | None:
    """The words typed into a permission prompt; a subagent's file never yields a person's."""
    text = record.text("userFeedback")
    return text if text and text.strip() and not record.sidechain else None
