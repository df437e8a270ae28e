"""A value that stands before its name: `{"value": "X", "key": "password"}`, `- value: X` above `name: DB_PASSWORD`, `<add value="X" key="Password"/>`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from afl_redactors import lookalikes
from afl_redactors.families.judging import worth_hiding
from afl_redactors.keys import CREDENTIAL_NAME, GUESSED, WORDS, Trust, judge, left_of
from afl_redactors.rules import Rule, Span, matching
from afl_redactors.values import LONGEST_TAIL, read_value
from afl_redactors.windows import Clip, View

_NAMED = re.compile(rf"(?P<word>{CREDENTIAL_NAME})(?P<suffix>[A-Za-z0-9_.\-]{{0,48}})(?=[\"'`\\,}}\r\n]|$)", re.VERBOSE | re.IGNORECASE)
_FIELD = r"\\{0,7}[\"']?[ \t]{0,4}[:=][ \t]{0,4}"
_NAME_LEFT = re.compile(rf"(?:name|key|field|variable){_FIELD}\\{{0,7}}[\"']?[\w.$-]{{0,64}}$", re.IGNORECASE)
_VALUE = re.compile(rf"(?<![A-Za-z])(?:parameter)?value{_FIELD}(?=\S)", re.IGNORECASE)
_BETWEEN = re.compile(
    rf"\\{{0,7}}[\"'`]?[ \t]{{0,4}}(?:[,;]|(?=[ \r\n]))\s{{0,40}}(?:\\{{0,7}}[\"']?[A-Za-z][\w-]{{0,32}}{_FIELD}(?:\\{{0,7}}[\"'][^\"'\n\\]{{0,80}}\\{{0,7}}[\"']|[\w.-]{{1,40}})[ \t]{{0,4}}(?:[,;]|(?=[ \r\n]))\s{{0,40}}){{0,2}}\\{{0,7}}[\"']?[A-Za-z_-]{{0,16}}$"
)
"""From the end of a value to the name of the field that names it: other fields of the same object, and no bracket or item."""
_ROOM = 400


def _value_before(view: View, start: int) -> int:
    """Return where the value before the named field begins; 0 where there is none."""
    low = max(0, start - _ROOM)
    field = _NAME_LEFT.search(view.text, max(low, start - 96), start)
    if field is None:
        return 0
    for found in reversed(list(_VALUE.finditer(view.text, low, field.start()))):
        return found.end()
    return 0


def _before(view: View, found: re.Match[str]) -> Iterator[Span]:
    text = view.text
    at = _value_before(view, found.start())
    trust = judge(left_of(text, found.start()), found["word"], found["suffix"])
    if not at or trust in {Trust.NONE, *GUESSED}:
        return
    field = _NAME_LEFT.search(text, max(0, found.start() - 96), found.start())
    value = read_value(view, at, found.start(), tail=LONGEST_TAIL)
    if value is None or field is None or value.end >= field.start() or not _BETWEEN.fullmatch(text, value.end, field.start()):
        return
    if not value.quoted and (lookalikes.is_code(value.text) or "=" in text[at - 2 : at]):
        return
    if worth_hiding(view, value, Trust.STRONG, ":", tight=False):
        yield value.start, value.end


BEFORE = Rule("assignment", WORDS, matching(_NAMED, _before, named=True), before=16, after=120, clip=Clip.NOTHING)
RULES = (BEFORE,)


ENDS = frozenset("\"'`\\,}\r\n") | {""}
"""What stands behind such a name, or nothing."""


def worth(view: View, start: int) -> bool:
    """Say whether a value may stand before the field that a telling part at `start` is the content of."""
    low = max(0, start - _ROOM)
    return view.seen.rfind("value", low, start) >= 0 and _value_before(view, start) > 0
