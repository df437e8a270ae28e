"""What the person said, and what others said in the person's place. Where the file says who spoke, no word of the text is looked at."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from afl_core.model.json_values import mapping_of, text_of
from afl_core.model.observation import Cut, Observation, Said, Speaker
from afl_providers_codex.manifest import MACHINE_PREFIXES
from afl_providers_codex.record import NOTES, Record, blocks_of, joined_text
from afl_providers_codex.state import ParseState, mark_of

TYPED = "user.text"
"""The kind of a content that a person wrote."""

ABORT_NOTE, ABORT_TAG = "generic.turn_aborted", "<turn_aborted>"
"""The message in which the host tells the model of an interruption; the host's event of it has told it already, or will."""

WORDS_PART = 1
"""Words always have this number in their record, whether or not something stands before them: repeated elsewhere they have the same name."""

SAME_BREATH_MS = 1_000
"""Words that follow the turn's first words sooner than this are an addition to them. Later, with nothing of the agent between, the host may have cut the agent off to take them."""


def user_item(record: Record, state: ParseState) -> list[Observation]:
    """A model item in the user's role: the person's where its notes say so, else the machine's. Without notes (0.142) only the machine's is told: an event follows for the person's."""
    notes = notes_of(record.payload)
    if notes is None:
        text = joined_text(record.payload.get("content"))
        return _by_machine(record, text, state) if is_machine_text(text) and not text.lstrip().startswith(ABORT_TAG) else []
    state.noted = True
    typed = typed_text(record.payload, notes)
    if typed is None:
        if ABORT_NOTE in kinds_of(notes):
            return []
        return _by_machine(record, joined_text(record.payload.get("content")), state)
    state.enter(record.turn)
    return said(record, typed, record.text("id"), state)


def user_event(record: Record, state: ParseState) -> list[Observation]:
    """The host's event of a message it took from the person (0.142)."""
    return _unnoted(record, record.text("message") or "", None, state)


def user_message(record: Record, state: ParseState) -> list[Observation]:
    """The same event in a file that was rewritten into the newer format, where the notes are missing. With notes it says nothing new."""
    if state.noted:
        return []
    item = record.mapping("item")
    return _unnoted(record, joined_text(item.get("content")), text_of(item.get("id")), state)


def said(record: Record, text: str, native_id: str | None, state: ParseState) -> list[Observation]:
    """The person's words; before them the cut that they may have made, when they came into a running turn and nothing of the agent's is left."""
    if native_id:
        state.saw(native_id)
    found: list[Observation] = []
    steering = state.spoke and state.acted
    if state.spoke and not state.acted and record.numbered and _took_breath(record, state):
        steering = True
        cut_id = f"{native_id}:cut" if native_id else None
        found.append(Cut(record.spot(), native_id=cut_id, turn=state.turn, at_ms=record.at_ms, possible=True))
    state.person_spoke(record.at_ms)
    words = Said(record.spot(WORDS_PART), Speaker.PERSON, text, native_id=native_id, turn=state.turn, at_ms=record.at_ms, steering=steering)
    return [*found, words]


def notes_of(item: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """What the host noted of a model item's contents, or None when it noted nothing."""
    notes = mapping_of(item.get(NOTES))
    return notes if "content_item_kinds" in notes or "content_item_metadata" in notes else None


def typed_text(item: Mapping[str, Any], notes: Mapping[str, Any]) -> str | None:
    """What a person wrote of the item: only contents whose kind and whose origin both say so. None when nothing was."""
    kinds, origins = kinds_of(notes), _sequence(notes.get("content_item_metadata"))
    typed = [
        text
        for block, kind, origin in zip(blocks_of(item.get("content")), kinds, origins, strict=False)
        if kind == TYPED
        and mapping_of(mapping_of(origin).get("provenance")).get("type") == "user"
        and (text := text_of(block.get("text")))
        and text.strip()
    ]
    return "\n".join(typed) if typed else None


def kinds_of(notes: Mapping[str, Any]) -> Sequence[Any]:
    """The kind of each content."""
    return _sequence(notes.get("content_item_kinds"))


def is_machine_text(text: str) -> bool:
    """Whether the text opens as the host's own do."""
    return text.lstrip().startswith(MACHINE_PREFIXES)


def _unnoted(record: Record, text: str, native_id: str | None, state: ParseState) -> list[Observation]:
    if not text.strip():
        return []
    if is_machine_text(text):
        return _by_machine(record, text, state)
    state.enter(record.turn)
    state.saw(mark_of(text))
    return said(record, text, state.name(native_id), state)


def _took_breath(record: Record, state: ParseState) -> bool:
    return record.at_ms is not None and state.spoke_ms is not None and record.at_ms - state.spoke_ms >= SAME_BREATH_MS


def _by_machine(record: Record, text: str, state: ParseState) -> list[Observation]:
    turn = record.turn or state.turn
    told = Said(record.spot(WORDS_PART), Speaker.MACHINE, text, native_id=record.text("id"), turn=turn, at_ms=record.at_ms)
    return [told] if text.strip() else []


def _sequence(value: object) -> Sequence[Any]:
    return value if isinstance(value, list) else ()
