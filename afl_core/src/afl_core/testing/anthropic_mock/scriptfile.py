"""A script written as JSON, for running the mock as a program. Unknown keys are refused."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from afl_core.testing.anthropic_mock.replies import Failure, Hang, Message, Reply, ToolCall, structured
from afl_core.testing.anthropic_mock.script import Step
from afl_core.testing.failure import KitError

CONDITIONS = frozenset({"last", "raw", "system", "tools", "repeat"})
MESSAGE_KEYS = frozenset({"text", "stop_reason", "usage", "delay", "chunk", "pause", "hold", "drop"})


def read_script(path: Path) -> list[Step]:
    """The steps in a file: a JSON list of objects, each with conditions and one reply.

    A reply is `structured`: an object, `hang`: true, `status` (with `message` and `headers`), or the fields of `Message` with
    `calls`: a list of `{name, arguments, call_id?}`.
    """
    try:
        written = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as bad:
        raise KitError(f"{path} is not valid JSON: {bad}") from bad
    if not isinstance(written, list) or not all(isinstance(step, dict) for step in written):
        raise KitError(f"{path} must hold a list of objects")
    return [step_of(step, f"{path} step {index}") for index, step in enumerate(written)]


def step_of(written: Mapping[str, Any], where: str) -> Step:
    """One step; `where` names it in errors."""
    conditions = {key: value for key, value in written.items() if key in CONDITIONS}
    reply = {key: value for key, value in written.items() if key not in CONDITIONS}
    return Step(reply_of(reply, where), **conditions)


def reply_of(written: Mapping[str, Any], where: str) -> Reply:
    """The reply half of a step."""
    if set(written) == {"structured"}:
        return structured(written["structured"])
    if written == {"hang": True}:
        return Hang()
    if "status" in written and set(written) <= {"status", "message", "headers"}:
        return Failure(**written)
    unknown = set(written) - MESSAGE_KEYS - {"calls"}
    if unknown or not written:
        raise KitError(f"{where} has no reply that can be read: {sorted(unknown) or 'nothing'}", hint="see read_script for the keys")
    calls = tuple(ToolCall(**call) for call in written.get("calls", ()))
    return Message(**{key: value for key, value in written.items() if key != "calls"}, calls=calls)
