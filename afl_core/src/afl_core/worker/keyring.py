"""The keys of one front: read from the home, made anew at every start, kept in memory. Needs the vault's public half only, never the keystore."""

from __future__ import annotations

import errno
import os
import sqlite3

from afl_core.model.errors import VaultError
from afl_core.settings.paths import Paths
from afl_core.store.connection import writing
from afl_core.vault.seal import KEY_BYTES, KEY_ID_BYTES, new_data_key, wrap


class Keyring:
    """`intake_key` seals payloads of intake rows; spool keys open what hooks sealed while no front could be asked."""

    def __init__(self, paths: Paths) -> None:
        self._paths = paths
        self.public = read_key(paths.public_key, KEY_BYTES)
        self.name_key = read_key(paths.name_key, KEY_BYTES)
        self.intake_key_id, self.intake_key = new_data_key()
        self._spool: dict[str, bytes] = {}
        self.remember_spool_key()

    def register(self, db: sqlite3.Connection, now: int) -> None:
        """Store the wrapped intake key unless it is there: house-keeping forgets an old one that no row needs, and this process may be older.

        The write-ahead log keeps the order of commits, so no row can outlive the key it was sealed with.
        """
        with writing(db):
            if db.execute("SELECT 1 FROM vault_keys WHERE key_id = ?", (self.intake_key_id,)).fetchone() is None:
                _store(db, self.public, "intake", self.intake_key_id, self.intake_key, now)

    def spool_key(self, key_id: str) -> bytes | None:
        """The spool key of this id when this front knows it; an older one has to be unwrapped with the vault's private key."""
        return self._spool.get(key_id)

    def remember_spool_key(self) -> None:
        """Take the spool key that hooks use now into memory; a missing or cut file is no key."""
        try:
            held = read_key(self._paths.spool_key, KEY_ID_BYTES + KEY_BYTES)
        except VaultError:
            return
        self._spool[held[:KEY_ID_BYTES].hex()] = held[KEY_ID_BYTES:]

    def rotate_spool_key(self, db: sqlite3.Connection, now: int) -> None:
        """Give hooks a new spool key. The wrapped key is on disk before the first record can be sealed with it."""
        key_id, key = new_data_key()
        with writing(db, durable=True):
            _store(db, self.public, "spool", key_id, key, now)
        replace_file(self._paths.spool_key, bytes.fromhex(key_id) + key)
        self._spool[key_id] = key


def _store(db: sqlite3.Connection, public: bytes, purpose: str, key_id: str, key: bytes, now: int) -> None:
    wrapped = wrap(public, key_id, key)
    db.execute("INSERT INTO vault_keys (key_id, purpose, wrapped, created_ms) VALUES (?, ?, ?, ?)", (key_id, purpose, wrapped, now))


def read_key(path: str, size: int) -> bytes:
    """A key file of ours; raises `VaultError` when it is missing, a link or of another size."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            data = os.read(handle, size + 1)
        finally:
            os.close(handle)
    except OSError as bad:
        raise VaultError(f"{path} cannot be read: {bad.strerror}", code="AFL-VAULT-004", hint="run: afl install") from bad
    if len(data) != size:
        raise VaultError(f"{path} does not have {size} bytes", code="AFL-VAULT-005", hint="run: afl doctor")
    return data


def replace_file(path: str, data: bytes) -> None:
    """Write a 0600 file whole and synced, then put it in place of the old one."""
    temporary = f"{path}.{os.getpid()}"
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        if os.write(handle, data) != len(data):  # a disk that is nearly full takes a part
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), path)
        os.fsync(handle)
        os.replace(temporary, path)
    except OSError:
        os.unlink(temporary)
        raise
    finally:
        os.close(handle)
