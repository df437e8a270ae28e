"""Texts inside texts: what JSON, source code and terminals write for a quote or a line break hides where a value begins. Pure.

A text is read as it is and once more for each level of escapes in it; what is found leads back to where it stands in the text as it is.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence

MAX_DEPTH = 3
"""Levels of escapes that are opened: a script with strings in it, in the JSON of a tool's input, in a log that is JSON itself."""

_ESCAPE = re.compile(
    r"""\\(?P<sign>["'/\\])|\\(?P<white>[nrt])|\\u00(?P<code>[2-7][0-9A-Fa-f])|(?P<screen>(?:\x1b|\\u001[bB]|\\x1[bB]|\\033|\\e)\[[0-9;?]*[A-Za-z])"""
)
"""`screen`: colours and cursor moves of a terminal."""

_WHITE = {"n": "\n", "r": "\r", "t": "\t"}


_SIGNS = {'"': '"', "'": "'", "/": "/", **_WHITE}
_RARE = re.compile(r"u00[2-7][0-9A-Fa-f]|(?:u001[bB]|x1[bB]|033|e)\[[0-9;?]*[A-Za-z]")
"""The others, behind their backslash."""


def opened(text: str) -> str:
    """One level of escapes opened: nearly all texts hold nothing, so where a place leads back to is found out only when it is asked for."""
    if "\x1b" in text:
        return _slowly(text)
    parts = text.split("\\")
    made = [parts[0]]
    at, count = 1, len(parts)
    while at < count:
        part = parts[at]
        if sign := _SIGNS.get(part[:1]):
            made.append(sign + part[1:])
        elif not part and at + 1 < count:  # an escaped backslash
            at += 1
            made.append("\\" + parts[at])
        elif _RARE.match(part):
            return _slowly(text)
        else:
            made.append("\\" + part)
        at += 1
    return "".join(made)


def _slowly(text: str) -> str:
    return "".join(plain for _, _, plain in _pieces(text))


def _pieces(text: str) -> Iterator[tuple[int, int, str]]:
    """(start, end, what it reads as) of every stretch of a text, in order; an escape is one of its own."""
    at = 0
    for found in _ESCAPE.finditer(text):
        start, end = found.span()
        if start > at:
            yield at, start, text[at:start]
        yield start, end, _plain(found)
        at = end
    if at < len(text):
        yield at, len(text), text[at:]


def _plain(found: re.Match[str]) -> str:
    """The one character that an escape stands for; a blank for what only a screen shows."""
    if sign := found["sign"]:
        return sign
    if white := found["white"]:
        return _WHITE[white]
    return chr(int(found["code"], 16)) if found["code"] else " "


class _Level:
    """Where the parts of an opened text stand in the text as it was."""

    def __init__(self, text: str) -> None:
        self._pieces = list(_pieces(text))
        self._starts: list[int] = []
        length = 0
        for _, _, plain in self._pieces:
            self._starts.append(length)
            length += len(plain)

    def origin(self, start: int, end: int) -> tuple[int, int]:
        """An escape is taken whole."""
        first, last = bisect_right(self._starts, start) - 1, bisect_right(self._starts, end - 1) - 1
        begin = self._pieces[first][0]
        last_begin, last_end, last_plain = self._pieces[last]
        inside, last_inside = start - self._starts[first], end - self._starts[last]
        return begin + inside, last_end if last_inside == len(last_plain) else last_begin + last_inside


class Reading:
    """A text with some levels of escapes open. `texts`: as it is, and after each level."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._texts = texts
        self._levels: list[_Level] = []

    @property
    def text(self) -> str:
        """What is read."""
        return self._texts[-1]

    def origin(self, start: int, end: int) -> tuple[int, int]:
        """Where a part of it stands in the text as it is."""
        if not self._levels:
            self._levels = [_Level(text) for text in self._texts[:-1]]
        for level in reversed(self._levels):
            start, end = level.origin(start, end)
        return start, end


class Readings:
    """The readings of one text, each level opened once."""

    def __init__(self, text: str) -> None:
        self._texts = [text]

    def at(self, depth: int) -> Reading | None:
        """With so many levels open; None when it does not have as many."""
        while len(self._texts) <= depth:
            before = self._texts[-1]
            level = opened(before) if "\\" in before or "\x1b" in before else before
            if level == before:
                return None
            self._texts.append(level)
        return Reading(self._texts[: depth + 1])
