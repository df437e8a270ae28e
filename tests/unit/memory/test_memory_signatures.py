"""Failures that differ only in details count as one kind."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afl_core.memory.signatures import folded, signature


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Rate limited after 4295 ms", "rate limited  after 17 ms"),
        ("cannot open /home/a/x.py: line 3", "Cannot open /srv/b.py: line 12"),
        ("KeyError: 'user_id'", "KeyError: 'other key'"),
        ('no such column "a"', "no such column \u201cb\u201d"),
        ("object at 0x7f3a gone", "object at 0xdeadbeef gone"),
        ("commit 9fceb02d failed", "commit 1a2b3c4d failed"),
        ("request 3f2a8c10-44aa-11ee-be56-0242ac120002", "request 00112233-4455-6677-8899-aabbccddeeff"),
        ("took 1.5 s at 12:30:01", "took 20 s at 9:05"),
    ],
)
def test_numbers_paths_quotes_and_hexadecimal_do_not_count(one, other):
    assert folded(one) == folded(other)
    assert signature(one) == signature(other)


def test_different_failures_differ():
    assert len({signature(text) for text in ("permission denied", "no such file", "timed out after 3 s", "don't know that's name")}) == 4


def test_no_text_has_no_signature():
    assert signature("  \n") is None


def test_the_signature_is_pinned():
    assert folded("Rate limited after 4295 ms") == "rate limited after # ms"
    assert signature("Rate limited after 4295 ms") == "d05a8280b81791f5"


@given(st.text(max_size=300))
def test_space_around_a_text_does_not_count(text):
    assert signature(f"  {text}\n") == signature(text)
    shape = signature(text)
    assert shape is None or (len(shape) == 16 and int(shape, 16) >= 0)
