"""The built-in keystores: the system keyring (extra), a passphrase, and a 0600 file with a visible warning."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

import attrs

from afl_core.files.private import read_private_file, write_private_file
from afl_core.model.errors import PathError, VaultError
from afl_core.spec.keystore import Keystore
from afl_core.spec.reviewer import Viability
from afl_core.vault.seal import KEY_BYTES, seal, unseal

PASSPHRASE_ENV = "AFL_PASSPHRASE"
ARGON2 = (3, 4, 64 * 1024)
"""Argon2id iterations, lanes and KiB of memory (RFC 9106, second recommended option)."""

SERVICE = "agent-feedback-loop"
SALT_BYTES = 16
PASSPHRASE_MAGIC = b"AFLP\x01"


@attrs.frozen
class FileKeystore:
    """The secret in a 0600 file beside the data. Always works; protects nothing from a program that runs as you."""

    keys_dir: str
    name: str = "file"
    priority: int = 10

    @property
    def path(self) -> str:
        """The file."""
        return os.path.join(self.keys_dir, "vault.key")

    def viable(self) -> Viability:
        """Always."""
        return Viability(ok=True)

    def load(self, home_id: str) -> bytes | None:
        """Read the file."""
        secret = read_private_file(self.path)
        if secret is not None and len(secret) != KEY_BYTES:
            raise VaultError(
                f"{self.path} has {len(secret)} bytes instead of {KEY_BYTES}",
                code="AFL-VAULT-005",
                hint="restore the keys directory from a backup",
            )
        return secret

    def save(self, home_id: str, secret: bytes) -> None:
        """Write the file once. An interrupted start may have left a secret that nothing was sealed to; it is replaced while there is no public key."""
        if os.path.lexists(os.path.join(self.keys_dir, "vault.pub")) and self.load(home_id) not in (None, secret):
            raise VaultError(
                f"{self.path} already holds another secret", code="AFL-VAULT-013", hint="restore the keys directory from a backup"
            )
        write_private_file(self.path, secret)

    def warning(self) -> str:
        """Said at install and by doctor."""
        return (
            f"the vault's private key lies unprotected in {self.path}; install the `keyring` extra or set {PASSPHRASE_ENV} to keep it safer"
        )


@attrs.frozen
class PassphraseKeystore:
    """The secret sealed under a passphrase (Argon2id). Opening needs the passphrase in the environment; writing never does."""

    keys_dir: str
    environ: Mapping[str, str]
    name: str = "passphrase"
    priority: int = 20

    @property
    def path(self) -> str:
        """The file."""
        return os.path.join(self.keys_dir, "vault.sealed")

    def viable(self) -> Viability:
        """Where the passphrase is in the environment, or a sealed key is already there."""
        if self.environ.get(PASSPHRASE_ENV) or os.path.lexists(self.path):
            return Viability(ok=True)
        return Viability(ok=False, reason=f"{PASSPHRASE_ENV} is not set")

    def load(self, home_id: str) -> bytes | None:
        """Unseal the record."""
        record = read_private_file(self.path)
        if record is None:
            return None
        if not record.startswith(PASSPHRASE_MAGIC):
            raise VaultError(f"{self.path} is not a sealed key of this product", code="AFL-VAULT-002")
        start = len(PASSPHRASE_MAGIC)
        salt, sealed = record[start : start + SALT_BYTES], record[start + SALT_BYTES :]
        key = self._key(salt)
        try:
            return unseal(key, f"private:{home_id}", sealed)
        except VaultError as bad:
            raise VaultError(
                f"the passphrase in {PASSPHRASE_ENV} does not open {self.path}",
                code="AFL-VAULT-014",
                hint=f"set {PASSPHRASE_ENV} to the passphrase given at install",
            ) from bad

    def save(self, home_id: str, secret: bytes) -> None:
        """Seal and write the record."""
        salt = os.urandom(SALT_BYTES)
        write_private_file(self.path, PASSPHRASE_MAGIC + salt + seal(self._key(salt), "00" * 8, f"private:{home_id}", secret))

    def _key(self, salt: bytes) -> bytes:
        passphrase = self.environ.get(PASSPHRASE_ENV, "")
        if not passphrase:
            raise VaultError(
                f"{PASSPHRASE_ENV} is not set, so the vault cannot be opened here",
                code="AFL-VAULT-015",
                hint=f"set {PASSPHRASE_ENV}; capture goes on without it",
            )
        from cryptography.hazmat.primitives.kdf.argon2 import Argon2id

        iterations, lanes, memory = ARGON2
        return Argon2id(salt=salt, length=KEY_BYTES, iterations=iterations, lanes=lanes, memory_cost=memory).derive(
            passphrase.encode("utf-8")
        )

    def warning(self) -> str:
        """Nothing to say."""
        return ""


@attrs.frozen
class KeyringKeystore:
    """The secret in the operating system's keyring, through the `keyring` extra."""

    name: str = "keyring"
    priority: int = 30

    def viable(self) -> Viability:
        """Where the extra is installed and a real backend answers."""
        try:
            import keyring
            from keyring.backends import fail, null
        except ImportError:
            return Viability(ok=False, reason="the `keyring` extra is not installed (pip install keyring)")
        backend = keyring.get_keyring()
        if isinstance(backend, (fail.Keyring, null.Keyring)):
            return Viability(ok=False, reason="no system keyring answers here (headless machine?)")
        return Viability(ok=True)

    def load(self, home_id: str) -> bytes | None:
        """Ask the keyring."""
        import keyring

        try:
            text = keyring.get_password(SERVICE, home_id)
        except Exception as bad:
            raise VaultError(f"the system keyring refused: {bad}", code="AFL-VAULT-016", hint="unlock the keyring") from bad
        return None if text is None else bytes.fromhex(text)

    def save(self, home_id: str, secret: bytes) -> None:
        """Store in the keyring."""
        import keyring

        try:
            keyring.set_password(SERVICE, home_id, secret.hex())
        except Exception as bad:
            raise VaultError(
                f"the system keyring refused: {bad}", code="AFL-VAULT-016", hint="unlock the keyring, or set AFL_KEYSTORE=file"
            ) from bad

    def warning(self) -> str:
        """Nothing to say."""
        return ""


