"""The one way in: every grain is added, superseded and taken back here. Joins the caller's transaction.

Values are stored once (equal content has one address); tool calls are occurrences, one for each call id of a session.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

import attrs

from afl_core.memory.signatures import signature
from afl_core.memory.tombstones import refuse_buried, was_forgotten
from afl_core.model.clock import now_ms
from afl_core.model.errors import StoreError
from afl_core.model.grain import Grain, GrainType, HeadKey, make
from afl_core.model.grain_text import tool_text
from afl_core.store import grains, operations
from afl_core.store.cover import PLAIN, Cover

MAX_INPUT = 512
"""Characters of a tool call's input that are kept."""

MAX_ERROR = 1_024
"""Characters of a failed call's text that are kept; a success keeps none."""


def add(db: sqlite3.Connection, grain: Grain, *, cover: Cover = PLAIN) -> str:
    """Store a grain and make it the head of its thing; gives its address. One that is there already is left as it is.

    A grain that was withdrawn before comes back. Raises `StoreError` (AFL-STORE-030) for a value that was forgotten and stays out.
    """
    refuse_buried(db, grain, cover)
    there = grains.place_of(db, grain.hash)
    key = grain.head_key
    if there is None:
        if key is not None:
            grains.set_heads(db, key, (), cover)
        insert(db, grain, head=key is not None, cover=cover)
    elif there[1] == grains.WITHDRAWN:
        _restore(db, grain.hash, grain.created_ms)
        if key is not None:
            grains.set_heads(db, key, [grain.hash], cover)
    return grain.hash


def add_unopposed(db: sqlite3.Connection, grain: Grain, cover: Cover = PLAIN) -> bool:
    """`add` and `record_call` in a transaction of their own for the grains that nothing stands against, which are nearly all.

    False, and nothing is written, where something has to be looked at.
    """
    return grains.insert_unopposed(db, grain, _signature(grain), cover)


def add_all(db: sqlite3.Connection, many: Sequence[Grain], *, cover: Cover = PLAIN) -> list[str]:
    """`add` for many at once, with the same outcome as one after the other."""
    return [add(db, grain, cover=cover) for grain in many]


def insert(db: sqlite3.Connection, grain: Grain, *, derived_from: str | None = None, head: bool = False, cover: Cover = PLAIN) -> None:
    """A row for a grain that is not there, with the signature of its text when it is a failed call of a tool. Decides nothing else."""
    grains.insert(db, grain, derived_from=derived_from, signature=_signature(grain), head=head, cover=cover)


def _signature(grain: Grain) -> str | None:
    failed = grain.type is GrainType.TOOL and grain.fields.get("is_error") is True
    return signature(tool_text(grain.fields)) if failed else None


def supersede(db: sqlite3.Connection, old: str, new: Grain, *, cover: Cover = PLAIN) -> str:
    """Put a new grain in the place of a live one; gives the new address. Raises `StoreError` when the old one is missing or has a successor.

    The new one becomes the head: in the place of the old one where that was a head (of a fork the others stay), and else as if it were added.
    It may be about something else; then its own thing gets it as the head, and the old thing the newest that is left.
    """
    there = _live(db, old, cover)
    refuse_buried(db, new, cover)
    if new.hash == old:
        raise StoreError(
            f"grain {old[:12]} cannot take its own place", code="AFL-STORE-021", hint="change something, or name another grain"
        )
    known = grains.place_of(db, new.hash)
    if known is not None and known[1] is None:  # it is there already
        link(db, old, new.hash, new.created_ms, cover=cover)
        return new.hash
    mine, other = there.grain.head_key, new.head_key
    before = _heads_of(db, (mine, other), cover)
    if known is None:
        insert(db, new, derived_from=old, cover=cover)
    else:
        _come_back(db, new, known[1])
        grains.derive(db, new.hash, old)
    grains.set_superseded(db, old, new.hash)
    operations.log(db, operations.SUPERSEDE, old, new.hash, new.created_ms, heads=before)
    if mine is not None and mine != other:
        _leave(db, mine, old, cover)
    if other is not None:
        kept = [head for head in before if head not in (old, new.hash)] if mine == other and old in before else []
        grains.set_heads(db, other, [*kept, new.hash], cover)
    return new.hash


