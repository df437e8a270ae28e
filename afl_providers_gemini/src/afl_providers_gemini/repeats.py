"""What the host says again. Its log is append-only, so it repeats old messages: under new ids, with new times, sometimes as records that look like new ones.

Whatever `$set.messages` holds has, or had, records of its own: nothing is born from it. Records that look new come where a rejected tool call makes the
host set its history anew: it writes every message of it, at once, and closes the run with `$set.messages`. Such a run is told by how it begins:
with the text that opens every history, with the summary that took a history's place, or, after a rewind dropped the opening, with words that were
said before, the moment the turn was cut. Nothing else is taken for a repetition: a person may say the same thing twice.
"""

from __future__ import annotations

from collections.abc import Sequence

from afl_providers_gemini.record import Record
from afl_providers_gemini.state import ParseState
from afl_providers_gemini.texts import contexts, is_session_context, is_snapshot, own_words

AT_ONCE_MS = 300
"""From the note of a cut to the run: it takes a few ms; a person needs longer, and the prompt's hooks run before it is written."""

RUN_GAP_MS = 2_000
"""Between two records of a run, which are written one after the other. A later record is no part of it, though the run's end was not seen."""


def is_repeated(record: Record, texts: Sequence[str], state: ParseState) -> bool:
    """Whether a user's message, with these texts, belongs to a run of repeated ones. Follows the run in `state`."""
    opens = any(is_session_context(text) or is_snapshot(text) or state.knows_snapshot(text) for text in texts)
    return _follows(record, state, opens=opens, could_open=_is_known(texts, state))


def is_the_hosts(record: Record, state: ParseState) -> bool:
    """Whether a message in the agent's name names no model: the host repeats it, or made it up. Follows the run in `state`."""
    if record.text("model") is not None or not isinstance(record.fields.get("content"), list):
        state.cut_ms = state.replay_ms = None
        return False
    _follows(record, state, opens=False, could_open=True)
    return True


def _follows(record: Record, state: ParseState, *, opens: bool, could_open: bool) -> bool:
    at, cut, last = record.at_ms, state.cut_ms, state.replay_ms
    goes_on = last is not None and at is not None and at - last <= RUN_GAP_MS
    at_once = could_open and cut is not None and at is not None and at - cut <= AT_ONCE_MS
    state.cut_ms = None
    state.replay_ms = at if goes_on or opens or at_once else None
    return goes_on or opens or at_once


def _is_known(texts: Sequence[str], state: ParseState) -> bool:
    """Whether the first words of a message were said before. The host makes one message of several that follow each other."""
    words = (own_words(contexts(text)[1]) for text in texts)
    first = next((one for one in words if one.strip()), None)
    return first is not None and state.knows_prompt(first)
