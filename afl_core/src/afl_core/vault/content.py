"""Sealed contents of a memory file: a key from a passphrase, records bound to their address, names as keyed hashes.

What stays in clear: types, namespaces, times, addresses, links, how many grains there are and how long each is. An address is the hash of what a
grain says: who can guess all of it, to the millisecond, can tell whether it is there.
"""

from __future__ import annotations

import os
import sqlite3

from afl_core.model.errors import VaultError
from afl_core.store.status import meta, set_meta
from afl_core.vault.seal import keyed_digest, keyed_hash, seal, unseal

SALT, CHECK, CLEAR = "content_salt", "content_check", "content_clear"
"""Names in `meta`: of a sealed memory its salt and what tells a wrong passphrase; of one in clear that it was opened so."""
USED = ("grains", "sessions", "intake", "vault_keys")
"""A file that has rows in one of these is in use in clear."""
COST = 2**15
"""Of scrypt (RFC 7914), with r = 8 and p = 1: about 0.1 s and 32 MiB."""
KEY_ID = "0" * 16
"""There is one key a file."""
NAME_DIGITS = 24
"""Hexadecimal digits of a name: 96 bits."""


class Sealed:
    """The `Cover` of a memory with a passphrase."""

    def __init__(self, key: bytes) -> None:
        self._content = keyed_digest(key, b"content")
        self._names = keyed_digest(key, b"names")

    def seal(self, hash: str, body: str) -> bytes:
        """AES-256-GCM, bound to the address."""
        return seal(self._content, KEY_ID, f"grain:{hash}", body.encode())

    def open(self, hash: str, stored: str | bytes) -> str:
        """The body; raises `VaultError` when it is not what was sealed for this address."""
        if isinstance(stored, str):
            raise VaultError(f"grain {hash[:12]} stands in clear in a sealed memory", code="AFL-VAULT-020", hint="run: afl verify")
        return unseal(self._content, f"grain:{hash}", stored).decode()

    def name(self, text: str) -> str:
        """The beginning of a keyed hash."""
        return keyed_hash(self._names, "name", text.encode("utf-8", "surrogatepass"))[:NAME_DIGITS]


def is_sealed(db: sqlite3.Connection) -> bool:
    """Whether the contents are sealed."""
    return bool(meta(db, SALT))


def stays_in_clear(db: sqlite3.Connection) -> bool:
    """Whether it is noted of a file that it is in clear, also when nothing is in it any more."""
    return bool(meta(db, CLEAR))


def is_used_in_clear(db: sqlite3.Connection) -> bool:
    """Whether a file holds anything in clear, or did: False of a sealed one, whatever is in it. In one transaction, for it may be sealed meanwhile."""
    if is_sealed(db):
        return False
    return stays_in_clear(db) or any(db.execute(f"SELECT 1 FROM {table} LIMIT 1").fetchone() for table in USED)  # noqa: S608 - fixed names


def is_a_homes(db: sqlite3.Connection) -> bool:
    """Whether a file is the store of a home, or a copy of one: it has keys of a vault, or knows sessions."""
    return any(db.execute(f"SELECT 1 FROM {table} LIMIT 1").fetchone() for table in USED if table != "grains")  # noqa: S608 - fixed names


def use_in_clear(db: sqlite3.Connection) -> None:
    """Let nobody seal an empty file any more under a handle that writes in clear, in the caller's transaction."""
    if not is_sealed(db):
        set_meta(db, CLEAR, "1")


def unlock(db: sqlite3.Connection, passphrase: str) -> Sealed:
    """The cover of a sealed memory. Raises `VaultError` for a wrong passphrase."""
    cover = Sealed(_key(passphrase, meta(db, SALT)))
    if meta(db, CHECK) != cover.name("check"):
        raise VaultError("the passphrase is not the one of this memory", code="AFL-VAULT-022", hint="try again with the right one")
    return cover


def begin(db: sqlite3.Connection, passphrase: str) -> None:
    """Let a file be sealed from now on, in the caller's transaction. Raises `VaultError` for one that is used in clear: an export moves it."""
    if is_sealed(db):
        return  # another process was first
    if is_used_in_clear(db):
        raise VaultError(
            "this memory already holds grains in clear",
            code="AFL-VAULT-021",
            hint="export it and import it into a new file with a passphrase: afl export, afl import",
        )
    salt = os.urandom(16).hex()
    set_meta(db, SALT, salt)
    set_meta(db, CHECK, Sealed(_key(passphrase, salt)).name("check"))


def _key(passphrase: str, salt: str) -> bytes:
    from cryptography.hazmat.primitives.kdf.scrypt import Scrypt

    return Scrypt(salt=bytes.fromhex(salt), length=32, n=COST, r=8, p=1).derive(passphrase.encode())
