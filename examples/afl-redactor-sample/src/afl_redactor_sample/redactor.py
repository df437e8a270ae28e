"""Harbour's keys and badge numbers. Each is anchored by letters of its own and has a bounded length, so a text of any length is read once."""

from __future__ import annotations

import re

from afl_core.spec.redactor import Finding, Redaction

KEY = "harbour-key"
BADGE = "harbour-badge"

_FORMS = re.compile(r"(?P<key>(?<![A-Za-z0-9_])hbr_[A-Za-z0-9]{24}(?![A-Za-z0-9]))|(?P<badge>(?<![A-Za-z0-9])HB-(?P<digits>\d{7})(?!\d))")


def is_badge(digits: str) -> bool:
    """Whether the seventh digit is the check digit: the first six, weighed 1 to 6, modulo 10."""
    return sum(place * int(digit) for place, digit in enumerate(digits[:6], 1)) % 10 == int(digits[6])


class HarbourRedactor:
    """Replaces keys by their form, and badge numbers whose check digit is right: any other number may be an order or a part."""

    name: str = "harbour"
    version: str = "1"

    def redact(self, text: str) -> Redaction:
        """The text without them, and where they stood in the text as given."""
        findings = tuple(
            Finding(KEY if found["key"] else BADGE, found.start(), found.end())
            for found in _FORMS.finditer(text)
            if found["key"] or is_badge(found["digits"])
        )
        parts, at = [], 0
        for one in findings:
            parts += (text[at : one.start], f"[REDACTED:{one.rule}]")
            at = one.end
        return Redaction("".join((*parts, text[at:])), findings) if findings else Redaction(text)
