"""How much a value looks like a credential by itself: chosen by somebody, or random. Pure questions about one value."""

from __future__ import annotations

import re

from afl_redactors import lookalikes
from afl_redactors.checks import entropy

SYMBOLS = frozenset("!@#$%^&*+=~?|;<>")
"""What people put into passwords, and names and paths have not."""

_WORD = re.compile(r"\S{5,512}")
_MEASURE = re.compile(
    r"""[A-Za-z]|-?\d{1,3}|-?\d{1,9}\.\d{1,9}(?:rem|em|px|%|s|ms|vh|vw|f)?|-?\d{1,9}[ ]?(?:rem|em|px|%|ms|s|m|h|d|bytes?|bits?|kb|mb|chars?|characters)|
    [\^~<>=]{1,2}[ ]?v?\d{1,6}(?:\.[\dx*]{1,6}){0,3}(?:-[\w.]{1,24})?|v?\d{1,6}\.\d{1,6}\.\d{1,6}(?:[-+][A-Za-z][\w.]{0,24})?|
    ![01]|void[ ]0|TA?\d{4}(?:\.\d{3})?|0x[0-9a-f]{1,8}|-{1,2}[A-Za-z][A-Za-z-]{0,24}|\d{1,2}\*[<(A-Za-z]\S{0,40}|-?\d{1,9}(?:\.\d{1,9})?e[+-]?\d{1,4}|\#(?:[0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})|(?:(?:required|nullable|string|sometimes|confirmed|bail|filled|present|(?:min|max|size|between):[\d,]{1,9})(?:\||$)){1,8}|
    (?:hsl|rgb|rgba|hsla|var|calc|url)\([^()]{0,80}(?:\([^()]{0,80}\))?[^()]{0,20}\)""",
    re.VERBOSE | re.IGNORECASE,
)
_DOTTED = re.compile(r"[a-z_]{1,40}(?:\.[A-Za-z_-]{1,60}){1,8}\.[A-Za-z_][A-Za-z0-9_-]{0,60}")
_CODE_LIKE = re.compile(
    r"[A-Za-z_]\(|\w\[\w{0,40}\]|^[(\[{]|[)\]}];?$|->|=>|::|^[@&*][A-Za-z]|^\$[A-Za-z_]|^%\w{1,40}%|^--?[A-Za-z]|^<[/!A-Za-z]|//"
)
_HEX = re.compile(r"[0-9a-f]{32,128}|[0-9A-F]{32,128}")
_PLAIN_BLOB = re.compile(r"[A-Za-z0-9+/_.=~-]{16,512}")
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_LONG_WORD = re.compile(r"[a-z]{9}|(?:[A-Za-z][a-z]{3,12}[-_./]){2}[a-z]{3}|(?:[A-Z][a-z]{3,12}){3}")


def is_measure(value: str) -> bool:
    """Say whether `value` is a small number, a size, a version, a colour or a dotted name: none of them is ever a credential."""
    return len(value) <= lookalikes.LONG and (_MEASURE.fullmatch(value) is not None or _DOTTED.fullmatch(value) is not None)


def is_chosen(value: str) -> bool:
    """Say whether `value` looks like a password somebody chose or was given: one word of letters with a digit or a symbol in it."""
    if _WORD.fullmatch(value) is None:
        return len(value) > lookalikes.LONG
    letters = any(letter.isalpha() for letter in value)
    digit, symbol = any(letter.isdigit() for letter in value), not SYMBOLS.isdisjoint(value)
    if not letters or not (digit or symbol) or _CODE_LIKE.search(value):
        return False
    if is_measure(value) or lookalikes.is_placeholder(value) or lookalikes.is_reference(value) or lookalikes.is_file_of_a_secret(value):
        return False
    known = lookalikes.is_known_shape(value) and not ("#" in value[1:] and is_mixed(value))
    return not known and not lookalikes.is_path(value) and not lookalikes.is_pattern(value)


def is_sure(value: str) -> bool:
    """Say whether a chosen `value` has more than a name with a number has: a symbol, or small and capital letters with a digit."""
    if not is_chosen(value):
        return False
    return not SYMBOLS.isdisjoint(value) or is_mixed(value) or is_random(value)


def is_mixed(value: str) -> bool:
    """Say whether `value` has small and capital letters and a digit."""
    return (
        any(letter.islower() for letter in value)
        and any(letter.isupper() for letter in value)
        and any(letter.isdigit() for letter in value)
    )


def is_uuid(value: str) -> bool:
    """Say whether `value` is a UUID."""
    return _UUID.fullmatch(value) is not None


def is_random(value: str) -> bool:
    """Say whether `value` looks made by a machine: long, digits among letters, no words."""
    if _HEX.fullmatch(value):
        return entropy(value) >= 2.5
    if _PLAIN_BLOB.fullmatch(value) is None or _UUID.fullmatch(value) or _LONG_WORD.search(value):
        return False
    digits = sum(letter.isdigit() for letter in value)
    return digits >= 2 and any(letter.isalpha() for letter in value) and entropy(value) >= 3.2 and not lookalikes.is_known_shape(value)
