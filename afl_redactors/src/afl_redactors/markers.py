"""The marker that stands for a removed value, and how rules are kept from reading it. Knows nothing about rules."""

from __future__ import annotations

import re

MARKER = re.compile(r"\[REDACTED:[a-z0-9-]{1,64}\]")
MASK = "\ue000"
"""A private-use character: neither a letter, a digit, a space nor a quote, so a masked marker is no word to any rule."""
_AND_A_LINE = re.compile(MASK + r"\\{1,8}[rnt]")
"""A marker, and a line break as JSON writes it behind it."""
_LINES_BEFORE = re.compile(rf"(?:\\{{1,8}}[rnt][ ]{{0,64}}){{1,16}}(?={MASK})")


def marker(rule: str) -> str:
    """Return what is written in place of a value found by `rule`."""
    return f"[REDACTED:{rule}]"


def masked(text: str) -> str:
    """Return `text`, the same length, with every marker blanked out by `MASK`."""
    if "[REDACTED:" not in text:
        return text
    return MARKER.sub(lambda found: MASK * len(found.group()), text)


def already_redacted(value: str) -> bool:
    """Say whether a masked value holds nothing but markers and punctuation around them, up to an escaped line break behind one."""
    if MASK not in value:
        return False
    line, before = _AND_A_LINE.search(value), _LINES_BEFORE.match(value)
    return not any(letter.isalnum() for letter in value[before.end() if before else 0 : line.start() if line else None])
