"""A chat log's records as observations, in order. One record at a time, so that how the lines are batched makes no difference.

The raw log is read, not the conversation it leads to: the host takes cut and rejected turns out of that, and they are the strongest feedback there is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from afl_core.model.observation import Observation
from afl_core.spec.host import Line
from afl_providers_gemini.agent_records import agent_record
from afl_providers_gemini.marks import ends_repeats, header_record, note_record, only_repeats, rewind_record, set_record
from afl_providers_gemini.record import Record, read
from afl_providers_gemini.state import ParseState, restored
from afl_providers_gemini.user_records import user_record

Reader = Callable[[Record, ParseState], list[Observation]]

MESSAGES: Mapping[str, Reader] = {"user": user_record, "gemini": agent_record, "info": note_record}
"""By the message's type; every other type, known or new, is skipped."""

OTHERS: Mapping[str, Reader] = {"$set": set_record, "$rewindTo": rewind_record, "sessionId": header_record}
"""Records without an id of their own, by the key that tells them."""


def parse(lines: Sequence[Line], state: Mapping[str, Any]) -> tuple[list[Observation], dict[str, Any]]:
    """Observations of the lines and the state for the next call. What cannot be read is skipped."""
    going = restored(state)
    found: list[Observation] = []
    for line in lines:
        if only_repeats(line):
            ends_repeats(going)
        elif (record := read(line)) and (reader := _reader(record)):
            found += reader(record, going)
    return found, going.stored()


def _reader(record: Record) -> Reader | None:
    if record.id is not None:
        return MESSAGES.get(record.kind or "")
    return next((reader for key, reader in OTHERS.items() if key in record.fields), None)
