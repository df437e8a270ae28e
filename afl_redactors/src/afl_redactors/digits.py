"""Where numbers may stand: places near 13 to 19 digits, found by looking at every fourth character, or near nine. Knows nothing about rules."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

SHORTEST, LONGEST = 13, 19
"""Digits of a long number. They stand together, or in groups of four or more with one space or hyphen between two groups."""

_STRIDE = 4
_KINDS = bytes(48 if 48 <= code <= 57 else 32 if code in b" -" else 46 for code in range(256))
"""0 for each digit, a space for what may separate groups, a dot for everything else."""
_SAMPLED = re.compile(rb"00(?: ?0)|0 00")
"""What is left of every long number: of four characters in this distance at most one is a separator, and of three together none."""
_TOGETHER = b"0" * SHORTEST
"""What every long number holds once nothing separates its groups."""
_WHOLE = (_TOGETHER, b"0000 0000")
"""What one of stands in every long number."""
_SEPARATORS = b" -"
_NUMBER = re.compile(rb"0(?: {0,2}0){8}")
"""Nine digits with up to two separators between them."""
_IN_NUMBERS = bytes(48 if 48 <= code <= 57 else 32 if code in b" -./()" else 46 for code in range(256))
_ROOM = 48
"""Characters before and behind a place within which its number stands."""
_FEW = 1024
"""Characters for each place that is looked at by itself; where there are more places, the whole text is looked at closely first."""

Span = tuple[int, int]


def near_long_numbers(text: str) -> list[Span]:
    """Parts of the text, disjoint and in order, in one of which each long number stands whole, with what is right before and behind it."""
    sampled = _bytes(text[::_STRIDE]).translate(_KINDS)
    if b"00" not in sampled:
        return []
    most = 1 + len(text) // _FEW
    places = [found.start() * _STRIDE for found in islice(_SAMPLED.finditer(sampled), most + 1)]
    if len(places) > most:
        given = _bytes(text)
        if _TOGETHER not in given.translate(_KINDS, _SEPARATORS):
            return []
        kinds = given.translate(_KINDS)
        places = sorted(place for part in _WHOLE for place in _all(part, kinds))
    else:
        places = [place for place in places if _is_near_one(text, place)]
    return around(places, text, _ROOM) if places else []


def _is_near_one(text: str, place: int) -> bool:
    """Whether as many digits as a long number has stand around the place, with nothing but separators between them."""
    return _TOGETHER in _bytes(text[max(0, place - _ROOM) : place + _ROOM]).translate(_KINDS, _SEPARATORS)


def near_numbers(text: str) -> list[Span]:
    """Parts of the text in which each number of nine digits or more stands whole, however it is grouped."""
    return around([found.start() for found in _NUMBER.finditer(_bytes(text).translate(_IN_NUMBERS))], text, _ROOM)


def around(places: list[int], text: str, room: int) -> list[Span]:
    """Disjoint parts of the text, in order, around places that are in order."""
    parts: list[Span] = []
    for place in places:
        start, end = max(0, place - room), min(len(text), place + 2 * room)
        if parts and start <= parts[-1][1]:
            parts[-1] = (parts[-1][0], end)
        else:
            parts.append((start, end))
    return parts


def _all(part: bytes, kinds: bytes) -> Iterator[int]:
    """Where the part stands, each time behind the last."""
    at = kinds.find(part)
    while at >= 0:
        yield at
        at = kinds.find(part, at + len(part))


def _bytes(text: str) -> bytes:
    """One byte a character."""
    return text.encode("latin-1", "replace")
