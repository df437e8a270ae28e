"""Records of type `attachment` and `system`: messages typed into a running turn, hook text that reached the model, and compactions."""

from __future__ import annotations

from afl_core.model.json_values import text_of
from afl_core.model.observation import Compacted, ContextShown, Observation, Said
from afl_providers_claude.record import Record, joined_text
from afl_providers_claude.speakers import speaker_of
from afl_providers_claude.state import ParseState


def attachment_record(record: Record, state: ParseState) -> list[Observation]:
    """A queued message that the running turn took up, or the context a hook gave. A subagent's are not the session's."""
    attachment = record.mapping("attachment")
    kind = attachment.get("type")
    if kind == "hook_additional_context" and not record.sidechain and (shown := _shown(attachment.get("content"))):
        return [ContextShown(record.spot(), shown, at_ms=record.at_ms)]
    text = joined_text(attachment.get("prompt")) if kind == "queued_command" and attachment.get("isMeta") is not True else ""
    if not text.strip():
        return []
    said = Said(
        record.spot(),
        speaker_of(record, attachment, text),
        text,
        native_id=record.uuid,
        turn=state.turn,
        parent_id=record.parent,
        at_ms=record.at_ms,
        steering=True,
    )
    return [said]


def system_record(record: Record, _state: ParseState) -> list[Observation]:
    """A compaction of the session's own context (a subagent compacts only its own)."""
    compacted = record.text("subtype") == "compact_boundary" and not record.sidechain
    return [Compacted(record.spot(), at_ms=record.at_ms)] if compacted else []


def _shown(content: object) -> str:
    parts = content if isinstance(content, list) else [content]
    return "\n".join(text for part in parts if (text := text_of(part)))
