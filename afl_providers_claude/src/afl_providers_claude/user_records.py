"""Records of type `user`: prompts, interruptions and tool results. The host files everything here that goes to the model as the user's turn."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from afl_core.model.json_values import natural_number, text_of
from afl_core.model.observation import Cut, Observation, Rewound, Said, Speaker
from afl_providers_claude.record import Record
from afl_providers_claude.results import results
from afl_providers_claude.speakers import is_cut, is_machine_text, speaker_of
from afl_providers_claude.state import ParseState

NEVER_SAID = ("isMeta", "isCompactSummary", "isVisibleInTranscriptOnly", "repeatsCompactSummary")
"""Marks of text that the host put in for the model, or that repeats a conversation instead of continuing it."""


def user_record(record: Record, state: ParseState) -> list[Observation]:
    """Tool results in the order of their blocks, then the interruption, then the words; before words that replace earlier ones, the going back."""
    state.enter(record.text("promptId"))
    blocks = record.blocks
    found = results(record, blocks, state)
    if any(record.says(mark) for mark in NEVER_SAID):
        return found
    texts = [(part, text) for part, block in enumerate(blocks) if (text := _text(block)) and text.strip()]
    turn = record.text("promptId") or state.turn
    cuts = [part for part, text in texts if is_cut(record, text)]
    found += [Cut(record.spot(part), native_id=record.uuid, turn=turn, at_ms=record.at_ms) for part in cuts]
    said = _words(record, [(part, text) for part, text in texts if part not in cuts], turn, beside_results=bool(found) and not cuts)
    if said and not found and _goes_back(record, said[0], state):
        found.append(Rewound(record.spot(), at_ms=record.at_ms))
    return [*found, *said]


def _goes_back(record: Record, said: Said, state: ParseState) -> bool:
    """Whether the person went back before these words: they hang where an earlier prompt hangs, or have its number again.

    Of going back to the first prompt only the number tells. Print mode numbers nothing.
    """
    beside = record.parent is not None and state.goes_back(record.parent)
    if said.speaker is not Speaker.PERSON:
        return False
    again = state.numbered(natural_number(record.mapping("turnPosition").get("promptIndex")) or 0)
    return beside or again


def _text(block: Mapping[str, Any]) -> str | None:
    return text_of(block.get("text")) if block.get("type") == "text" else None


def _words(record: Record, texts: list[tuple[int, str]], turn: str | None, *, beside_results: bool) -> list[Said]:
    """One observation for a message of several blocks; the host's own blocks beside a person's words are left out."""
    typed = [(part, text) for part, text in texts if not is_machine_text(text)]
    chosen = typed or texts
    if not chosen:
        return []
    part, text = chosen[0][0], "\n".join(text for _, text in chosen)
    # Beside a tool's result stand only reminders of the host: what a person types meanwhile has a record of its own.
    speaker = Speaker.MACHINE if beside_results else speaker_of(record, record.fields, text)
    said = Said(record.spot(part), speaker, text, native_id=record.uuid, turn=turn, parent_id=record.parent, at_ms=record.at_ms)
    return [said]
