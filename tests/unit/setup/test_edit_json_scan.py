"""The scanner accepts what a strict reader accepts, and says where anything else goes wrong."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afl_core.setup.edit_json_scan import MAX_DEPTH, JsonSyntaxError, Object, scan


@pytest.mark.parametrize(
    ("document", "line", "column", "reason"),
    [
        (b'{\n  "a": 1,\n  // mine\n}', 3, 3, "comment"),
        (b'{\n  # mine\n  "a": 1}', 2, 3, "comment"),
        (b'{"a": 1,}', 1, 8, "comma after the last element"),
        (b"[1,\n2,\n]", 2, 2, "comma after the last element"),
        (b'{"a" 1}', 1, 6, "colon"),
        (b"{a: 1}", 1, 2, "double quotes"),
        (b'{"a": tru}', 1, 7, "value"),
        (b'{"a": "x', 1, 7, "without an end"),
        (b'{"a": "x\ty"}', 1, 9, "control character"),
        (b'{"a": "\\x"}', 1, 8, "escape"),
        (b'{"a": 1', 1, 8, "comma or }"),
        (b'{"a": ', 1, 7, "ends where a value"),
        (b'{"a": 1} {}', 1, 10, "more after the end"),
        (b'{"a": 01}', 1, 8, "comma or }"),
        (b'{"a": NaN}', 1, 7, "value"),
        (b'\xef\xbb\xbf{"a": ?}', 1, 7, "value"),
        ('{"\u00e9\u00e9": ?}'.encode(), 1, 8, "value"),
        (b"\xff\xfe{\x00}\x00", 1, 1, "value"),
    ],
)
def test_the_first_mistake_is_named_with_its_line_and_column(document, line, column, reason):
    with pytest.raises(JsonSyntaxError) as caught:
        scan(document)
    assert (caught.value.line, caught.value.column) == (line, column)
    assert reason in caught.value.reason
    assert caught.value.code == "AFL-SETUP-010"


def test_a_mark_at_the_start_duplicate_keys_and_bytes_that_are_not_utf8_are_accepted():
    root = scan(b'\xef\xbb\xbf{"a": "\xff\xfe", "a": 2}')
    assert isinstance(root, Object)
    assert [member.key for member in root.members] == ["a", "a"]
    assert root.last("a") is root.members[1]


def test_nesting_beyond_the_limit_is_refused_and_up_to_it_is_not():
    scan(b"[" * MAX_DEPTH + b"]" * MAX_DEPTH)
    with pytest.raises(JsonSyntaxError) as caught:
        scan(b"[" * 100_000)
    assert str(MAX_DEPTH) in caught.value.reason


def _strictly(text: str) -> bool:
    def refuse(name: str) -> None:
        raise ValueError(name)

    try:
        json.loads(text, parse_constant=refuse)
    except ValueError:
        return False
    return True


PIECES = st.sampled_from(
    ["{", "}", "[", "]", ",", ":", '"a"', '"\\u00e9"', '"', "\\", "1", "-", "0", ".5", "e3", "true", "null", "NaN", " ", "\n", "\t", "//"]
)


@given(st.lists(PIECES, max_size=9).map("".join))
def test_it_accepts_exactly_what_the_standard_reader_accepts(text):
    try:
        scan(text.encode())
        accepted = True
    except JsonSyntaxError:
        accepted = False
    assert accepted == _strictly(text)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(VALUES, st.sampled_from([None, 1, 3, "\t"]), st.booleans())
def test_every_document_the_standard_writer_makes_is_accepted_whole(value, indent, ascii_only):
    document = json.dumps(value, indent=indent, ensure_ascii=ascii_only).encode("utf-8", "surrogatepass")
    root = scan(document)
    assert (root.start, root.end) == (0, len(document))