def link(db: sqlite3.Connection, loser: str, winner: str, now: int, *, cover: Cover = PLAIN) -> None:
    """Let a live grain that is there already take the place of another: no copy is made. Raises `StoreError` unless both are live and differ.

    Where the loser was a head, the winner becomes one if it is about the same thing; else the newest that is left does.
    """
    if loser == winner:
        raise StoreError(
            f"grain {loser[:12]} cannot take its own place", code="AFL-STORE-021", hint="change something, or name another grain"
        )
    lost, won = _live(db, loser, cover), _live(db, winner, cover)
    key = lost.grain.head_key
    before = _heads_of(db, (key,), cover)
    grains.set_superseded(db, loser, winner)
    operations.log(db, operations.LINK, loser, winner, now, heads=before)
    if key is not None and loser in before:
        left = [head for head in before if head != loser]
        if won.grain.head_key == key and winner not in left:
            left.append(winner)
        grains.set_heads(db, key, left or grains.live_of(db, key, cover)[:1], cover)


def unsupersede(db: sqlite3.Connection, old: str, new: str, *, now: int | None = None, cover: Cover = PLAIN) -> None:
    """Undo `supersede`: the new grain is withdrawn, the old one is live and a head again."""
    later, earlier = _live(db, new, cover), grains.get(db, old, cover)
    if earlier is None or earlier.superseded_by != new:
        raise StoreError(
            f"grain {old[:12]} was not superseded by {new[:12]}",
            code="AFL-STORE-021",
            hint="read the grain again; it was changed meanwhile",
        )
    grains.set_superseded(db, new, grains.WITHDRAWN)
    grains.set_superseded(db, old, None)
    operations.log(db, operations.UNLINK, old, new, now_ms() if now is None else now)
    mine, other = earlier.grain.head_key, later.grain.head_key
    if mine is not None:
        grains.set_heads(db, mine, [*(head for head in grains.heads(db, mine, cover) if head not in (new, old)), old], cover)
    if other is not None and other != mine:
        _leave(db, other, new, cover)


def retract(db: sqlite3.Connection, address: str, *, now: int | None = None, cover: Cover = PLAIN) -> None:
    """Take a live grain back; nothing takes its place. Another live grain of the same thing becomes the head again."""
    there = _live(db, address, cover)
    key = there.grain.head_key
    before = _heads_of(db, (key,), cover)
    grains.set_superseded(db, address, grains.WITHDRAWN)
    operations.log(db, operations.RETRACT, address, None, now_ms() if now is None else now, heads=before)
    if key is not None:
        _leave(db, key, address, cover)


def merge(db: sqlite3.Connection, key: HeadKey, merged: Grain, *, cover: Cover = PLAIN) -> str:
    """Let one grain take the place of every head of a thing. Raises `StoreError` when it has fewer than two."""
    tips = grains.heads(db, key, cover)
    if len(tips) < MIN_FORK:
        raise StoreError(
            f"{key.subject!r} {key.relation!r} has no fork in {key.ns!r}: nothing to merge", code="AFL-STORE-031", hint="run: afl forks"
        )
    if merged.head_key != key:
        raise StoreError(
            f"grain {merged.hash[:12]} is about something else than what it is to merge",
            code="AFL-STORE-031",
            hint="give the subject, relation and namespace of the fork",
        )
    refuse_buried(db, merged, cover)
    known = grains.place_of(db, merged.hash)
    lost = [tip for tip in tips if tip != merged.hash]
    if known is None:
        insert(db, merged, derived_from=lost[0], cover=cover)
    else:
        _come_back(db, merged, known[1])
    for tip in lost:
        grains.set_superseded(db, tip, merged.hash)
        operations.log(db, operations.MERGE, tip, merged.hash, merged.created_ms, heads=tips)
    grains.set_heads(db, key, [merged.hash], cover)
    return merged.hash


