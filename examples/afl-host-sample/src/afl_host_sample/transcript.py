"""What the lines of a Pebble transcript mean. Every line is one JSON object with a `kind`; everything in it may be missing or of any type.

{"kind": "words", "by": "person" | "agent", "id", "turn", "at", "text", "meanwhile": true for words typed while the agent works}
{"kind": "call", "id", "turn", "at", "call", "tool", "input": {...}}
{"kind": "result", "id", "turn", "at", "call", "text", "code": 0 for success, "took": ms}
{"kind": "refused", "id", "turn", "at", "call", "text": what the person said instead, or nothing}
{"kind": "stopped", "id", "turn", "at"}      the person stopped the turn
{"kind": "back", "id", "at"}                 the person went back; what follows replaces what was said
{"kind": "shortened", "id", "at", "text"}    the conversation was replaced by a summary
{"kind": "added", "id", "at", "text"}        a hook's text was put into the model's context
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from afl_core.model.json_values import DECODER, mapping_of, text_of, whole_number
from afl_core.model.observation import (
    Compacted,
    ContextShown,
    Cut,
    Denial,
    Observation,
    Rewound,
    Said,
    Speaker,
    Spot,
    ToolCalled,
    ToolReturned,
)
from afl_core.spec.host import Line
from afl_host_sample.manifest import MACHINE_PREFIX

Record = Mapping[str, Any]


def parse(lines: Sequence[Line]) -> list[Observation]:
    """Observations of the lines, in order."""
    found: list[Observation] = []
    for line in lines:
        record = _record(line.data)
        reader = READERS.get(_text(record, "kind"))
        if reader is not None:
            found += reader(record, line.offset)
    return found


def _record(data: bytes) -> Record:
    """The object in a line, or an empty one: what cannot be read is skipped."""
    try:
        return mapping_of(DECODER.decode(data.decode("utf-8", "replace")))
    except (ValueError, RecursionError):
        return {}


def _text(record: Record, key: str) -> str:
    return text_of(record.get(key)) or ""


def _words(record: Record, offset: int) -> list[Observation]:
    text = _text(record, "text")
    by = Speaker.AGENT if record.get("by") == "agent" else Speaker.PERSON if record.get("by") == "person" else Speaker.MACHINE
    if by is Speaker.PERSON and text.startswith(MACHINE_PREFIX):
        by = Speaker.MACHINE
    if not text.strip():
        return []
    return [
        Said(
            Spot(offset),
            by,
            text,
            native_id=_text(record, "id") or None,
            turn=_text(record, "turn") or None,
            at_ms=whole_number(record.get("at")),
            steering=record.get("meanwhile") is True,
        )
    ]


def _call(record: Record, offset: int) -> list[Observation]:
    call, tool = _text(record, "call"), _text(record, "tool")
    if not call or not tool:
        return []
    try:
        given = json.dumps(record.get("input"), ensure_ascii=False, separators=(",", ":"))
    except (ValueError, RecursionError):
        return []
    given = given.encode("utf-8", "replace").decode("utf-8")
    return [ToolCalled(Spot(offset), call, tool, given, **_common(record))]


def _result(record: Record, offset: int) -> list[Observation]:
    call, code = _text(record, "call"), whole_number(record.get("code"))
    if not call:
        return []
    failed = code is None or code != 0
    took = whole_number(record.get("took"))
    returned = ToolReturned(
        Spot(offset), call, _text(record, "text"), failed, exit_code=code if failed else None, duration_ms=took, **_common(record)
    )
    return [returned]


def _refused(record: Record, offset: int) -> list[Observation]:
    call, words = _text(record, "call"), _text(record, "text")
    if not call:
        return []
    common = _common(record)
    found: list[Observation] = [ToolReturned(Spot(offset), call, "", is_error=True, denial=Denial.PERSON, **common)]
    if words.strip():
        return [*found, Said(Spot(offset, 1), Speaker.PERSON, words, rejects=call, **common)]
    # Without a word the turn is over: what the person says next is about this call.
    return [*found, Cut(Spot(offset, 1), **common)]


def _stopped(record: Record, offset: int) -> list[Observation]:
    return [Cut(Spot(offset), **_common(record))]


def _back(record: Record, offset: int) -> list[Observation]:
    return [Rewound(Spot(offset), at_ms=whole_number(record.get("at")))]


def _shortened(record: Record, offset: int) -> list[Observation]:
    return [Compacted(Spot(offset), at_ms=whole_number(record.get("at")))]


def _added(record: Record, offset: int) -> list[Observation]:
    text = _text(record, "text")
    return [ContextShown(Spot(offset), text, at_ms=whole_number(record.get("at")))] if text else []


def _common(record: Record) -> dict[str, Any]:
    return {"native_id": _text(record, "id") or None, "turn": _text(record, "turn") or None, "at_ms": whole_number(record.get("at"))}


READERS: Mapping[str, Callable[[Record, int], list[Observation]]] = {
    "words": _words,
    "call": _call,
    "result": _result,
    "refused": _refused,
    "stopped": _stopped,
    "back": _back,
    "shortened": _shortened,
    "added": _added,
}
"""By kind of record; every other kind is skipped."""
