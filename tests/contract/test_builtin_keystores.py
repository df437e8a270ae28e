"""The built-in keystores keep the keystore contract of the public kit."""

from __future__ import annotations

import pathlib

import pytest

from afl_core.spec.keystore import Keystore
from afl_core.testing.contracts.keystore import KeystoreContract
from afl_core.vault import keystores
from afl_core.vault.keystores import FileKeystore, PassphraseKeystore


class TestFile(KeystoreContract):
    """A 0600 file."""

    def make(self, directory: pathlib.Path) -> Keystore:
        return FileKeystore(str(directory))


class TestPassphrase(KeystoreContract):
    """Argon2id, made cheap."""

    @pytest.fixture(autouse=True)
    def _cheap(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(keystores, "ARGON2", (1, 1, 64))

    def make(self, directory: pathlib.Path) -> Keystore:
        return PassphraseKeystore(str(directory), {"AFL_PASSPHRASE": "correct horse"})
