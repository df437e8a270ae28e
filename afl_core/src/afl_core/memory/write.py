"""The one way in: every grain is added, superseded and taken back here. Joins the caller's transaction.

Values are stored once (equal content has one address); tool calls are occurrences, one for each call id of a session.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

import attrs

from afl_core.memory.signatures import signature
from afl_core.model.errors import StoreError
from afl_core.model.grain import Grain, GrainType, make
from afl_core.store import grains

MAX_INPUT = 512
"""Characters of a tool call's input that are kept."""

MAX_ERROR = 1_024
"""Characters of a failed call's text that are kept; a success keeps none."""


def add(db: sqlite3.Connection, grain: Grain) -> str:
    """Store a grain and make it the head of its thing; gives its address. One that is there already is left as it is.

    A grain that was withdrawn before comes back.
    """
    there = grains.get(db, grain.hash)
    if there is None:
        grains.insert(db, grain)
    elif there.superseded_by == grains.WITHDRAWN:
        grains.set_superseded(db, grain.hash, None)
    else:
        return grain.hash
    if grain.head_key is not None:
        grains.set_heads(db, grain.head_key, [grain.hash])
    return grain.hash


def supersede(db: sqlite3.Connection, old: str, new: Grain) -> str:
    """Put a new grain in the place of a live one; gives the new address. Raises `StoreError` when the old one is missing or has a successor."""
    there = _live(db, old)
    if new.hash == old:
        raise StoreError(f"grain {old[:12]} cannot take its own place", code="AFL-STORE-021")
    known = grains.get(db, new.hash)
    if known is None:
        grains.insert(db, new, derived_from=old)
    elif known.superseded_by == grains.WITHDRAWN:
        grains.set_superseded(db, new.hash, None)
    elif known.superseded_by is not None:
        raise StoreError(f"grain {new.hash[:12]} was superseded before and cannot be a successor", code="AFL-STORE-021")
    grains.set_superseded(db, old, new.hash)
    key = there.grain.head_key
    if key is not None:
        grains.set_heads(db, key, [head for head in grains.heads(db, key) if head != old])
    if new.head_key is not None:
        grains.set_heads(db, new.head_key, [*(head for head in grains.heads(db, new.head_key) if key == new.head_key), new.hash])
    return new.hash


def unsupersede(db: sqlite3.Connection, old: str, new: str) -> None:
    """Undo `supersede`: the new grain is withdrawn, the old one is live and a head again."""
    later, earlier = _live(db, new), grains.get(db, old)
    if earlier is None or earlier.superseded_by != new:
        raise StoreError(f"grain {old[:12]} was not superseded by {new[:12]}", code="AFL-STORE-021")
    key = later.grain.head_key
    if key is not None:
        grains.set_heads(db, key, [head for head in grains.heads(db, key) if head != new])
    grains.set_superseded(db, new, grains.WITHDRAWN)
    grains.set_superseded(db, old, None)
    key = earlier.grain.head_key
    if key is not None:
        grains.set_heads(db, key, [*grains.heads(db, key), old])


def retract(db: sqlite3.Connection, hash: str) -> None:
    """Take a live grain back; nothing takes its place. Another live grain of the same thing becomes the head again."""
    there = _live(db, hash)
    grains.set_superseded(db, hash, grains.WITHDRAWN)
    key = there.grain.head_key
    if key is not None and hash in (tips := grains.heads(db, key)):
        left = [head for head in tips if head != hash]
        grains.set_heads(db, key, left or grains.live_of(db, key)[:1])


def _live(db: sqlite3.Connection, hash: str) -> grains.Stored:
    there = grains.get(db, hash)
    if there is None:
        raise StoreError(f"there is no grain {hash[:12]}", code="AFL-STORE-020")
    if there.superseded_by is not None:
        raise StoreError(f"grain {hash[:12]} is not live: superseded by {there.superseded_by[:12]}", code="AFL-STORE-021")
    return there


@attrs.frozen
class ToolCall:
    """One call of a tool with how it ended. Texts are redacted by the caller; `at_ms`: when it ended."""

    call_id: str
    tool_name: str
    input_text: str
    is_error: bool | None
    exit_code: int | None
    duration_ms: int | None
    error_text: str
    at_ms: int


def record_tool_calls(db: sqlite3.Connection, ns: str, session_id: str, calls: Sequence[ToolCall]) -> list[str]:
    """Store calls of tools as small grains, in order; gives the addresses of those that were not there already.

    At most 512 characters of the input and, of a failure only, 1,024 of its text are kept.
    """
    if not calls:
        return []
    signed = [_tool_grain(ns, session_id, call) for call in calls]
    first = signed[0][0].fields
    known = grains.calls_known(db, first["session_id"], [grain.fields["tool_call_id"] for grain, _ in signed])
    new: dict[str, tuple[Grain, str | None]] = {}
    for one in signed:
        call_id = one[0].fields["tool_call_id"]
        if call_id not in known:
            new.setdefault(call_id, one)
    grains.insert_all(db, list(new.values()))
    return [grain.hash for grain, _ in new.values()]


def _tool_grain(ns: str, session_id: str, call: ToolCall) -> tuple[Grain, str | None]:
    """The grain and, of a failure, the signature of its text."""
    error = _plain(call.error_text)[:MAX_ERROR] if call.is_error else ""
    grain = make(
        GrainType.TOOL,
        {
            "namespace": ns,
            "session_id": session_id,
            "tool_name": _plain(call.tool_name),
            "tool_call_id": call.call_id,
            "input": _plain(call.input_text)[:MAX_INPUT],
            "is_error": call.is_error,
            "exit_code": call.exit_code,
            "duration_ms": call.duration_ms,
            "error": error or None,
        },
        call.at_ms,
    )
    return grain, signature(error) if call.is_error else None


def _plain(text: str) -> str:
    """What tools print may hold bytes that no grain can: they become the replacement character."""
    text = text.replace("\0", "\ufffd")
    return text if text.isascii() else text.encode("utf-8", "replace").decode()
