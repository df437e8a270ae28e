"""The contract of a keystore: it keeps one 32-byte secret per home, the vault's private key."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from afl_core.spec.reviewer import Viability


@runtime_checkable
class Keystore(Protocol):
    """What is registered through `afl_keystores`. The chosen one is the viable one with the highest priority, or the one the settings name."""

    @property
    def name(self) -> str:
        """Unique; what a person writes into the settings."""
        ...

    @property
    def priority(self) -> int:
        """The higher, the safer."""
        ...

    def viable(self) -> Viability:
        """Whether it can be used here, and why not."""
        ...

    def load(self, home_id: str) -> bytes | None:
        """The secret kept for this home, or None when there is none. Raises `VaultError` when it cannot be opened."""
        ...

    def save(self, home_id: str, secret: bytes) -> None:
        """Keep the secret; refuses to overwrite a different one."""
        ...

    def warning(self) -> str:
        """What a person must know about how safe this is here; '' when nothing."""
        ...
