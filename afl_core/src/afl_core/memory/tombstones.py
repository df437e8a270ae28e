"""Values and captured calls that stay out after they were forgotten: compared by what they look like, kept as keyed hashes only."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Collection

from afl_core.model.errors import StoreError
from afl_core.model.grain import Grain, GrainType
from afl_core.model.grain_text import value_of
from afl_core.model.skeleton import skeleton
from afl_core.store import operations, status
from afl_core.store.cover import PLAIN, Cover
from afl_core.vault.seal import keyed_hash

KEY = "tombstone_key"
"""Where in `meta` the key of the hashes is: it never leaves the file, so that hashes of two files cannot be compared.

In a file in clear, who has the file has the key and can try whether a value he guesses is among them; in a sealed one he needs the passphrase too.
"""

VALUE, CALL = "tombstone", "forgotten call"
"""What a hash is made for: those of values and of calls are never alike."""


def bury(db: sqlite3.Connection, grain: Grain, now: int, cover: Cover) -> None:
    """Let the grain's value stay out from now on, in every spelling."""
    operations.bury(db, hash_of(db, grain, cover), now)


def bury_call(db: sqlite3.Connection, grain: Grain, now: int, cover: Cover) -> None:
    """Let a forgotten call of a session stay out of what is captured, whatever is kept of it the next time. A grain that is no call is nothing here."""
    if (call := _call(grain)) is not None:
        operations.bury(db, _hash(db, call, cover, CALL), now)


def was_forgotten(db: sqlite3.Connection, grain: Grain, cover: Cover) -> bool:
    """Whether capture leaves a grain out: its value stays out, or it was forgotten itself. Whoever adds it on purpose may."""
    if is_buried(db, grain, cover):
        return True
    call = _call(grain)
    if call is None:
        return operations.was_forgotten(db, grain.hash)
    return operations.any_buried(db) and operations.is_buried(db, _hash(db, call, cover, CALL))


def calls_out(db: sqlite3.Connection, session_id: str, call_ids: Collection[str], cover: Cover = PLAIN) -> set[str]:
    """Which of these calls of a session were forgotten."""
    if not operations.any_buried(db):
        return set()
    return {call for call in call_ids if operations.is_buried(db, _hash(db, _call_of(session_id, call), cover, CALL))}


def allow(db: sqlite3.Connection, grain: Grain, cover: Cover) -> bool:
    """Let the grain's value in again, and the call it tells of; False when neither was kept out."""
    if not operations.any_buried(db):
        return False
    call = _call(grain)
    hashes = [hash_of(db, grain, cover), *([] if call is None else [_hash(db, call, cover, CALL)])]
    allowed = [operations.unbury(db, one) for one in hashes]
    return any(allowed)


def is_buried(db: sqlite3.Connection, grain: Grain, cover: Cover) -> bool:
    """Whether the grain's value stays out."""
    return operations.any_buried(db) and operations.is_buried(db, hash_of(db, grain, cover))


def refuse_buried(db: sqlite3.Connection, grain: Grain, cover: Cover) -> None:
    """Raise `StoreError` (AFL-STORE-030) when it does."""
    if is_buried(db, grain, cover):
        raise StoreError(
            "this value was forgotten and stays out, also in another spelling",
            code="AFL-STORE-030",
            hint="let it in again with: afl allow (or call allow())",
        )


def hash_of(db: sqlite3.Connection, grain: Grain, cover: Cover) -> str:
    """The keyed hash of a grain's value. Makes the key when there is none: in a write transaction only."""
    return _hash(db, "\0".join(skeleton(part) for part in value_of(grain).split("\0")), cover)


def _call(grain: Grain) -> str | None:
    """Which call of which session a tool grain tells of."""
    session, call = grain.fields.get("session_id"), grain.fields.get("tool_call_id")
    return _call_of(session, call) if grain.type is GrainType.TOOL and session is not None and call is not None else None


def _call_of(session: str, call: str) -> str:
    return f"{session}\0{call}"


def _hash(db: sqlite3.Connection, text: str, cover: Cover, purpose: str = VALUE) -> str:
    key = status.meta(db, KEY)
    if not key:
        key = os.urandom(32).hex()
        status.set_meta(db, KEY, key)
    return cover.name(keyed_hash(bytes.fromhex(key), purpose, text.encode()))
