"""Reading a value of unknown shape: typed, bounded, and refused with its path (`lessons[0].card.when: missing`). Knows no receipt."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import attrs

from afl_core.model.errors import ReviewError

T = TypeVar("T")

ID_CHARS = 200
"""Characters of an id or a name."""

TEXT_CHARS = 2_000
"""Characters of a free text that has no limit of its own."""

LIST_ITEMS = 32
"""Items of any list."""

MAX_DEPTH = 64
"""Objects and lists inside each other."""


def refuse(path: str, problem: str) -> ReviewError:
    """The error of a value at `path`."""
    return ReviewError(f"{path}: {problem}", reason="receipt_shape", code="AFL-REVIEW-010")


@attrs.frozen
class Part:
    """A JSON object at a path. Every reader raises `ReviewError` (receipt_shape) for what is missing, of another type, empty or too long."""

    value: Mapping[str, Any]
    path: str

    @classmethod
    def of(cls, value: object, path: str) -> Part:
        """`value` as an object."""
        if not isinstance(value, Mapping):
            raise refuse(path or "receipt", f"must be an object, not {_named(value)}")
        return cls(value, path)

    def at(self, name: str) -> str:
        """The path of a member."""
        return f"{self.path}.{name}" if self.path else name

    def only(self, *names: str) -> None:
        """Refuse every member that is not named."""
        for name in self.value:
            if name not in names:
                raise refuse(self.at(str(name)[:ID_CHARS]), "unknown")

    def has(self, name: str) -> bool:
        """Whether a member is there and not null."""
        return self.value.get(name) is not None

    def text(self, name: str, limit: int = TEXT_CHARS) -> str:
        """A text that says something, stripped."""
        if name not in self.value:
            raise refuse(self.at(name), "missing")
        return bounded_text(self.value[name], self.at(name), limit)

    def text_or_none(self, name: str, limit: int = TEXT_CHARS) -> str | None:
        """A text that says something, or None when it is null, absent or blank."""
        value = self.value.get(name)
        if value is None or (isinstance(value, str) and not value.strip()):
            return None
        return bounded_text(value, self.at(name), limit)

    def text_or_empty(self, name: str, limit: int) -> str:
        """A text, stripped; empty when it is null, absent or blank."""
        return self.text_or_none(name, limit) or ""

    def choice(self, name: str, choices: tuple[str, ...], default: str | None = None) -> str:
        """One of `choices`; the default stands for an absent or null one."""
        if default is not None and not self.has(name):
            return default
        value = self.text(name, ID_CHARS)
        if value not in choices:
            raise refuse(self.at(name), f"must be one of {', '.join(choices)}")
        return value

    def flag(self, name: str) -> bool:
        """True or false."""
        value = self.value.get(name)
        if not isinstance(value, bool):
            raise refuse(self.at(name), "missing" if name not in self.value else "must be true or false")
        return value

    def number(self, name: str, low: int) -> int:
        """A whole number of at least `low`."""
        value = self.value.get(name)
        if isinstance(value, bool) or not isinstance(value, int):
            raise refuse(self.at(name), "missing" if name not in self.value else "must be a whole number")
        if value < low:
            raise refuse(self.at(name), f"must be at least {low}")
        return value

    def texts(self, name: str, *, least: int = 0, most: int = LIST_ITEMS, limit: int = TEXT_CHARS) -> tuple[str, ...]:
        """A list of texts that say something."""
        return self.each(name, lambda value, path: bounded_text(value, path, limit), least=least, most=most)

    def each(self, name: str, read: Callable[[object, str], T], *, least: int = 0, most: int = LIST_ITEMS) -> tuple[T, ...]:
        """A list, each item read with its path; an absent or null one is empty."""
        value = self.value.get(name)
        if value is None:
            value = []
        if not isinstance(value, list | tuple):
            raise refuse(self.at(name), f"must be a list, not {_named(value)}")
        if len(value) < least:
            raise refuse(self.at(name), f"must have at least {least} item{'' if least == 1 else 's'}, has {len(value)}")
        if len(value) > most:
            raise refuse(self.at(name), f"must have at most {most} items, has {len(value)}")
        return tuple(read(item, f"{self.at(name)}[{index}]") for index, item in enumerate(value))


def bounded_text(value: object, path: str, limit: int) -> str:
    """A text that says something, stripped, of at most `limit` characters."""
    if not isinstance(value, str):
        raise refuse(path, f"must be a text, not {_named(value)}")
    text = value.strip()
    if not text:
        raise refuse(path, "empty")
    if len(text) > limit:
        raise refuse(path, f"must have at most {limit} characters, has {len(text)}")
    if "\0" in text or any("\ud800" <= character <= "\udfff" for character in text):
        raise refuse(path, "holds characters that are no text")
    return text


def _named(value: object) -> str:
    names = {type(None): "null", bool: "a truth value", int: "a number", float: "a number", str: "a text", list: "a list", tuple: "a list"}
    return names.get(type(value), "an object")
