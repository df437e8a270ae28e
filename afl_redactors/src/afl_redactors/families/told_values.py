"""Whether what stands beside a credential word in a sentence is its value or an ordinary word that goes on. Pure questions, in any language."""

from __future__ import annotations

import re
from enum import IntEnum
from itertools import pairwise

import attrs

from afl_redactors import lookalikes
from afl_redactors.families.told_grammar import Grammar, Word

_ALGORITHM = re.compile(
    r"(?:argon2(?:id|[id])?|bcrypt|[sy]?crypt|pbkdf2|sha-?\d{1,3}(?:-\d{3})?|md[45]|hmac(?:-?sha\d{1,3})?|aes-?\d{0,3}(?:-?[cg][a-z]{2})?|rsa-?\d{0,4}|ed25519|"
    r"es256|[hr]s(?:256|384|512)|base(?:16|32|58|64)(?:url)?|utf-?\d{1,2}|oauth-?2?|oidc|jwt|totp|hotp|fido2?|u2f|2fa|mfa|wpa[23]?|x\.?509|pkcs-?\d{0,2}|ascii|k8s|s3|ec2|"
    r"latin-?1|ipv[46]|http2?|ssh2?|redis\d?|postgres\d{0,2}|mysql\d?|python\d?|win\d{2}|windows\d{0,4}|node\d{0,2}|i18n|l10n)",
    re.IGNORECASE,
)
_SPEAKING = re.compile(
    r"[a-z]{2,20}(?:-[a-z]{1,20}){1,6}-\d{1,4}|[A-Za-z]{4,20}\d{3,8}|[A-Z][A-Z0-9]{1,9}-\d{3,6}|[^\W\d_][\w.-]{2,30}#\d{1,8}"
)
"""Shapes of regions, tickets and standards that a password has as well."""
_WORD_AND_NUMBER = re.compile(r"[A-Z]?[a-z]{1,60}\d{1,2}")
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_HEX = re.compile(r"[0-9a-f]{16,512}", re.IGNORECASE)
_COUNTED = re.compile(r"\d{1,8}-[^\W\d]{1,40}")
_OF_CODE = re.compile(
    r"(?:[a-z]{1,20}_){0,4}id(?:_\d{1,4})?|[A-Za-z_]{2,30}\d{0,6}(?::[A-Za-z_]{0,30}\d{0,6}){1,8}|[a-z_]{3,30}(?:\.[a-z_]{2,30}\d?){1,5}"
)
"""A column, a key of a cache, an attribute."""
_SIGN = re.compile(r"[^\w.\-/:]")
_UNTRUE = frozenset("(=<>[{|,;")


class Said(IntEnum):
    """By what a value is joined to its word: nothing or a preposition, a copula, what only stands before a value."""

    LOOSE = 0
    JOINT = 1
    FIRM = 2


@attrs.frozen
class Place:
    """Where a value stands: by which word, how joined; whether quoted, whether the clause ends behind it, and whether a number counts something."""

    word: Word
    said: Said
    quoted: bool
    ends: bool
    counts: bool


def is_value(content: str, place: Place, grammar: Grammar) -> bool:
    """Say whether `content` is what the word in that place stands for."""
    if len(content) > lookalikes.LONG:
        return True
    bare = content.rstrip("!?.") if not place.quoted else content
    if not bare or _is_no_credential(content) or lookalikes.is_type(bare) or _ALGORITHM.fullmatch(bare):
        return False
    if not place.quoted and (content[0] in _UNTRUE or lookalikes.is_code(content)):
        return False
    if bare.isdecimal():
        return place.word is Word.SURE and not place.counts and len(bare) >= (6 if place.said is Said.LOOSE else 4)
    if lookalikes.is_plain(bare):
        return _is_plain_value(bare, place, grammar)
    if any(letter.isspace() for letter in content):
        return _are_words(content, place, grammar)
    return _is_mixed_value(bare, place, spaced=grammar.spaced)


def _is_no_credential(content: str) -> bool:
    return lookalikes.is_placeholder(content) or lookalikes.is_reference(content)


def _is_plain_value(word: str, place: Place, grammar: Grammar) -> bool:
    if place.said is Said.LOOSE or place.word is Word.VAGUE or len(word) < 4:
        return False
    if lookalikes.names_a_credential(word) or lookalikes.is_prose(word) or grammar.is_ordinary(word):
        return False
    if place.quoted:
        return place.word is Word.SURE or len(word) >= 8
    if place.word is not Word.SURE or not place.ends:
        return False
    return place.said is Said.FIRM or (word.count("-") != 1 and len(word) >= 5)


def _are_words(content: str, place: Place, grammar: Grammar) -> bool:
    words = re.findall(r"[^\W\d_]+", content)
    if place.said is Said.LOOSE or place.word is not Word.SURE or not 2 <= len(words) <= 12 or lookalikes.is_label(content):
        return False
    return not any(word.casefold() in grammar.ordinary or lookalikes.names_a_credential(word) for word in words)


def _is_mixed_value(bare: str, place: Place, *, spaced: bool) -> bool:
    believed = place.word is Word.SURE and place.said is not Said.LOOSE
    if lookalikes.is_known_shape(bare) and not (believed and _SPEAKING.fullmatch(bare)):
        return False
    if _COUNTED.fullmatch(bare) or _OF_CODE.fullmatch(bare) or (lookalikes.is_path(bare) and not (believed and place.quoted)):
        return False
    if place.word is Word.VAGUE:
        return _is_random(bare) and not _UUID.fullmatch(bare) and (place.said is not Said.LOOSE or len(bare) >= 12)
    digit, sign = any(letter.isdigit() for letter in bare), _SIGN.search(bare) is not None
    if believed:
        return len(bare) >= (4 if spaced else 3) and (digit or sign or place.quoted)
    if place.said is Said.LOOSE:
        if place.word is Word.NAMED:
            return _is_random(bare)
        return _stands_out(bare, place, sign=sign, spaced=spaced) and (digit or (place.quoted and sign))
    if place.said is Said.FIRM and digit and not spaced:
        return len(bare) >= 3
    if spaced and bare.islower() and lookalikes.is_name_shape(bare):
        return _is_random(bare)
    return len(bare) >= 6 and digit


def _stands_out(bare: str, place: Place, *, sign: bool, spaced: bool) -> bool:
    """Whether a value with a digit or sign that nothing joins to its word shows by itself that it is one."""
    if len(bare) < 6 or not any(one.isalpha() for one in bare):
        return False
    if place.quoted or sign:
        return True
    simple = _WORD_AND_NUMBER.fullmatch(bare) is not None
    if not spaced:
        return place.ends or not simple
    return not simple and not (bare.islower() and lookalikes.is_name_shape(bare))


def _is_random(bare: str) -> bool:
    """Whether a value looks drawn, not written."""
    digits = sum(letter.isdigit() for letter in bare)
    if len(bare) < 10 or not digits or digits == len(bare):
        return False
    turns = sum(left.isdigit() != right.isdigit() for left, right in pairwise(bare))
    mixed = any(letter.isupper() for letter in bare) and any(letter.islower() for letter in bare)
    return turns >= 3 or mixed or _HEX.fullmatch(bare) is not None or _SIGN.search(bare) is not None
