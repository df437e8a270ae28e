"""Records of type `gemini`: what the agent said and which tools it called. Its thoughts are never read."""

from __future__ import annotations

from afl_core.model.observation import Observation, Said, Speaker
from afl_providers_gemini.record import Record, spoken
from afl_providers_gemini.repeats import is_the_hosts
from afl_providers_gemini.state import ParseState
from afl_providers_gemini.tools import tool_calls


def agent_record(record: Record, state: ParseState) -> list[Observation]:
    """The text once, and each call with its result once: the same message comes again when more of its calls are done."""
    if is_the_hosts(record, state):
        return []
    text = "".join(words for part in record.parts if (words := spoken(part)))
    found: list[Observation] = []
    if text.strip() and state.is_new_message(record.id):
        found.append(Said(record.spot(), Speaker.AGENT, text, native_id=record.id, turn=state.turn, at_ms=record.at_ms))
    return found + tool_calls(record, state)
