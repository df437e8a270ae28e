"""A file of any size gives the same places as its whole text, each once, and only a window of it is held."""

from __future__ import annotations

import io

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from afl_core.plugins.isolation import Guard, MemoryLedger
from afl_core.redaction.chain import Chain
from afl_core.redaction.lines import Spot, spots
from afl_core.redaction.places import replaced
from afl_core.redaction.windows import AROUND_CHARS, WINDOW_CHARS, spots_in
from afl_core.spec.redactor import Finding, Redaction


@attrs.define
class Keys:
    """Finds `k` and three digits; remembers the longest text it was given."""

    name: str = "keys"
    version: str = "1"
    longest: int = 0

    def redact(self, text: str) -> Redaction:
        self.longest = max(self.longest, len(text))
        found, at = [], 0
        while (at := text.find("k", at)) >= 0:
            if text[at + 1 : at + 4].isdigit() and len(text[at + 1 : at + 4]) == 3:
                found.append(Finding("key", at, at + 4))
                at += 3
            at += 1
        return Redaction(replaced(text, found), tuple(found))


def chain(keys: Keys) -> Chain:
    return Chain([("keys", keys)], Guard(MemoryLedger()), lambda _word: "")


@given(
    st.lists(st.sampled_from(["k123", "k999 ", "k12", "\n", "word ", "\r\n", "kk001", "é"]), max_size=60).map("".join), st.integers(6, 40)
)
def test_windows_find_what_the_whole_text_shows(text: str, size: int) -> None:
    judge = chain(Keys())
    whole = list(spots(text, judge.redact(text).findings))
    assert list(spots_in(io.StringIO(text, newline="").read, judge, size, 4)) == whole


def test_a_line_of_a_megabyte_is_told_by_its_column() -> None:
    text = "first\n" + "x" * 1_000_000 + "k123" + "y" * 70_000
    keys = Keys()
    assert list(spots_in(io.StringIO(text, newline="").read, chain(keys))) == [Spot("key", 2, 1_000_001)]
    assert keys.longest <= WINDOW_CHARS + 2 * AROUND_CHARS


@pytest.mark.parametrize("shift", [-3, -2, -1, 0, 1])
@pytest.mark.parametrize("border", [WINDOW_CHARS, WINDOW_CHARS + AROUND_CHARS, 2 * WINDOW_CHARS])
def test_a_value_across_a_border_is_told_once(border: int, shift: int) -> None:
    text = "x" * (border + shift) + "k123" + "y" * WINDOW_CHARS
    assert list(spots_in(io.StringIO(text).read, chain(Keys()))) == [Spot("key", 1, border + shift + 1)]
