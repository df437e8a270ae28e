"""The one source of ids: 16 bytes, milliseconds first, so that ids sort by birth. Imports nothing heavy: the front uses it."""

from __future__ import annotations

import hashlib
import os
import time


def new_id() -> str:
    """32 hex digits: 6 bytes of milliseconds since the epoch, then 10 random bytes."""
    return ((time.time_ns() // 1_000_000).to_bytes(6, "big") + os.urandom(10)).hex()


def new_nonce() -> str:
    """16 random hex digits, printed with an injection and looked for in the transcript."""
    return os.urandom(8).hex()


def digest(kind: str, *parts: str) -> str:
    """64 hex digits: SHA-256 of `kind` and the parts joined by NUL; for ids that must be the same wherever they are derived."""
    return hashlib.sha256("\0".join((kind, *parts)).encode("utf-8", "surrogatepass")).hexdigest()