def choose(keystores: Sequence[Keystore], wanted: str) -> Keystore:
    """The keystore named in the settings, or the viable one with the highest priority (`auto`)."""
    by_name = {keystore.name: keystore for keystore in keystores}
    if wanted != "auto":
        if wanted not in by_name:
            raise VaultError(f"no keystore is called {wanted!r}", code="AFL-VAULT-017", hint="known: auto, " + ", ".join(sorted(by_name)))
        viability = by_name[wanted].viable()
        if not viability.ok:
            raise VaultError(
                f"the keystore {wanted!r} cannot be used here: {viability.reason}",
                code="AFL-VAULT-018",
                hint="choose another with AFL_KEYSTORE, or auto",
            )
        return by_name[wanted]
    viable = [keystore for keystore in keystores if keystore.viable().ok]
    if not viable:
        raise VaultError("no keystore can be used here", code="AFL-VAULT-018", hint="run: afl doctor")
    return max(viable, key=lambda keystore: keystore.priority)


def holding(keystores: Sequence[Keystore], home_id: str, wanted: str) -> Keystore:
    """The keystore that already holds this vault's secret; falls back to `choose`. Keeps a later, safer keystore from hiding an earlier secret."""
    for keystore in sorted(keystores, key=lambda one: -one.priority):
        try:
            if keystore.viable().ok and keystore.load(home_id) is not None:
                return keystore
        except (VaultError, PathError):
            if wanted in ("auto", keystore.name):
                return keystore
    return choose(keystores, wanted)
