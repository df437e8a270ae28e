"""The signature of an error text: failures that differ only in numbers, names and places count as one. Pure."""

from __future__ import annotations

import hashlib
import re

READ = 2_048
"""Characters of an error text that decide; the rest is usually a trace that differs each time."""

_QUOTED = re.compile(r"\"[^\"\n]{0,400}\"|(?<!\w)'[^'\n]{0,400}'|`[^`\n]{0,400}`|\u201c[^\u201d\n]{0,400}\u201d")
_NUMBERS = (
    (re.compile(r"\b0x[0-9a-f]+\b|\b(?=[0-9a-f-]*\d)[0-9a-f]{4,}(?:-[0-9a-f]{2,})*\b"), "#"),
    (re.compile(r"\d+(?:[.,:]\d+)*"), "#"),
)


def folded(text: str) -> str:
    """The text as it is compared: lower case, white space single, quotes and paths named, hexadecimal and numbers one sign."""
    # Order matters: a quoted path is a quoted string, a path may hold numbers, an id holds hex.
    text = _QUOTED.sub("<text>", " ".join(text[:READ].lower().split()))
    text = " ".join("<path>" if "/" in word or "\\" in word else word for word in text.split(" "))
    for mark, name in _NUMBERS:
        text = mark.sub(name, text)
    return text


def signature(text: str) -> str | None:
    """16 hex digits of the folded text; None when there is no text to compare."""
    shape = folded(text)
    return hashlib.sha256(shape.encode("utf-8", "surrogatepass")).hexdigest()[:16] if shape else None
