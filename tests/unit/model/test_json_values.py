"""What somebody else wrote as JSON is read with suspicion: a value is what it claims to be, or none."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afl_core.model.json_values import DECODER, json_text, mapping_of, milliseconds, natural_number, text_of, whole_number

SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=12)
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3))


@pytest.mark.parametrize("written", ["NaN", '{"a": Infinity}', "[-Infinity]", "", "{", "'a'", "1 2"])
def test_what_is_no_json_is_refused(written):
    with pytest.raises(ValueError):  # the kind is the contract; the sentence is the library's
        DECODER.decode(written)


def test_what_is_too_deep_is_an_error_that_can_be_caught():
    with pytest.raises(RecursionError):
        DECODER.decode("[" * 100_000)


@given(VALUES)
def test_any_value_is_survived_and_comes_out_as_what_it_was(value):
    assert text_of(value) == (value if isinstance(value, str) and value else None)
    assert mapping_of(value) == (value if isinstance(value, dict) else {})
    assert whole_number(value) == (value if type(value) is int else None)
    assert natural_number(value) == (value if type(value) is int and value >= 0 else None)
    if not isinstance(value, str):
        assert milliseconds(value) is None


@given(st.text(st.characters(), max_size=12))
def test_text_can_always_be_written(value):
    halved = json.loads(json.dumps(value + "\ud800"))

    assert (text_of(halved) or "").encode() == (value + "?").encode("utf-8", "replace")


@given(st.datetimes(timezones=st.none() | st.just(UTC), min_value=datetime(1, 1, 2), max_value=datetime(9999, 12, 30)))
def test_a_time_is_whole_ms_and_one_without_a_zone_is_utc(moment):
    exact = (moment.replace(tzinfo=UTC) - datetime(1970, 1, 1, tzinfo=UTC)).total_seconds() * 1000

    assert exact - 1.1 < milliseconds(moment.isoformat()) < exact + 0.1


def test_a_time_with_a_zone_is_the_same_moment():
    assert milliseconds("2026-11-30T07:34:43.532Z") == milliseconds("2026-11-30T09:34:43.532+02:00") == 1_796_024_083_532


@pytest.mark.parametrize("value", ["", "yesterday", "2026-13-01", "0001-01-01T00:00:00+23:59x", 5, None, True, [], {}])
def test_what_is_no_time_is_none(value):
    assert milliseconds(value) is None


@pytest.mark.parametrize(
    ("value", "text"), [({"b": 1, "a": "é"}, '{"b":1,"a":"é"}'), ("x", '"x"'), (float("inf"), None), (float("nan"), None)]
)
def test_a_value_as_text_keeps_its_order_and_is_none_where_it_cannot_be_written(value, text):
    assert json_text(value) == text


def test_a_value_too_deep_to_write_is_none():
    deep = []
    for _ in range(100_000):
        deep = [deep]

    assert json_text(deep) is None
