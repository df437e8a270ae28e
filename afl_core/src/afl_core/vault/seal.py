"""Sealed records: AES-256-GCM with a version, a key id, a nonce and a context as associated data; data keys wrapped to the vault's public key.

The front runs through this file: it takes cryptography's light module where there is one and the public import otherwise. It reads no files.
"""

from __future__ import annotations

import hashlib
import os
from typing import Any

from afl_core.model.errors import VaultError

MAGIC = b"AFLS\x01"
"""Start of every sealed record: product and format version."""

KEY_ID_BYTES = 8
NONCE_BYTES = 12
KEY_BYTES = 32
TAG_BYTES = 16
HEADER_BYTES = len(MAGIC) + KEY_ID_BYTES + NONCE_BYTES
WRAP_MAGIC = b"AFLW\x01"


def _light() -> Any:
    from cryptography.hazmat.bindings._rust import openssl

    return openssl


def _cipher(key: bytes) -> Any:
    try:
        return _light().aead.AESGCM(key)
    except (ImportError, AttributeError):
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        return AESGCM(key)


def seal(key: bytes, key_id: str, context: str, plaintext: bytes) -> bytes:
    """Seal `plaintext` under a 32-byte key. `key_id` is 16 hex digits; `context` says what the record is and must be given again to open it."""
    head = MAGIC + bytes.fromhex(key_id)
    nonce = os.urandom(NONCE_BYTES)
    sealed: bytes = _cipher(key).encrypt(nonce, plaintext, head + context.encode("utf-8", "surrogateescape"))
    return head + nonce + sealed


def key_id_of(record: bytes) -> str:
    """The id of the key a record was sealed with."""
    if len(record) < HEADER_BYTES + TAG_BYTES or not record.startswith(MAGIC):
        raise VaultError("the record is not sealed by this product, or it was cut short", code="AFL-VAULT-002")
    return record[len(MAGIC) : len(MAGIC) + KEY_ID_BYTES].hex()


def unseal(key: bytes, context: str, record: bytes) -> bytes:
    """Open a record; raise `VaultError` when it was changed, cut short, or is of another context or key."""
    head = MAGIC + bytes.fromhex(key_id_of(record))
    nonce = record[len(head) : HEADER_BYTES]
    try:
        opened: bytes = _cipher(key).decrypt(nonce, record[HEADER_BYTES:], head + context.encode("utf-8", "surrogateescape"))
    except Exception as bad:
        raise VaultError(
            "a sealed record does not open: it was changed, or it belongs to another key or place", code="AFL-VAULT-003"
        ) from bad
    return opened


def new_data_key() -> tuple[str, bytes]:
    """A fresh (key id, 32-byte key)."""
    return os.urandom(KEY_ID_BYTES).hex(), os.urandom(KEY_BYTES)


def wrap(public: bytes, key_id: str, data_key: bytes) -> bytes:
    """Seal a data key to the vault's X25519 public key (32 bytes): writing never needs the private key."""
    ephemeral_private, ephemeral_public, shared = _exchange(public)
    del ephemeral_private
    secret = _derive(shared, ephemeral_public, public)
    nonce = os.urandom(NONCE_BYTES)
    sealed: bytes = _cipher(secret).encrypt(nonce, data_key, WRAP_MAGIC + bytes.fromhex(key_id))
    return WRAP_MAGIC + ephemeral_public + nonce + sealed


def unwrap(private: bytes, public: bytes, key_id: str, wrapped: bytes) -> bytes:
    """The data key that was sealed to the public key of this private key."""
    if not wrapped.startswith(WRAP_MAGIC) or len(wrapped) < len(WRAP_MAGIC) + 32 + NONCE_BYTES + TAG_BYTES:
        raise VaultError("a wrapped key is not of this product, or it was cut short", code="AFL-VAULT-002")
    start = len(WRAP_MAGIC)
    ephemeral, nonce = wrapped[start : start + 32], wrapped[start + 32 : start + 32 + NONCE_BYTES]
    secret = _derive(_shared(private, ephemeral), ephemeral, public)
    try:
        opened: bytes = _cipher(secret).decrypt(nonce, wrapped[start + 32 + NONCE_BYTES :], WRAP_MAGIC + bytes.fromhex(key_id))
    except Exception as bad:
        raise VaultError("a wrapped key does not open with this vault's private key", code="AFL-VAULT-003") from bad
    return opened


def public_of(private: bytes) -> bytes:
    """The public key of a private key (32 bytes each)."""
    return _x25519_private(private).public_key().public_bytes_raw()  # type: ignore[no-any-return]


def _x25519_private(raw: bytes) -> Any:
    try:
        return _light().x25519.from_private_bytes(raw)
    except (ImportError, AttributeError):
        from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

        return X25519PrivateKey.from_private_bytes(raw)


def _x25519_public(raw: bytes) -> Any:
    try:
        return _light().x25519.from_public_bytes(raw)
    except (ImportError, AttributeError):
        from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PublicKey

        return X25519PublicKey.from_public_bytes(raw)


def _shared(private: bytes, public: bytes) -> bytes:
    return _x25519_private(private).exchange(_x25519_public(public))  # type: ignore[no-any-return]


def _exchange(public: bytes) -> tuple[bytes, bytes, bytes]:
    private = os.urandom(KEY_BYTES)
    return private, public_of(private), _shared(private, public)


def _derive(shared: bytes, ephemeral: bytes, public: bytes) -> bytes:
    # HKDF-SHA256 (RFC 5869) with one output block; salt binds both public keys.
    extracted = keyed_digest(ephemeral + public, shared)
    return keyed_digest(extracted, b"afl data key wrap v1\x01")


_INNER = bytes(byte ^ 0x36 for byte in range(256))
_OUTER = bytes(byte ^ 0x5C for byte in range(256))


def keyed_digest(key: bytes, data: bytes) -> bytes:
    """HMAC-SHA256 (RFC 2104), 32 bytes."""
    begun = _BEGUN.get(key)
    if begun is None:
        block = (key if len(key) <= 64 else hashlib.sha256(key).digest()).ljust(64, b"\0")
        begun = hashlib.sha256(block.translate(_INNER)), hashlib.sha256(block.translate(_OUTER))
        if len(_BEGUN) >= KEYS_BEGUN:
            _BEGUN.clear()
        _BEGUN[key] = begun
    inner, outer = begun[0].copy(), begun[1].copy()
    inner.update(data)
    outer.update(inner.digest())
    return outer.digest()


KEYS_BEGUN = 8
"""Keys whose first half of the work is kept: a process hashes nearly everything with one key."""

_BEGUN: dict[bytes, tuple[Any, Any]] = {}


def keyed_hash(name_key: bytes, kind: str, data: bytes) -> str:
    """64 hex digits that name `data` without revealing equality to anybody who lacks the key. `kind` keeps uses apart."""
    return keyed_digest(name_key, kind.encode() + b"\0" + data).hex()
