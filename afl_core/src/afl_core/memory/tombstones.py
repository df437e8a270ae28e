"""Values that stay out after they were forgotten: compared by what they look like, kept as keyed hashes only."""

from __future__ import annotations

import os
import sqlite3

from afl_core.model.errors import StoreError
from afl_core.model.grain import Grain
from afl_core.model.grain_text import value_of
from afl_core.model.skeleton import skeleton
from afl_core.store import operations, status
from afl_core.store.cover import Cover
from afl_core.vault.seal import keyed_hash

KEY = "tombstone_key"
"""Where in `meta` the key of the hashes is: it never leaves the file, so that hashes of two files cannot be compared.

In a file in clear, who has the file has the key and can try whether a value he guesses is among them; in a sealed one he needs the passphrase too.
"""


def bury(db: sqlite3.Connection, grain: Grain, now: int, cover: Cover) -> None:
    """Let the grain's value stay out from now on, in every spelling."""
    operations.bury(db, hash_of(db, grain, cover), now)


def allow(db: sqlite3.Connection, grain: Grain, cover: Cover) -> bool:
    """Let the grain's value in again; False when it was not kept out."""
    return operations.any_buried(db) and operations.unbury(db, hash_of(db, grain, cover))


def is_buried(db: sqlite3.Connection, grain: Grain, cover: Cover) -> bool:
    """Whether the grain's value stays out."""
    return operations.any_buried(db) and operations.is_buried(db, hash_of(db, grain, cover))


def refuse_buried(db: sqlite3.Connection, grain: Grain, cover: Cover) -> None:
    """Raise `StoreError` (AFL-STORE-030) when it does."""
    if is_buried(db, grain, cover):
        raise StoreError(
            "this value was forgotten and stays out, also in another spelling",
            code="AFL-STORE-030",
            hint="let it in again with the allow() of the memory",
        )


def hash_of(db: sqlite3.Connection, grain: Grain, cover: Cover) -> str:
    """The keyed hash of a grain's value. Makes the key when there is none: in a write transaction only."""
    key = status.meta(db, KEY)
    if not key:
        key = os.urandom(32).hex()
        status.set_meta(db, KEY, key)
    value = "\0".join(skeleton(part) for part in value_of(grain).split("\0"))
    return cover.name(keyed_hash(bytes.fromhex(key), "tombstone", value.encode()))
