"""Texts inside texts: what JSON, source code and terminals write for a line break or a sign stands right before a value and looks like its part. Pure."""

from __future__ import annotations

import re

_PLAIN = (("\\n", " \n"), ("\\r", "  "), ("\\t", " \t"))
_SIGNS = re.compile(r"(?:\x1b|\\u001[bB]|\\x1[bB]|\\033|\\e)\[[0-9;?]*[A-Za-z]|\\u00(?:2[267]|3[cCdDeE])")
"""Colours and cursor moves of a terminal; the signs that JSON writers escape for HTML."""


def opened(text: str) -> str | None:
    """The same length, escapes as what they stand for behind blanks; None where there is none."""
    if "\\" not in text and "\x1b" not in text:
        return None
    seen = text
    for escape, plain in _PLAIN:
        seen = seen.replace(escape, plain)
    if "\x1b" in seen or "\\" in seen:
        seen = _SIGNS.sub(_blanked, seen)
    return None if seen == text else seen


def _blanked(found: re.Match[str]) -> str:
    escape = found.group()
    if "[" in escape:
        return " " * len(escape)
    return " " * 5 + chr(int(escape[2:], 16))
