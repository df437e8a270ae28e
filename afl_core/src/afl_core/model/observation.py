"""What a host adapter reads out of a transcript, before anything is stored. Raw text; never leaves the process unredacted."""

from __future__ import annotations

import enum

import attrs


class Speaker(enum.Enum):
    """Who produced the words. Only a person's words can become feedback."""

    PERSON = "person"
    AGENT = "agent"
    MACHINE = "machine"


class Denial(enum.Enum):
    """Why a tool did not run (or was stopped)."""

    NONE = "none"
    PERSON = "person"
    POLICY = "policy"


@attrs.frozen
class Spot:
    """Byte offset of the record in its file and the index of the thing inside the record."""

    offset: int
    part: int = 0


@attrs.frozen
class Said:
    """Words. `steering`: typed into a running turn. `rejects`: the tool call the person refused with these words. `partial`: cut off while streaming.

    `recovered`: said earlier, and only now found in what the host kept of the conversation: evidence, but an answer to nothing that stands before it.
    """

    spot: Spot
    speaker: Speaker
    text: str
    native_id: str | None = None
    turn: str | None = None
    parent_id: str | None = None
    at_ms: int | None = None
    steering: bool = False
    rejects: str | None = None
    partial: bool = False
    recovered: bool = False


@attrs.frozen
class ToolCalled:
    """The agent called a tool; `input_json` is the JSON text of its input."""

    spot: Spot
    call_id: str
    name: str
    input_json: str
    native_id: str | None = None
    turn: str | None = None
    at_ms: int | None = None


@attrs.frozen
class ToolReturned:
    """A tool's result. `exit_code` only where the host tells it."""

    spot: Spot
    call_id: str
    text: str
    is_error: bool
    exit_code: int | None = None
    duration_ms: int | None = None
    denial: Denial = Denial.NONE
    native_id: str | None = None
    turn: str | None = None
    at_ms: int | None = None


@attrs.frozen
class Cut:
    """The person interrupted the running turn. `possible`: the host only tells that words came while the agent worked, and kept nothing of its work."""

    spot: Spot
    native_id: str | None = None
    turn: str | None = None
    at_ms: int | None = None
    possible: bool = False


@attrs.frozen
class Rewound:
    """The person went back: what follows replaces the turns since an earlier point. Those stay evidence."""

    spot: Spot
    at_ms: int | None = None


@attrs.frozen
class Compacted:
    """The context window was replaced by a summary: a new epoch begins."""

    spot: Spot
    at_ms: int | None = None


@attrs.frozen
class ContextShown:
    """The host recorded that it put a hook's text into the model's context."""

    spot: Spot
    text: str
    at_ms: int | None = None


Observation = Said | ToolCalled | ToolReturned | Cut | Rewound | Compacted | ContextShown
