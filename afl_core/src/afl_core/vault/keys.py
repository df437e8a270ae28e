"""The vault of one home: a public key for writing, a private key (in a keystore) for opening, a key for keyed hashes."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable

import attrs

from afl_core.files.private import ensure_private_dir, read_private_file, write_private_file
from afl_core.model.clock import Clock, now_ms
from afl_core.model.errors import VaultError
from afl_core.settings.paths import Paths
from afl_core.spec.keystore import Keystore
from afl_core.store.connection import writing
from afl_core.vault.seal import KEY_BYTES, key_id_of, keyed_hash, new_data_key, public_of, seal, unseal, unwrap, wrap


@attrs.frozen
class PublicHalf:
    """What writing needs: never the keystore."""

    public: bytes
    name_key: bytes

    @property
    def home_id(self) -> str:
        """Names this vault in a shared keystore (an OS keyring holds the secrets of several homes)."""
        return keyed_hash(b"afl home id", "public", self.public)[:16]

    def name_of(self, data: bytes) -> str:
        """The blob name of `data`: a keyed hash."""
        return keyed_hash(self.name_key, "blob", data)

    def text_mac(self, text: str) -> str:
        """The keyed hash by which a hook's sighting of a text is joined to the transcript's."""
        return keyed_hash(self.name_key, "text", text.encode("utf-8", "surrogatepass"))


def load_public(paths: Paths) -> PublicHalf:
    """Read the public half; raise `VaultError` when the vault was never made or a key has the wrong size."""
    return PublicHalf(public=_key(paths.public_key), name_key=_key(paths.name_key))


def _key(path: str) -> bytes:
    data = read_private_file(path)
    if data is None:
        raise VaultError(f"{path} is missing", code="AFL-VAULT-004", hint="run: afl install")
    if len(data) != KEY_BYTES:
        raise VaultError(
            f"{path} has {len(data)} bytes instead of {KEY_BYTES}",
            code="AFL-VAULT-005",
            hint="restore the keys directory from a backup; without it sealed evidence cannot be opened",
        )
    return data


def make(paths: Paths, keystore: Keystore, base: str, *, checkpoint: Callable[[str], None] = lambda _step: None) -> PublicHalf:
    """Make the vault once, or finish making it. The private key is saved before the public one appears, so nothing is ever sealed to a lost key."""
    ensure_private_dir(paths.keys, base)
    if read_private_file(paths.name_key) is None:
        write_private_file(paths.name_key, os.urandom(KEY_BYTES), replace=False)
    checkpoint("name-key")
    if read_private_file(paths.public_key) is None:
        private = os.urandom(KEY_BYTES)
        half = PublicHalf(public=public_of(private), name_key=_key(paths.name_key))
        keystore.save(half.home_id, private)
        checkpoint("private-saved")
        write_private_file(paths.public_key, half.public, replace=False)
        checkpoint("public-key")
    return load_public(paths)


class Opener:
    """Opens sealed records with the private key; data keys are unwrapped once and kept in memory."""

    def __init__(self, half: PublicHalf, keystore: Keystore, db: sqlite3.Connection) -> None:
        self._half = half
        self._keystore = keystore
        self._db = db
        self._private: bytes | None = None
        self._keys: dict[str, bytes] = {}

    def open(self, context: str, record: bytes) -> bytes:
        """The plaintext of a record; `context` must be the one it was sealed with."""
        return unseal(self.data_key(key_id_of(record)), context, record)

    def data_key(self, key_id: str) -> bytes:
        """The data key of this id, from the store."""
        if key_id not in self._keys:
            row = self._db.execute("SELECT wrapped FROM vault_keys WHERE key_id = ?", (key_id,)).fetchone()
            if row is None:
                raise VaultError(
                    f"no key {key_id} is known to this store", code="AFL-VAULT-006", hint="the record belongs to another data directory"
                )
            self._keys[key_id] = unwrap(self._secret(), self._half.public, key_id, row[0])
        return self._keys[key_id]

    def _secret(self) -> bytes:
        if self._private is None:
            secret = self._keystore.load(self._half.home_id)
            if secret is None:
                raise VaultError(
                    f"the keystore {self._keystore.name!r} has no private key for this vault",
                    code="AFL-VAULT-007",
                    hint="unlock or restore the keystore, then run: afl doctor",
                )
            if public_of(secret) != self._half.public:
                raise VaultError(
                    f"the private key in the keystore {self._keystore.name!r} belongs to another vault",
                    code="AFL-VAULT-008",
                    hint="restore the matching keys directory",
                )
            self._private = secret
        return self._private


class Writer:
    """Seals with a data key of its own, made on first use and wrapped to the public key: works without the keystore."""

    def __init__(self, half: PublicHalf, purpose: str, *, clock: Clock = now_ms) -> None:
        self.half = half
        self._purpose = purpose
        self._clock = clock
        self._key: tuple[str, bytes] | None = None

    def register(self, db: sqlite3.Connection) -> None:
        """Make sure the wrapped key is in the store and on disk before anything is sealed with it; a transaction of its own, or the caller's."""
        if self._key is None:
            self._key = new_data_key()
        key_id, key = self._key
        if db.execute("SELECT 1 FROM vault_keys WHERE key_id = ?", (key_id,)).fetchone() is None:
            with writing(db, durable=True):
                db.execute(
                    "INSERT OR IGNORE INTO vault_keys (key_id, purpose, wrapped, created_ms) VALUES (?, ?, ?, ?)",
                    (key_id, self._purpose, wrap(self.half.public, key_id, key), self._clock()),
                )

    def seal(self, context: str, plaintext: bytes) -> bytes:
        """Seal under this writer's key; `register` must have run."""
        if self._key is None:
            raise VaultError("a writer sealed before its key was registered", code="AFL-VAULT-009")
        return seal(self._key[1], self._key[0], context, plaintext)
