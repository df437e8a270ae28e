"""The system keyring keeps the private key where a real backend answers, and says why where none does."""

from __future__ import annotations

import os
import pathlib
from collections.abc import Iterator

import pytest

from afl_core.model.errors import VaultError
from afl_core.settings.paths import Paths
from afl_core.vault.keys import make
from afl_core.vault.keystores import FileKeystore, KeyringKeystore, choose

keyring = pytest.importorskip("keyring")
from keyring.backend import KeyringBackend  # noqa: E402 - only where the extra is installed
from keyring.backends import fail, null  # noqa: E402
from keyring.errors import KeyringLocked  # noqa: E402


class Kept(KeyringBackend):
    """Keeps secrets in memory."""

    priority = -1  # never chosen by itself: defining a backend registers it for the whole process

    def __init__(self) -> None:
        super().__init__()
        self.secrets: dict[tuple[str, str], str] = {}
        self.locked = False

    def get_password(self, service: str, username: str) -> str | None:
        if self.locked:
            raise KeyringLocked("the keyring is locked")
        return self.secrets.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        self.secrets[(service, username)] = password


@pytest.fixture
def backend() -> Iterator[Kept]:
    before = keyring.get_keyring()
    kept = Kept()
    keyring.set_keyring(kept)
    yield kept
    keyring.set_keyring(before)


def test_the_private_key_goes_to_the_keyring_and_to_no_file(home: pathlib.Path, backend: Kept) -> None:
    paths = Paths(home)
    chosen = choose([FileKeystore(paths.keys), KeyringKeystore()], "auto")
    assert chosen.name == "keyring"
    half = make(paths, chosen, paths.home)
    assert chosen.load(half.home_id) is not None
    assert list(backend.secrets) == [("agent-feedback-loop", half.home_id)]
    assert sorted(os.listdir(paths.keys)) == ["names.key", "vault.pub"]


def test_a_locked_keyring_is_an_error_that_says_so(home: pathlib.Path, backend: Kept) -> None:
    half = make(Paths(home), KeyringKeystore(), str(home))
    backend.locked = True
    with pytest.raises(VaultError, match="the system keyring refused: the keyring is locked"):
        KeyringKeystore().load(half.home_id)


@pytest.mark.parametrize("empty", [fail.Keyring, null.Keyring])
def test_a_machine_without_a_keyring_says_why(empty: type[KeyringBackend], backend: Kept) -> None:
    keyring.set_keyring(empty())
    viability = KeyringKeystore().viable()
    assert not viability.ok
    assert "headless" in viability.reason
