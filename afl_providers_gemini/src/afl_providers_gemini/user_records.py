"""Records of type `user`: prompts, and everything else the host sends to the model as the user's turn. What is a person's is decided part by part."""

from __future__ import annotations

from afl_core.model.observation import Compacted, ContextShown, Observation, Said, Speaker
from afl_providers_gemini.record import Record, parts_of, spoken
from afl_providers_gemini.repeats import is_repeated
from afl_providers_gemini.state import ParseState
from afl_providers_gemini.texts import contexts, is_machine_text, is_session_context, is_snapshot, own_words, steering_of

COMMAND_MARKS = ("/", "?")
"""What was typed was a command of the host, and the text that was sent is the command's."""


def user_record(record: Record, state: ParseState) -> list[Observation]:
    """Contexts shown, a compaction, then the words: all text of a message is one message, whether typed at once or queued meanwhile."""
    parts = record.parts
    if parts and "functionResponse" in parts[0]:
        return []  # what tools gave; the call's own record has it too, and such a record is mostly not even read
    texts = [(number, text) for number, part in enumerate(parts) if (text := spoken(part))]
    shown, words = _split(texts)
    if is_repeated(record, [text for _, text in texts], state) or not state.is_new_message(record.id):
        # A summary is found even where the history around it is only repeated.
        return _compacted(record, texts, state)
    found: list[Observation] = [ContextShown(record.spot(number), text, at_ms=record.at_ms) for number, text in shown]
    found += _compacted(record, texts, state)
    if any("functionResponse" in part for part in parts):
        return found + _steering(record, texts, state)
    if not words.strip():
        return found
    typed = _typed(record)
    part = next(number for number, text in texts if contexts(text)[1].strip())
    speaker = _speaker(words, typed, state)
    if speaker is Speaker.PERSON:
        state.enter(record.id)
        state.said(words, words if typed is None else typed)
    elif state.subagent and state.turn is None:
        state.enter(record.id)
    return [*found, Said(record.spot(part), speaker, words, native_id=record.id, turn=state.turn, at_ms=record.at_ms)]


def _split(texts: list[tuple[int, str]]) -> tuple[list[tuple[int, str]], str]:
    """Hook contexts with their parts, and the words: the rest, joined as the host joins it for its hooks."""
    shown: list[tuple[int, str]] = []
    rest: list[str] = []
    for number, text in texts:
        inner, behind = contexts(text)
        shown += [(number, one) for one in inner]
        if not (is_session_context(behind) or is_snapshot(behind)):
            rest.append(behind)
    return shown, own_words("".join(rest))


def _compacted(record: Record, texts: list[tuple[int, str]], state: ParseState) -> list[Observation]:
    return [
        Compacted(record.spot(number), at_ms=record.at_ms) for number, text in texts if is_snapshot(text) and state.is_new_snapshot(text)
    ]


def _steering(record: Record, texts: list[tuple[int, str]], state: ParseState) -> list[Observation]:
    """Beside a tool's result stands nothing a person said, but for the update of the plan that the host wraps as such."""
    found = [(number, words) for number, text in texts if (words := steering_of(text)) and words.strip()]
    if state.subagent:
        return []
    return [
        Said(record.spot(number), Speaker.PERSON, words, native_id=record.id, turn=state.turn, at_ms=record.at_ms, steering=True)
        for number, words in found
    ]


def _typed(record: Record) -> str | None:
    """What stood in the input line, where the host says that it sent something else."""
    if "displayContent" not in record.fields:
        return None
    texts = (spoken(part) for part in parts_of(record.fields["displayContent"]))
    return contexts("".join(text for text in texts if text))[1]


def _speaker(words: str, typed: str | None, state: ParseState) -> Speaker:
    """A machine's words taken for a person's are the worse mistake, so doubt means machine.

    The reason a hook gave for going on, and the host's own text after a loop, are filed with the prompt of the turn as what was typed. A hook's
    reason in a log without that note cannot be told from a prompt.
    """
    if state.subagent or is_machine_text(words):
        return Speaker.MACHINE
    if typed is None or typed == words:
        return Speaker.PERSON
    if typed.lstrip().startswith(COMMAND_MARKS) or state.began_with(typed):
        return Speaker.MACHINE
    return Speaker.PERSON
