"""The one source of ids: 16 bytes, milliseconds first, so that ids sort by birth. Imports nothing heavy: the front uses it."""

from __future__ import annotations

import hashlib
import os
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

IDS_DRAWN = 64
"""Ids for which `new_ids` draws randomness at once."""


def new_id() -> str:
    """32 hex digits: 6 bytes of milliseconds since the epoch, then 10 random bytes."""
    return ((time.time_ns() // 1_000_000).to_bytes(6, "big") + os.urandom(10)).hex()


def new_ids() -> Iterator[str]:
    """Ids as `new_id` gives them, without end. Randomness is drawn for many at once: only for a caller that uses many, and keeps none for later."""
    while True:
        drawn = os.urandom(10 * IDS_DRAWN)
        for start in range(0, len(drawn), 10):
            yield ((time.time_ns() // 1_000_000).to_bytes(6, "big") + drawn[start : start + 10]).hex()


def new_nonce() -> str:
    """16 random hex digits, printed with an injection and looked for in the transcript."""
    return os.urandom(8).hex()


def digest(kind: str, *parts: str) -> str:
    """64 hex digits: SHA-256 of `kind` and the parts joined by NUL; for ids that must be the same wherever they are derived."""
    return hashlib.sha256("\0".join((kind, *parts)).encode("utf-8", "surrogatepass")).hexdigest()
