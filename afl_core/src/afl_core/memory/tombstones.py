"""Values that stay out after they were forgotten: compared by what they look like, kept as keyed hashes only."""

from __future__ import annotations

import os
import sqlite3

from afl_core.model.errors import StoreError
from afl_core.model.grain import Grain
from afl_core.model.grain_text import value_of
from afl_core.model.skeleton import skeleton
from afl_core.store import operations, status
from afl_core.vault.seal import keyed_hash

KEY = "tombstone_key"
"""Where in `meta` the key of the hashes is: it never leaves the file, so that hashes of two files cannot be compared."""


def hash_of(db: sqlite3.Connection, grain: Grain) -> str:
    """The keyed hash of a grain's value. Makes the key when there is none: in a write transaction only."""
    key = status.meta(db, KEY)
    if not key:
        key = os.urandom(32).hex()
        status.set_meta(db, KEY, key)
    value = "\0".join(skeleton(part) for part in value_of(grain).split("\0"))
    return keyed_hash(bytes.fromhex(key), "tombstone", value.encode())


def is_buried(db: sqlite3.Connection, grain: Grain) -> bool:
    """Whether the grain's value stays out."""
    return operations.any_buried(db) and operations.is_buried(db, hash_of(db, grain))


def refuse_buried(db: sqlite3.Connection, grain: Grain) -> None:
    """Raise `StoreError` (AFL-STORE-030) when it does."""
    if is_buried(db, grain):
        raise StoreError(
            "this value was forgotten and stays out, also in another spelling",
            code="AFL-STORE-030",
            hint="to let it in again, forget nothing more of it and use: afl forget --allow",
        )
