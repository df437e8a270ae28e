"""What redactors are asked for by the settings is given to those that know it, and a name that nobody knows is refused."""

from __future__ import annotations

from collections.abc import Collection
from typing import ClassVar

import attrs
import pytest

from afl_core.model.errors import SettingsError
from afl_core.plugins.isolation import Guard, MemoryLedger
from afl_core.redaction.options import known_options, option_names, with_options
from afl_core.spec.redactor import HasOptions, Redaction, Redactor


@attrs.frozen
class Plain:
    """Has no options."""

    name: str = "plain"
    version: str = "1"

    def redact(self, text: str) -> Redaction:
        return Redaction(text)


@attrs.frozen
class Personal(Plain):
    """Has two."""

    on: tuple[str, ...] = ()
    options: ClassVar[dict[str, str]] = {"email": "Addresses of people.", "phone": "Their numbers."}

    def with_options(self, names: Collection[str]) -> Redactor:
        if set(names) - self.options.keys():
            raise ValueError(names)
        return attrs.evolve(self, on=tuple(names))


def asked(*names: str) -> list[tuple[str, Redactor]]:
    return with_options([("a", Plain()), ("b", Personal())], names, Guard(MemoryLedger()))


def test_names_are_parted_by_commas_and_told_once() -> None:
    assert option_names(" phone,email ,,phone") == ("email", "phone")
    assert option_names("") == ()


def test_each_redactor_is_given_what_it_knows() -> None:
    assert isinstance(Personal(), HasOptions)
    assert not isinstance(Plain(), HasOptions)
    assert asked("email") == [("a", Plain()), ("b", Personal(on=("email",)))]
    assert asked() == [("a", Plain()), ("b", Personal())]


def test_an_unknown_name_is_refused_with_those_that_exist() -> None:
    with pytest.raises(SettingsError, match="no redactor has the option 'iban'") as refused:
        asked("email", "iban")
    assert refused.value.hint == "there are: email, phone"
    with pytest.raises(SettingsError) as refused:
        with_options([("a", Plain())], ("email",), Guard(MemoryLedger()))
    assert refused.value.hint == "there are: none; take the setting away"


@pytest.mark.parametrize("answer", [None, 1, "redactor"])
def test_a_redactor_that_gives_none_back_is_refused(answer: object) -> None:
    class Wrong(Personal):
        def with_options(self, names: Collection[str]) -> Redactor:
            return answer  # type: ignore[return-value]

    with pytest.raises(SettingsError, match="gave no redactor") as refused:
        with_options([("a", Wrong())], ("email",), Guard(MemoryLedger()))
    assert refused.value.code == "AFL-SETTINGS-006"


def test_a_redactor_that_refuses_its_own_option_is_named() -> None:
    class Refusing(Personal):
        def with_options(self, names: Collection[str]) -> Redactor:
            raise ValueError("no")

    with pytest.raises(SettingsError, match="plug-in 'a' refuses email"):
        with_options([("a", Refusing())], ("email",), Guard(MemoryLedger()))


def test_every_option_is_told_with_its_sentence() -> None:
    assert known_options([("a", Plain()), ("b", Personal())]) == Personal.options
