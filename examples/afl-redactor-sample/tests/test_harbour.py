"""Harbour's redactor keeps the contract, and knows a badge from another number."""

from __future__ import annotations

from afl_redactor_sample.redactor import HarbourRedactor

from afl_core.spec.redactor import Finding, Redaction
from afl_core.testing.contracts.redactor import RedactorContract

KEY_VALUE = "hbr_" + "9fK2mQ7xT4bW" * 2


class TestHarbourKeepsTheContract(RedactorContract):
    """Keys and badges go, everything else stays."""

    secrets = (
        (f"export HARBOUR={KEY_VALUE}", KEY_VALUE),
        (f'{{"key": "{KEY_VALUE}"}}', KEY_VALUE),
        ("the badge is HB-1234561.", "HB-1234561"),
    )

    def make(self) -> HarbourRedactor:
        """Return a new redactor."""
        return HarbourRedactor()


def test_each_replacement_names_its_rule() -> None:
    done = HarbourRedactor().redact(f"HB-1234561 uses {KEY_VALUE}")
    assert done.text == "[REDACTED:harbour-badge] uses [REDACTED:harbour-key]"
    assert done.findings == (Finding("harbour-badge", 0, 10), Finding("harbour-key", 16, 44))


def test_a_number_without_the_check_digit_is_no_badge() -> None:
    assert HarbourRedactor().redact("order HB-1234567") == Redaction("order HB-1234567")


def test_a_key_of_another_length_is_none() -> None:
    for other in (KEY_VALUE[:-1], KEY_VALUE + "a", "x" + KEY_VALUE):
        assert HarbourRedactor().redact(other) == Redaction(other)
