"""Salts, and what else is given in quotes to a name that says little: random text behind `salt`, `_api`, `auth`, `authentication`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from afl_redactors import guesses, lookalikes
from afl_redactors.markers import already_redacted
from afl_redactors.rules import Lead, Rule, Span, leading, matching
from afl_redactors.values import LONGEST_TAIL, read_value
from afl_redactors.windows import View

_GIVEN = re.compile(
    r"""salt(?:_?key|_?value|_?hex|_?base64)?\d{0,2}\\{0,3}["']?\]?[ \t]{0,4}(?:=>|:=|[:=,](?![:=])|:[ ]?[A-Za-z\[\]]{3,16}[ ]=)[ \t]{0,4}(?=[bBrRuU]{0,2}\\{0,3}["'])""",
    re.IGNORECASE,
)
_SIGNS = frozenset("!@#$%^&*+=~?|;<>{}()\\")
_LEAST = 8
_ESCAPES = re.compile(r"\\(?:x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|[0-7])")
_PARTS = re.compile(r"[A-Za-z][A-Za-z0-9]{0,24}(?:[:._/ -][A-Za-z0-9]{1,24}){1,8}")
"""Names with what joins them: whose salt it is."""


def _salt(view: View, found: re.Match[str]) -> Iterator[Span]:
    if view.text[found.start() - 1 : found.start()].islower() and view.text[found.start()] == "s":
        return  # the end of another word, such as "basalt"
    value = read_value(view, found.end(), tail=LONGEST_TAIL)
    if value is None or not value.quoted or already_redacted(value.text) or not _is_drawn(value.text):
        return
    yield value.start, value.end


def _is_drawn(value: str) -> bool:
    """Say whether a value is random text and no name: letters and digits that are mixed, or signs that names have not."""
    escapes = len(_ESCAPES.findall(value)) if len(value) >= _LEAST else 0
    if escapes >= 2 or (escapes and sum(one.isdigit() for one in value) >= 10):
        return True
    if len(value) < _LEAST or lookalikes.is_placeholder(value) or lookalikes.is_reference(value) or lookalikes.is_path(value):
        return False
    if _PARTS.fullmatch(value):
        return False
    digit, letter = any(one.isdigit() for one in value), any(one.isalpha() for one in value)
    if digit and sum(one in _SIGNS for one in value) >= 2 and "{{" not in value:
        return True
    escaped = value.count("\\") >= 2 or ("\\" in value and len(value) >= 12)
    return digit and letter and (escaped or guesses.is_random(value) or guesses.is_mixed(value))


_VAGUE = re.compile(
    r"""(?:(?<=[a-z0-9])_api|(?<![A-Za-z])auth(?:entication|orization)?|(?<=_)auth(?:entication|orization)?)\\{0,3}["']?\]?[ \t]{0,4}(?:=>|:=|[:=](?![:=]))[ \t]{0,4}
    [bBrRuU]?\\{0,3}["'](?P<value>[A-Za-z0-9+/_.=~-]{20,1024})(?=\\{0,3}["'])""",
    re.IGNORECASE | re.VERBOSE,
)
_VAGUELY = tuple(
    f"{name}{more}" for name in ("_api", "auth", "authentication", "authorization") for more in ("=", " =", ":", " :", '"', "'", "\\")
)


def _random(_view: View, found: re.Match[str]) -> Iterator[Span]:
    if guesses.is_random(found["value"]) and guesses.is_mixed(found["value"]) and not already_redacted(found["value"]):
        yield found.span("value")


_GIVEN_RANDOM = Rule("assignment", _VAGUELY, matching(_VAGUE, _random), before=2, after=96)
_RULE = Rule("salt", ("salt",), matching(_GIVEN, _salt), before=1, after=64)
RULES = (_RULE, _GIVEN_RANDOM)
LEADS: tuple[Lead, ...] = (leading(_RULE, _GIVEN.match), leading(_GIVEN_RANDOM, _VAGUE.match))