MIN_FORK = 2
"""Heads that make a fork."""


def _live(db: sqlite3.Connection, address: str, cover: Cover) -> grains.Stored:
    there = grains.get(db, address, cover)
    if there is None:
        raise StoreError(f"there is no grain {address[:12]}", code="AFL-STORE-020", hint="use the hash of a grain that is there")
    if there.superseded_by == grains.WITHDRAWN:
        raise StoreError(
            f"grain {address[:12]} is not live: it was taken back", code="AFL-STORE-021", hint="undo that first, or add it again"
        )
    if there.superseded_by is not None:
        raise StoreError(
            f"grain {address[:12]} is not live: superseded by {there.superseded_by[:12]}",
            code="AFL-STORE-021",
            hint="change the one that took its place, or undo that first",
        )
    return there


def _come_back(db: sqlite3.Connection, grain: Grain, superseded_by: str | None) -> None:
    """Let a grain that is there take a place: a withdrawn one is live again, one that gave way to another is refused."""
    if superseded_by == grains.WITHDRAWN:
        _restore(db, grain.hash, grain.created_ms)
    elif superseded_by is not None:
        raise StoreError(
            f"grain {grain.hash[:12]} was superseded before and cannot be a successor",
            code="AFL-STORE-021",
            hint="undo what took its place, or say it otherwise",
        )


def _restore(db: sqlite3.Connection, address: str, now: int) -> None:
    grains.set_superseded(db, address, None)
    operations.log(db, operations.RESTORE, address, None, now)


def _heads_of(db: sqlite3.Connection, keys: Sequence[HeadKey | None], cover: Cover) -> list[str]:
    """The heads of things, each thing once, in order."""
    asked = dict.fromkeys(key for key in keys if key is not None)
    return [head for key in asked for head in grains.heads(db, key, cover)]


def _leave(db: sqlite3.Connection, key: HeadKey, address: str, cover: Cover) -> None:
    """A grain is no longer live: where it was a head, the others stay, and without others the newest live grain becomes it."""
    tips = grains.heads(db, key, cover)
    if address in tips:
        left = [head for head in tips if head != address]
        grains.set_heads(db, key, left or grains.live_of(db, key, cover)[:1], cover)


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


def record_tool_calls(db: sqlite3.Connection, ns: str, session_id: str, calls: Sequence[ToolCall], *, cover: Cover = PLAIN) -> list[str]:
    """Store calls of tools as small grains, in order; gives the addresses of those that were not there already.

    At most 512 characters of the input and, of a failure only, 1,024 of its text are kept.
    """
    if not calls:
        return []
    signed = [_tool_grain(ns, session_id, call) for call in calls]
    first = signed[0][0].fields
    names = [cover.name(grain.fields["tool_call_id"]) for grain, _ in signed]
    known = grains.calls_known(db, cover.name(first["session_id"]), names)
    new: dict[str, tuple[Grain, str | None]] = {}
    any_out = operations.any_buried(db)
    for name, one in zip(names, signed, strict=True):
        if name not in known and not (any_out and was_forgotten(db, one[0], cover)):
            new.setdefault(name, one)
    grains.insert_all(db, list(new.values()), cover)
    return [grain.hash for grain, _ in new.values()]


def record_call(db: sqlite3.Connection, grain: Grain, *, cover: Cover = PLAIN) -> str:
    """Store one call of a tool as it is; gives its address. A call of a session is there once: said again, the first one stays.

    Raises `StoreError` (AFL-STORE-030) for a value that was forgotten and stays out.
    """
    refuse_buried(db, grain, cover)
    fields = grain.fields
    if "session_id" in fields and "tool_call_id" in fields:
        known = grains.call(db, grain.ns, fields["session_id"], fields["tool_call_id"], cover)
        if known is not None:
            return known
    if grains.place_of(db, grain.hash) is None:
        insert(db, grain, cover=cover)
    return grain.hash


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
