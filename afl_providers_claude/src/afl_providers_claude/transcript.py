"""A transcript's records as observations, in order. One record at a time, so that how the lines are batched makes no difference."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from afl_core.model.observation import Observation
from afl_core.spec.host import Line
from afl_providers_claude.assistant_records import assistant_record
from afl_providers_claude.record import Record, read
from afl_providers_claude.side_records import attachment_record, system_record
from afl_providers_claude.state import ParseState, restored
from afl_providers_claude.user_records import user_record

READERS: Mapping[str, Callable[[Record, ParseState], list[Observation]]] = {
    "user": user_record,
    "assistant": assistant_record,
    "attachment": attachment_record,
    "system": system_record,
}
"""By record type; every other type, known or new, is skipped."""


def parse(lines: Sequence[Line], state: Mapping[str, Any]) -> tuple[list[Observation], dict[str, Any]]:
    """Observations of the lines and the state for the next call. What cannot be read is skipped."""
    going = restored(state)
    found: list[Observation] = []
    for line in lines:
        record = read(line)
        reader = READERS.get(record.kind or "") if record else None
        if record and reader:
            found += reader(record, going)
    return found, going.stored()
