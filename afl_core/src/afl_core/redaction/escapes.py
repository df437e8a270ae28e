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


class _Selection:
    """The lines of a text that hold an escape, each with the one behind it: the others read the same however many levels are open."""

    def __init__(self, text: str) -> None:
        self._stretches: list[tuple[int, int]] = []
        self._starts: list[int] = []
        parts: list[str] = []
        length = 0
        for begin, end in _stretches(text):
            if parts:
                parts.append(_GAP)
                length += len(_GAP)
            self._stretches.append((begin, end))
            self._starts.append(length)
            parts.append(text[begin:end])
            length += end - begin
        self.text = "".join(parts)

    def origin(self, start: int, end: int) -> tuple[int, int]:
        """Nothing reaches from one stretch into another."""
        at = bisect_right(self._starts, start) - 1
        begin, stop = self._stretches[at]
        shift = begin - self._starts[at]
        return min(start + shift, stop), min(end + shift, stop)


_GAP = "\n[REDACTED:gap]\n"
"""What stands between two stretches: no rule reads across a marker."""


def _stretches(text: str) -> Iterator[tuple[int, int]]:
    """Where those lines stand, neighbours together, in order."""
    begin = stop = -1
    at = _next_escape(text, 0)
    while at >= 0:
        line = text.rfind("\n", 0, at) + 1
        end = text.find("\n", at)
        end = len(text) if end < 0 else end
        behind = text.find("\n", end + 1) if end < len(text) else end
        behind = len(text) if behind < 0 else behind
        if line > stop:
            if begin >= 0:
                yield begin, stop
            begin = line
        stop = behind
        at = _next_escape(text, end)
    if begin >= 0:
        yield begin, stop


def _next_escape(text: str, start: int) -> int:
    slash, screen = text.find("\\", start), text.find("\x1b", start)
    return slash if screen < 0 else screen if slash < 0 else min(slash, screen)


class Reading:
    """A text with some levels of escapes open. `texts`: what is opened, and after each level; `selection`: where that stands in the whole."""

    def __init__(self, texts: Sequence[str], selection: _Selection | None = None) -> None:
        self._texts = texts
        self._selection = selection
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
        return (start, end) if self._selection is None else self._selection.origin(start, end)


class Readings:
    """The readings of one text, each level opened once."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._selection: _Selection | None = None
        self._texts: list[str] = []

    def at(self, depth: int) -> Reading | None:
        """With so many levels open; None when it does not have as many."""
        if depth == 0:
            return Reading((self._text,))
        if self._selection is None:
            if "\\" not in self._text and "\x1b" not in self._text:
                return None
            self._selection = _Selection(self._text)
            self._texts = [self._selection.text]
        while len(self._texts) <= depth:
            before = self._texts[-1]
            level = opened(before) if "\\" in before or "\x1b" in before else before
            if level == before:
                return None
            self._texts.append(level)
        return Reading(self._texts[: depth + 1], self._selection)
