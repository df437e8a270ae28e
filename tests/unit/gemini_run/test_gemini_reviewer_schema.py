"""The receipt's schema keeps its meaning and loses what the service refuses."""

from __future__ import annotations

import json

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from afl_core.review import prompt
from afl_providers_gemini.reviewer_schema import accepted

TAKEN = {
    "$id", "$ref", "$anchor", "$defs", "type", "format", "title", "description", "enum", "items", "prefixItems", "minItems", "maxItems",
    "minimum", "maximum", "anyOf", "oneOf", "properties", "additionalProperties", "required", "propertyOrdering",
}  # fmt: skip


def words_of(schema):
    """Every word of a schema, names of properties and definitions left out."""
    if not isinstance(schema, dict):
        return set()
    found = set(schema)
    for word, value in schema.items():
        if word in ("properties", "$defs"):
            inner = list(value.values())
        elif word in ("anyOf", "oneOf", "prefixItems"):
            inner = value
        else:
            inner = [value] if word in ("items", "additionalProperties") else []
        for one in inner:
            found |= words_of(one)
    return found


def choices_of(schema):
    if isinstance(schema, dict):
        return [*schema.get("enum", ()), *(value for inner in schema.values() for value in choices_of(inner))]
    return [value for inner in schema for value in choices_of(inner)] if isinstance(schema, list) else []


def test_the_receipts_own_schema_loses_only_the_choice_of_one_truth_value():
    ours = prompt.schema()
    theirs = accepted(ours)
    ours["properties"]["write_complete"].pop("enum")
    assert theirs == ours
    assert words_of(theirs) <= TAKEN
    assert not [value for value in choices_of(theirs) if not isinstance(value, str | int) or isinstance(value, bool)]


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ({"$schema": "x", "type": "string", "minLength": 1, "pattern": "a"}, {"type": "string"}),
        ({"const": "a"}, {"type": "string", "enum": ["a"]}),
        ({"const": 3}, {"type": "number", "enum": [3]}),
        ({"type": "integer", "const": 3}, {"type": "integer", "enum": [3]}),
        ({"const": True}, {"type": "boolean"}),
        ({"enum": [None]}, {"type": "null"}),
        ({"enum": ["a", None]}, {"type": ["string", "null"]}),
        ({"enum": [["a"]]}, {}),
        ({"type": ["string", "null"], "enum": ["a", None]}, {"type": ["string", "null"]}),
        ({"$ref": "#/$defs/a", "description": "x"}, {"$ref": "#/$defs/a"}),
        (
            {"properties": {"a": {"$ref": "#/definitions/b"}}, "definitions": {"b": {"not": {}, "type": "null"}}},
            {"properties": {"a": {"$ref": "#/$defs/b"}}, "$defs": {"b": {"type": "null"}}},
        ),
        ({"type": "object", "additionalProperties": False}, {"type": "object", "additionalProperties": False}),
        ({"anyOf": [{"const": "a"}, {"type": "null"}]}, {"anyOf": [{"type": "string", "enum": ["a"]}, {"type": "null"}]}),
    ],
)
def test_each_word_is_kept_translated_or_dropped(ours, theirs):
    before = json.dumps(ours)
    assert accepted(ours) == theirs
    assert json.dumps(ours) == before


SCHEMAS = st.recursive(
    st.sampled_from(
        [
            {"type": "string"},
            {"const": "a"},
            {"enum": ["a", "b"]},
            {"enum": ["a", 1, True]},
            {"const": True},
            {"type": "integer", "exclusiveMinimum": 1},
        ]
    ),
    lambda inner: (
        st.builds(lambda one: {"type": "array", "items": one, "uniqueItems": True}, inner)
        | st.builds(lambda one, two: {"anyOf": [one, two]}, inner, inner)
        | st.dictionaries(st.sampled_from(["a", "const", "enum"]), inner, max_size=2).map(
            lambda found: {"type": "object", "properties": found, "required": sorted(found), "additionalProperties": False}
        )
    ),
    max_leaves=5,
)
VALUES = st.recursive(
    st.sampled_from(["a", "b", True, 1, 2]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["a", "const", "enum"]), inner, max_size=2),
    max_leaves=4,
)


@given(SCHEMAS, VALUES)
def test_what_the_receipt_may_be_the_model_may_say(schema, value):
    theirs = accepted(schema)
    assert words_of(theirs) <= TAKEN
    if jsonschema.Draft202012Validator(schema).is_valid(value):
        jsonschema.Draft202012Validator(theirs).validate(value)
