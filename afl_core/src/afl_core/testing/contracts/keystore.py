"""The contract of a keystore as tests: subclass `KeystoreContract`, return your keystore from `make`; `directory` is a fresh private directory."""

from __future__ import annotations

import abc
import os
import pathlib

from afl_core.spec.keystore import Keystore


class KeystoreContract(abc.ABC):
    """A keystore gives back what it was given, by home, and nothing for a home it does not know."""

    @abc.abstractmethod
    def make(self, directory: pathlib.Path) -> Keystore:
        """Return a keystore that keeps its secrets for `directory`; called twice it must find what the first one saved."""

    def test_it_says_whether_it_can_be_used_here(self, tmp_path: pathlib.Path) -> None:
        """And why not, in one line."""
        keystore = self.make(tmp_path)
        viability = keystore.viable()
        assert viability.ok or (viability.reason and "\n" not in viability.reason)
        assert keystore.name
        assert isinstance(keystore.priority, int)

    def test_it_has_nothing_before_something_was_saved(self, tmp_path: pathlib.Path) -> None:
        """None, not an error."""
        assert self.make(tmp_path).load("0" * 16) is None

    def test_it_gives_back_what_was_saved_also_to_another_instance(self, tmp_path: pathlib.Path) -> None:
        """32 bytes, any bytes."""
        secret = os.urandom(32)
        self.make(tmp_path).save("0" * 16, secret)
        assert self.make(tmp_path).load("0" * 16) == secret

    def test_its_warning_is_one_line(self, tmp_path: pathlib.Path) -> None:
        """Shown at install and by doctor; '' when there is nothing to say."""
        assert "\n" not in self.make(tmp_path).warning()
