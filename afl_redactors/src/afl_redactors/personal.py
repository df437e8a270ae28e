"""Personal data: what the rules of the pack `personal` find, each searched only where it is switched on. They have no keywords and need no lead."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
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

_CUTS = 4
"""How many groups at the end of a match may be none of it: a card's date, a word behind an account."""
_NAME_OF_AN_ID = re.compile(
    r"(?:id|ids|uid|pid|ts|time|timestamp|epoch|nonce|seed|hash|offset|size|bytes|count|seq|sequence|version|revision|serial|tracking|isbn|ean|gtin|upc|imei|iccid|sku)"
    r"[\"'`]?[ \t]{0,2}(?:[:=#]|=>)?[ \t]{0,2}[\"'`]?$",
    re.IGNORECASE,
)
_CARD = re.compile(r"card|visa|amex|diners|maestro|\bpan\b|\bcc\b|kredit|karte|tarjeta|carte|cartão|карт|カード|카드|卡", re.IGNORECASE)
_BEFORE = 40
_REACH = 160
"""Characters around a keyword."""
_SURE = re.compile(r"(?=.{16}$)(?:4|5[1-5]|2[2-7]|6011|64[4-9]|65|62|35)[0-9]{12,15}|3[47][0-9]{13}")
"""Cards whose numbers are told from others by themselves; other ones, and longer and shorter ones, only if grouped or near a word for a card."""


def personal(view: View, options: Collection[str]) -> Iterable[tuple[Span, str]]:
    """Where personal data of the switched-on kinds stand, with the name of the rule."""
    return [
        found for anchor, rules in _switched(frozenset(options)) if (parts := _parts(anchor, view)) for found in _found(view, rules, parts)
    ]


Anchor = tuple[str, tuple[str, ...]]
"""How rules are found, and the keywords without which they find nothing."""


@cache
def _switched(options: frozenset[str]) -> tuple[tuple[Anchor, tuple[Spec, ...]], ...]:
    """The rules that are on, those together that read the same parts of a text."""
    rules: dict[Anchor, list[Spec]] = {}
    for one in PACKS:
        if one.anchor and (not one.option or one.option in options):
            rules.setdefault((one.anchor, one.keywords), []).append(one)
    return tuple((anchor, tuple(found)) for anchor, found in rules.items())


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def _parts(anchor: Anchor, view: View) -> list[Span]:
    """The parts of the text that rules with this anchor read."""
    how, keywords = anchor
    if how == "digits":
        parts = digits.near_long_numbers(view.text)
    elif how == "numbers":
        parts = digits.near_numbers(view.text)
    elif keywords:
        parts = digits.around(sorted(at for word in keywords for at in view.hits(word)), view.text, _REACH)
    else:
        parts = [(0, len(view.text))]
    if parts:
        view.count(sum(end - start for start, end in parts))
    return parts


def _found(view: View, rules: Sequence[Spec], parts: Sequence[Span]) -> Iterator[tuple[Span, str]]:
    for one in rules:
        pattern = _compiled(one.pattern)
        for start, end in parts:
            for found in pattern.finditer(view.text, start, end):
                if span := _checked(one, view, found):
                    yield span, one.id


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
    return not value.isdecimal() or _SURE.fullmatch(value) is not None or _CARD.search(before) is not None
