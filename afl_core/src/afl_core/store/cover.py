"""How the contents of grains stand in their rows: in clear, or sealed with names as keyed hashes. Decides nothing and keeps no key."""

from __future__ import annotations

from typing import Protocol


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
        return stored if isinstance(stored, str) else stored.decode()

    def name(self, text: str) -> str:
        return text


PLAIN: Cover = _Plain()
"""Everything in clear: the home's store, and a memory without a passphrase."""
