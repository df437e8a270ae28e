"""A secret that was recognised once is found again wherever it is said, and nothing else is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afl_core.redaction.repeats import MAX_CHARS, Blocked, name_of, repeated, without, words

SAYINGS = (
    "{}",
    "use {}.",
    "is it {}?",
    "{}!",
    "({})",
    '{{"command": "login {}\\nls"}}',
    "first\\n{}\\tthen",
    "x={};",
    "用 {}。",
    "`{}`, `b`",
)
SECRETS = ("hunter-42x", "Foo.731+", "p@ss_w0rd", "kä7-schlüssel", "hunter2!", "9" * 40, "a-" * 100)
BEYOND_ASCII = " é"
"""Behind a text it makes that be read by the pattern, and adds no word."""


@pytest.mark.parametrize("saying", SAYINGS)
@pytest.mark.parametrize("secret", SECRETS)
def test_a_secret_is_found_again_however_it_stands_in_the_sentence(secret: str, saying: str) -> None:
    said = saying.format(secret)
    known = frozenset(name_of(word, str) for word in words(secret))
    found = repeated(said, Blocked(known), str)
    text, count = without(said, found, "[M]")
    assert (text.strip("!"), count) == (saying.format("[M]").strip("!"), 1)


def test_words_of_letters_and_other_words_are_left() -> None:
    said = "The password of the up-to-date server-01 is hunter-42, not hunter-42x."
    known = frozenset(name_of(word, str) for word in ("hunter-42x", "password"))
    assert without(said, repeated(said, Blocked(known), str), "[M]") == (said.replace("hunter-42x", "[M]"), 1)


@given(
    st.text(alphabet="abZ0_-./!?\\n\"'`,;:=()[]{}<>| \n\t\x1c\x85é，。「", max_size=80),
    st.sampled_from(["", "a-", "word " * 300, "x" * (MAX_CHARS - 2), "0" * 600]),
)
def test_the_quick_ways_to_the_words_of_ascii_text_find_those_of_the_pattern(text: str, long: str) -> None:
    for whole in (text, text + long + text, long + text):
        ascii_only = whole.encode("ascii", "ignore").decode()
        assert words(ascii_only) == words(ascii_only + BEYOND_ASCII)


@given(st.text(max_size=40), st.sampled_from(SECRETS), st.text(max_size=40))
def test_what_stands_around_a_secret_is_kept_to_the_letter(before: str, secret: str, after: str) -> None:
    said = f"{before} {secret} {after}"
    text, _ = without(said, {secret}, "[M]")
    assert text.replace("[M]", secret) == said
    assert f" {secret} " not in text
