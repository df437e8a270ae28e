"""How the contents of grains stand in their rows: in clear, or sealed with names as keyed hashes. Decides nothing and keeps no key."""

from __future__ import annotations

from typing import Protocol

from afl_core.model.errors import StoreError


class Cover(Protocol):
    """What every read and write of a grain's row goes through."""

    def seal(self, hash: str, body: str) -> str | bytes:
        """The body as it is stored; `hash` is the grain's address, to which a sealed body is bound."""
        ...

    def open(self, hash: str, stored: str | bytes) -> str:
        """The body again. Raises `VaultError` when it was sealed with another key or changed."""
        ...

    def name(self, text: str) -> str:
        """A name rows are grouped and found by (subject, relation, tool, session); equal names stay equal."""
        ...


class _Plain:
    def seal(self, hash: str, body: str) -> str:
        return body

    def open(self, hash: str, stored: str | bytes) -> str:
        if not isinstance(stored, str):  # somebody sealed the file after it was opened
            raise StoreError(f"grain {hash[:12]} is sealed", code="AFL-STORE-034", hint="open the memory again, with its passphrase")
        return stored

    def name(self, text: str) -> str:
        return text


PLAIN: Cover = _Plain()
"""Everything in clear: the home's store, and a memory without a passphrase."""
