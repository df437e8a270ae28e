"""Where long numbers may stand: places near 13 to 19 digits, found by looking at every fourth character. Knows nothing about rules."""

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
_ROOM = 32
"""Characters before and behind a place within which its number stands."""
_FEW = 1024
"""Characters for each place that is looked at by itself; where there are more places, the whole text is looked at closely first."""

Span = tuple[int, int]


def near_long_numbers(text: str) -> list[Span]:
    """Parts of the text, disjoint and in order, in one of which each long number stands whole, with what is right before and behind it."""
    most = 1 + len(text) // _FEW
    places = [found.start() * _STRIDE for found in islice(_SAMPLED.finditer(_kinds(text[::_STRIDE])), most + 1)]
    if len(places) > most:
        if _TOGETHER not in _bytes(text).translate(_KINDS, _SEPARATORS):
            return []
        kinds = _kinds(text)
        places = sorted(place for part in _WHOLE for place in _all(part, kinds))
    parts: list[Span] = []
    for place in places:
        start, end = max(0, place - _ROOM), min(len(text), place + 2 * _ROOM)
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


def _kinds(text: str) -> bytes:
    """What kind each character is of."""
    return _bytes(text).translate(_KINDS)


def _bytes(text: str) -> bytes:
    """One byte a character."""
    return text.encode("latin-1", "replace")
