"""Whether a report says something once markup, fences and completion markers are taken away. Pure."""

from __future__ import annotations

import re

from afl_core.model.words import CJK

MIN_CHARS = 24
"""Characters other than white space of a report in a spaced script."""

MIN_WORDS = 4
"""Different words of it."""

MIN_CJK = 12
"""Or so many characters of Han, Hiragana, Katakana or Hangul."""

_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_FENCE = re.compile(r"^[ \t]*(?:`{3,}|~{3,})[^\n]*$", re.MULTILINE)
_TAG = re.compile(r"</?[A-Za-z][^<>]{0,200}>")
_MARKER = re.compile(
    r"^[ \t]*[\[(<*#_ \t-]*(?:"
    r"done|complete[d]?|finished|end(?: of report)?|ok|pass(?:ed)?|"
    r"(?:review|report|reflection)[ _-]?(?:is[ _-])?(?:complete[d]?|done|finished)|"
    r"(?:write|reflection|review)_complete(?:\s*[:=]\s*true)?|"
    r"afl[ _-][\w-]+"
    r")[\])>*_ \t.!:-]*$",
    re.IGNORECASE | re.MULTILINE,
)
_WORD = re.compile(r"[^\W_]+")
_CJK = re.compile(rf"[{CJK}]")


def is_substantive(report: str) -> bool:
    """At least 24 characters with 4 different words, or 12 CJK characters, remain of the report."""
    bare = _MARKER.sub(" ", _TAG.sub(" ", _FENCE.sub(" ", _COMMENT.sub(" ", report))))
    if len(_CJK.findall(bare)) >= MIN_CJK:
        return True
    words = {word.casefold() for word in _WORD.findall(bare)}
    return len("".join(bare.split())) >= MIN_CHARS and len(words) >= MIN_WORDS
