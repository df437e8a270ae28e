"""A text with its escapes open is what a reader of it would see, and every part of it leads back to where it stands."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afl_core.redaction import escapes
from afl_core.redaction.escapes import MAX_DEPTH, Readings, opened

PIECES = [
    "\\",
    "n",
    '"',
    "'",
    "\\n",
    "\\\\",
    "\\t",
    "/",
    "\\/",
    "\\u003d",
    "\\u005c",
    "\\u0022",
    "\x1b[31m",
    "\\x1b[0m",
    "\\033[1;4m",
    "\\e[K",
    "a",
    "é",
    "\0",
    " ",
]


@given(st.lists(st.sampled_from(PIECES), max_size=14).map("".join))
def test_the_quick_way_and_the_one_that_knows_the_places_read_the_same(text: str) -> None:
    assert opened(text) == "".join(plain for _, _, plain in escapes._pieces(text))


@given(st.text("ab\"'\\/\n\t\r <>&é", max_size=20), st.integers(1, MAX_DEPTH))
def test_json_inside_json_is_read_as_what_was_said(said: str, depth: int) -> None:
    text = said
    for _ in range(depth):
        text = json.dumps(text, ensure_ascii=False)
    seen = Readings(text).at(depth)
    if seen is not None:
        assert said in seen.text


@given(st.lists(st.sampled_from(PIECES), max_size=14).map("".join), st.integers(1, MAX_DEPTH), st.data())
def test_a_part_leads_back_to_what_reads_as_it(text: str, depth: int, data: st.DataObject) -> None:
    seen = Readings(text).at(depth)
    if seen is None:
        return
    start = data.draw(st.integers(0, len(seen.text) - 1))
    end = data.draw(st.integers(start + 1, len(seen.text)))
    first, last = seen.origin(start, end)
    assert 0 <= first < last <= len(text)
    if start:
        before = seen.origin(start - 1, start)
        assert before[1] <= first or before == seen.origin(start, start + 1)
    assert seen.origin(0, len(seen.text)) == (0, len(text))


@pytest.mark.parametrize(
    ("text", "read"),
    [
        (r"a\nb", "a\nb"),
        (r"a\\nb", r"a\nb"),
        (r"say \"x\"", 'say "x"'),
        (r"\u003ca\u0026b\u003e", "<a&b>"),
        ("\x1b[1;31mred\x1b[0m", " red "),
        (r"\u001b[31mred", " red"),
        (r"C:\dir\sub", r"C:\dir\sub"),
        ("no escapes", "no escapes"),
    ],
)
def test_one_level(text: str, read: str) -> None:
    assert opened(text) == read
