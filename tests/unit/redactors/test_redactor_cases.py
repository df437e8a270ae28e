"""The case table: every marked secret goes as a whole and nothing else does; every look-alike stays."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from afl_redactors.packs import PACKS
from afl_redactors.redactor import CredentialRedactor

CASES = Path(__file__).parent / "cases"
MARKED = re.compile("⟦([^⟧]*)⟧")
POSITIVES = [(one.id, text.replace("¦", "")) for one in PACKS if not one.option for text in one.positive]
LOOKALIKES = [
    *json.loads((CASES / "lookalikes.json").read_text(encoding="utf-8")),
    *(text.replace("¦", "") for one in PACKS for text in one.negative),
]


@pytest.mark.parametrize(("rule", "text"), POSITIVES)
def test_a_secret_is_replaced_whole_and_its_surroundings_stay(rule: str, text: str) -> None:
    given = MARKED.sub(r"\1", text)
    assert CredentialRedactor().redact(given).text == MARKED.sub(f"[REDACTED:{rule}]", text)


@pytest.mark.parametrize("text", LOOKALIKES)
def test_a_look_alike_is_left_alone(text: str) -> None:
    result = CredentialRedactor().redact(text)
    assert (result.text, result.findings) == (text, ())


@pytest.mark.parametrize(("rule", "text"), POSITIVES)
def test_a_redacted_text_is_not_changed_again(rule: str, text: str) -> None:
    once = CredentialRedactor().redact(MARKED.sub(r"\1", text)).text
    again = CredentialRedactor().redact(once)
    assert (again.text, again.findings) == (once, ())


def test_the_table_has_at_least_120_of_each() -> None:
    assert len(set(POSITIVES)) >= 120
    assert len(set(LOOKALIKES)) >= 120


def test_the_secrets_of_a_whole_table_go_from_one_text() -> None:
    text = "\n\n".join(MARKED.sub(r"\1", text) for _, text in POSITIVES if "unterminated" not in text)
    result = CredentialRedactor().redact(text).text
    long_secrets = [
        secret for _, text in POSITIVES for secret in MARKED.findall(text) if len(secret) >= 16 and "unterminated" not in secret
    ]
    assert [secret for secret in long_secrets if secret in result] == []


def test_a_secret_goes_wherever_it_stands_in_its_text() -> None:
    text = "password=Teich_Frosch_3\ntried Teich_Frosch_3, then xTeich_Frosch_3x and user-7 as user-7"
    kept = "password=[REDACTED:assignment]\ntried [REDACTED:assignment], then xTeich_Frosch_3x and user-7 as user-7"
    assert CredentialRedactor().redact(text).text == kept


def test_an_ordinary_value_is_not_looked_for_again() -> None:
    text = "password=hunter2\nlog in as hunter2"
    assert CredentialRedactor().redact(text).text == "password=[REDACTED:assignment]\nlog in as hunter2"
