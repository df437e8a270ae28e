"""What was said and done, as the store keeps it: an event is born once, redacted, and placed by where its source has it."""

from __future__ import annotations

import enum

import attrs


class Role(enum.Enum):
    """Who an event is from."""

    USER = "user"
    ASSISTANT = "assistant"
    SYSTEM = "system"


class EventKind(enum.Enum):
    """What an event is."""

    MESSAGE = "message"
    TOOL_CALL = "tool_call"
    TOOL_RESULT = "tool_result"
    TURN_CUT = "turn_cut"


class SignalKind(enum.Enum):
    """A structural reason to review at once."""

    INTERRUPTION = "interruption"
    STEERING = "steering"
    REJECTION = "rejection"
    REWIND = "rewind"
    POSSIBLE_STEERING = "possible_steering"


@attrs.frozen(order=True)
class Place:
    """Where a source has an event: file generation, byte offset of the record, index inside the record. Orders evidence."""

    generation: int
    offset: int
    part: int


@attrs.frozen
class Event:
    """One stored event. `text` is redacted; times are ms since the epoch."""

    event_id: str
    session_id: str
    project_id: str
    place: Place
    epoch: int
    kind: EventKind
    role: Role
    text: str
    turn: str | None = None
    native_id: str | None = None
    parent_id: str | None = None
    call_id: str | None = None
    tool_name: str | None = None
    is_error: bool | None = None
    exit_code: int | None = None
    data_class: str = "normal"
    completeness: str = "whole"
    source_ms: int | None = None
    captured_ms: int = 0
    blob: str | None = None


@attrs.frozen
class Signal:
    """The person's words `event_id` point at the assistant event `referent_id`."""

    event_id: str
    kind: SignalKind
    referent_id: str
