"""What the screen shows after the bytes a program wrote."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afl_core.testing.screen import Screen


def shown(data, columns=12, rows=4):
    screen = Screen(columns, rows)
    screen.feed(data)
    return screen.lines()


@pytest.mark.parametrize(
    ("written", "first_lines"),
    [
        (b"plain", ["plain"]),
        (b"\x1b[1;31mred\x1b[0m \x1b]0;title\x07text", ["red text"]),
        (b"one\r\ntwo", ["one", "two"]),
        (b"one\ntwo", ["one", "   two"]),
        (b"abc\rX", ["Xbc"]),
        (b"abc\bX", ["abX"]),
        (b"a\tb", ["a       b"]),
        (b"words\x1b[2Cgap", ["words  gap"]),
        (b"abcdef\x1b[3D\x1b[K", ["abc"]),
        (b"abcdef\x1b[2G\x1b[2X", ["a  def"]),
        (b"abcdef\x1b[2G\x1b[2P", ["adef"]),
        (b"abc\x1b[2G\x1b[1@", ["a bc"]),
        (b"one\r\ntwo\x1b[1;1Hnew", ["new", "two"]),
        (b"one\r\ntwo\x1b[1Aup", ["oneup", "two"]),
        (b"one\x1b[1Edown", ["one", "down"]),
        (b"one\r\ntwo\x1b[2J\x1b[Hclean", ["clean"]),
        (b"one\r\ntwo\x1b[1;2H\x1b[J", ["o"]),
        (b"one\r\ntwo\x1b[H\x1b[1M", ["two"]),
        (b"one\x1b[H\x1b[1Lnew", ["new", "one"]),
        (b"a\x1b7bc\x1b8X", ["aXc"]),
        (b"abcdefghijklmno", ["abcdefghijkl", "mno"]),
        ("日本x".encode(), ["日本x"]),
        (b"old\x1b[?1049hnew", ["new"]),
        (b"\x1b[?25l\x1b[>1u\x1b(Btext", ["text"]),
        (b"\x1bPq#data\x1b\\after", ["after"]),
    ],
)
def test_sequences_leave_what_a_terminal_would_show(written, first_lines):
    lines = shown(written)
    assert lines[: len(first_lines)] == first_lines
    assert not any(lines[len(first_lines) :])


def test_lines_that_scroll_off_the_top_are_history():
    screen = Screen(10, 2)
    screen.feed(b"one\r\ntwo\r\nthree")
    assert (screen.history, screen.lines()) == (["one"], ["two", "three"])


def test_a_scroll_region_leaves_the_lines_outside_alone():
    assert shown(b"head\r\na\r\nb\r\nfoot\x1b[2;3r\x1b[3;1H\r\nc") == ["head", "b", "c", "foot"]


def test_a_program_that_asks_the_terminal_is_answered():
    screen = Screen(10, 4)
    screen.feed(b"ab\x1b[6n\x1b[c\x1b[5n")
    assert screen.replies == [b"\x1b[1;3R", b"\x1b[?1;2c", b"\x1b[0n"]


SOME_OUTPUT = st.lists(
    st.sampled_from(["text", "日", "\r\n", "\r", "\n", "\x1b[2;3H", "\x1b[K", "\x1b[2J", "\x1b[31m", "\x1b]0;t\x07", "\x1b[3L", "\x1b[2M"])
).map("".join)


@given(output=SOME_OUTPUT, cuts=st.lists(st.integers(0, 200)))
def test_the_screen_does_not_depend_on_where_the_bytes_are_cut(output, cuts):
    data, whole, pieces = output.encode(), Screen(8, 4), Screen(8, 4)
    whole.feed(data)
    edges = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    for start, end in itertools.pairwise(edges):
        pieces.feed(data[start:end])
    assert pieces.lines() == whole.lines()


@given(data=st.binary(max_size=300))
def test_no_bytes_change_the_size_of_the_screen(data):
    screen = Screen(7, 3)
    screen.feed(data)
    assert [len(row) for row in screen._grid] == [7, 7, 7]


@given(data=st.lists(st.sampled_from("\x1b[]0123456789;?ABCDHJKLMPSTXrm@ \x07日\r\n")).map("".join))
def test_no_sequence_makes_the_screen_fall_over(data):
    screen = Screen(7, 3)
    screen.feed(data.encode())
    assert [len(row) for row in screen._grid] == [7, 7, 7]
