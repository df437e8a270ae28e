"""A private key goes whole however a tool, a diff or a log shows it, and what stands behind it stays."""

from __future__ import annotations

import base64
import random

import pytest

from afl_redactors.redactor import CredentialRedactor

_RANDOM = random.Random(5)
BODY = [base64.b64encode(_RANDOM.randbytes(48)).decode() for _ in range(8)] + [base64.b64encode(_RANDOM.randbytes(20)).decode()]
KIND = "RSA PRIVATE" + " KEY"
LINES = [f"-----BEGIN {KIND}-----", *BODY, f"-----END {KIND}-----"]
BEHIND = "after words stay here"
BEFORE_EACH = ("", "     {0}\t", "    {0}→", "{0}:", "key.pem:", "> ", "# ", "// ", " * ", "-- ", "web_1  | ", "[pod/x/c] ", "2026-07-14T12:00:01.000Z INFO ",
    "^1a2b3c4d (Bob 2026-01-01 10:00:00 +0100 {0}) ", "-", "+", "│ ")  # fmt: skip
BETWEEN = ("<br>", "&#10;", "%0A", "\\n", "\r\n")


def left_of(text: str) -> list[str]:
    """Lines of the key of which something is left."""
    done = CredentialRedactor().redact(f"out:\n{text}\n{BEHIND}").text
    assert BEHIND in done
    return [line for line in BODY if line[:20] in done or line[-10:] in done]


@pytest.mark.parametrize("before", BEFORE_EACH)
def test_whatever_stands_before_each_line(before: str) -> None:
    assert left_of("\n".join(before.format(number) + line for number, line in enumerate(LINES, 1))) == []


@pytest.mark.parametrize("between", BETWEEN)
def test_whatever_stands_between_two_lines(between: str) -> None:
    assert left_of(between.join(LINES)) == []


def test_as_a_list_of_strings() -> None:
    assert left_of("[\n" + ",\n".join(f'"{line}"' for line in LINES) + "]") == []


@pytest.mark.parametrize("before", BEFORE_EACH[1:3])
def test_cut_off_in_the_middle(before: str) -> None:
    assert (
        left_of("\n".join(before.format(number) + line for number, line in enumerate(LINES[:6], 1)) + "\n...\nnext words of the tool") == []
    )


def test_with_four_dashes() -> None:
    kind = KIND.replace("RSA", "SSH2 ENCRYPTED")
    assert left_of("\n".join([f"---- BEGIN {kind} ----", *BODY, f"---- END {kind} ----"])) == []
