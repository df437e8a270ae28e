"""Seal one event into the spool when no front can take it. Never writes plaintext: what cannot be sealed is dropped and counted.

A record is not synced to disk: that would cost the person more than the whole hook, and after a power failure the host's own transcript
still has what was said.
"""

import posix
import sys
from time import time_ns

import constants  # type: ignore[import-not-found]
from client import is_private, write_all  # type: ignore[import-not-found]

MAGIC = b"AFLS\x01"
KEY_ID_BYTES = 8
KEY_BYTES = 32
MAX_FILES = 2_000
MAX_BYTES = 64 << 20


def spool(ident: bytes, host: str, event: str, total: int, block: bytes, payload: bytes) -> str:
    """Write `<id>.rec`; return the reason to count when it was dropped, '' when it is safe."""
    try:
        key = _read(constants.RUN + "/spool.key")
    except FileNotFoundError:
        key = b""
    if len(key) != KEY_ID_BYTES + KEY_BYTES:
        return "no_spool_key"
    try:
        if _is_full(len(payload)):
            return "spool_full"
    except OSError:
        return "disk"
    sys.path.extend(constants.SITE)
    first = f"AFLP1 {ident.hex()} {host} {event} {_now_ms()} {total}".encode()
    try:
        record = first + b"\n" + seal(key, first, len(block).to_bytes(4, "big") + block + payload)
    except Exception:
        return "seal"
    try:
        _write(f"{constants.SPOOL}/{ident.hex()}", record)
    except OSError:
        return "disk"
    return ""


def seal(key: bytes, context: bytes, plaintext: bytes) -> bytes:
    """A sealed record in the vault's format; `key` is 8 bytes of key id and 32 bytes of key."""
    head = MAGIC + key[:KEY_ID_BYTES]
    nonce = posix.urandom(12)
    sealed: bytes = _cipher(key[KEY_ID_BYTES:]).encrypt(nonce, plaintext, head + context)  # type: ignore[attr-defined]
    return head + nonce + sealed


def _cipher(key: bytes) -> object:
    try:
        # Not public, but a tenth of the public import; where a release lacks it, the public one is paid for.
        from cryptography.hazmat.bindings._rust import openssl

        return openssl.aead.AESGCM(key)
    except (ImportError, AttributeError):
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        return AESGCM(key)


def _now_ms() -> int:
    frozen = posix.environ.get(b"AFL_NOW_MS")
    return int(frozen) if frozen else time_ns() // 1_000_000


def _is_full(coming: int) -> bool:
    try:
        seen = posix.lstat(constants.SPOOL)
    except FileNotFoundError:
        posix.mkdir(constants.SPOOL, 0o700)
        return False
    if not is_private(seen):
        raise PermissionError(constants.SPOOL)
    names = posix.listdir(constants.SPOOL)
    if len(names) >= MAX_FILES:
        return True
    held = 0
    for name in names:
        try:
            held += posix.lstat(f"{constants.SPOOL}/{name}").st_size
        except FileNotFoundError:  # the front drained it meanwhile
            continue
    return held + coming > MAX_BYTES


def _read(path: str) -> bytes:
    handle = posix.open(path, posix.O_RDONLY | posix.O_NOFOLLOW)
    try:
        return posix.read(handle, 4096)
    finally:
        posix.close(handle)


def _write(path: str, record: bytes) -> None:
    handle = posix.open(path + ".tmp", posix.O_WRONLY | posix.O_CREAT | posix.O_EXCL, 0o600)
    try:
        write_all(handle, record)
        posix.rename(path + ".tmp", path + ".rec")
    except BaseException:
        posix.unlink(path + ".tmp")
        raise
    finally:
        posix.close(handle)
