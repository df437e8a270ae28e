"""Personal data: what the rules of the pack `personal` find, each searched only where it is switched on. They have no keywords and need no lead."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from functools import cache

from afl_redactors import digits
from afl_redactors.identities import CHECKSUMS
from afl_redactors.packs import PACKS, Spec
from afl_redactors.rules import Span
from afl_redactors.windows import View

OPTIONS: dict[str, str] = {
    "email": "e-mail addresses, except those of documentation and of machines",
    "phone": "telephone numbers: international ones, and national ones in their usual groups",
    "iban": "bank accounts (IBAN) with the right check digits",
    "national-id": "identity, tax and insurance numbers of persons: BR, CN, DE, ES, FR, GB, IN, JP, KR, RU, US",
    "ip-address": "public IP addresses",
    "private-ip-address": "IP addresses of private networks and of documentation",
}
"""What may be switched on, and what it adds."""

_RULES = tuple(one for one in PACKS if one.anchor)
_CUTS = 4
"""How many groups at the end of a match may be none of it: a card's date, a word behind an account."""
_NAME_OF_AN_ID = re.compile(
    r"(?:id|ids|uid|pid|ts|time|timestamp|epoch|nonce|seed|hash|offset|size|bytes|count|seq|sequence|version|revision|serial|tracking|isbn|ean|gtin|upc|imei|iccid|sku)"
    r"[\"'`]?[ \t]{0,2}(?:[:=#]|=>)?[ \t]{0,2}[\"'`]?$",
    re.IGNORECASE,
)
_CARD = re.compile(r"card|visa|amex|diners|maestro|pan|cc|kredit|karte|tarjeta|carte|cartão|карт|カード|카드|卡", re.IGNORECASE)
_BEFORE = 40
_DOUBTED = frozenset({13, 14})
"""Digits of a card that other numbers have as often: they count only near a word for a card."""


def personal(view: View, options: Collection[str]) -> Iterator[tuple[Span, str]]:
    """Where personal data of the switched-on kinds stand, with the name of the rule."""
    for one in _RULES:
        if one.option and one.option not in options:
            continue
        for start, end in _parts(one, view):
            for found in _compiled(one.pattern).finditer(view.text, start, end):
                if span := _checked(one, view, found):
                    yield span, one.id


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def _parts(one: Spec, view: View) -> list[Span]:
    """The parts of the text that a rule reads."""
    if one.anchor == "digits":
        parts = digits.near_long_numbers(view.text)
        view.count(sum(end - start for start, end in parts))
        return parts
    if one.keywords and not any(word in view.folded for word in one.keywords):
        return []
    view.count(len(view.text))
    return [(0, len(view.text))]


def _checked(one: Spec, view: View, found: re.Match[str]) -> Span | None:
    """The value of a match that passes the checks; groups at its end that are none of it are left out."""
    start, end = found.span("value" if "value" in found.re.groupindex else 0)
    for _ in range(_CUTS):
        value = view.text[start:end]
        if not one.checksum or CHECKSUMS[one.checksum](value):
            wanted = one.anchor != "digits" or _is_a_card(view.text, start, value)
            return (start, end) if wanted and not any(_compiled(pattern).fullmatch(value) for pattern in one.allow) else None
        cut = max(value.rfind(" "), value.rfind("-"))
        if cut < 0:
            return None
        end = start + cut
    return None


def _is_a_card(text: str, start: int, value: str) -> bool:
    before = text[max(0, start - _BEFORE) : start]
    if _NAME_OF_AN_ID.search(before):
        return False
    return sum(letter.isdigit() for letter in value) not in _DOUBTED or _CARD.search(before) is not None
