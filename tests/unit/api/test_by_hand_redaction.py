"""Fields that a person or a file gives are as safe in lists and objects, and in what these call their parts, as they are as one text."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afl_core.api import by_hand
from afl_core.plugins.isolation import Guard, MemoryLedger
from afl_core.redaction.chain import Chain
from afl_redactors.redactor import CredentialRedactor

SECRET = "ghp_" + "k3Zr9QpLx2Vt7Bn5Ws8Yd4Fg6Hj1Mc0Ra3Te"


CHAIN = Chain([("plugin", CredentialRedactor())], Guard(MemoryLedger()), lambda word: word)


@pytest.mark.parametrize(
    "fields",
    [
        {"input": {"args": ["--password", "hunter2xyz4"]}},
        {"input": ["mysql", "--password", "hunter2xyz4"]},
        {"input": {"env": [{"name": "DB_PASSWORD", "value": "hunter2xyz4"}]}},
        {"input": {SECRET: 1}},
        {SECRET: "x"},
        {"context": {"deep": [{"er": {SECRET: {SECRET: SECRET}}}]}},
        {"user_id": SECRET},
        {"hash": SECRET},
        {"related_to": [{"hash": "a" * 64, "relation_type": SECRET}]},
        {"tags": ["fine", SECRET]},
    ],
    ids=str,
)
def test_no_secret_of_a_field_is_stored(fields):
    kept, changed = by_hand.safe(CHAIN, fields)
    said = json.dumps(kept)
    assert SECRET not in said
    assert "hunter2xyz4" not in said
    assert changed


def test_what_says_which_one_is_meant_stays():
    fields = {
        "namespace": "team",
        "session_id": "0a1b2c3d4e5f60718293a4b5c6d7e8f9",
        "tool_call_id": "toolu_01A09q90qw90lq917835lq9",
        "derived_from": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "related_to": [{"hash": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", "relation_type": "about"}],
    }
    assert by_hand.safe(CHAIN, fields) == (fields, 0)


def test_two_parts_that_are_called_alike_afterwards_are_both_kept():
    other = SECRET[:-2] + "xY"
    kept, changed = by_hand.safe(CHAIN, {"input": {SECRET: 1, other: 2}})
    assert (sorted(kept["input"].values()), changed) == ([1, 2], 2)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.sampled_from(("a", "tea time", "/usr/lib", "日本", "build failed", "")),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(("a", "note", "path", "日本")), inner, max_size=4),
    max_leaves=12,
)


@given(VALUES)
def test_ordinary_values_stay_as_they_are(value):
    assert by_hand.safe(CHAIN, {"input": value}) == ({"input": value}, 0)
