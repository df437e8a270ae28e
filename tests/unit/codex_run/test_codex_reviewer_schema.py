"""The strict form of a schema holds nothing the service refuses, and answers come back as the schema means them."""

from __future__ import annotations

import json

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from afl_core.review import prompt
from afl_providers_codex.reviewer_schema import KEPT, needs_wrapping, restored, strict_schema

ALLOWED = {*KEPT, "properties", "required", "items", "anyOf", "additionalProperties", "$defs"}


def objects(schema):
    """Every schema inside a schema."""
    yield schema
    for inner in (*schema.get("properties", {}).values(), *schema.get("$defs", {}).values(), *schema.get("anyOf", ())):
        yield from objects(inner)
    if "items" in schema:
        yield from objects(schema["items"])


def assert_strict(schema):
    assert schema["type"] == "object"
    assert "anyOf" not in schema
    for one in objects(schema):
        assert set(one) <= ALLOWED
        if "properties" in one:
            assert one["required"] == list(one["properties"])
            assert one["additionalProperties"] is False


def test_the_receipts_schema_is_strict_and_keeps_its_shape():
    receipt = prompt.schema()
    strict = strict_schema(receipt)
    assert_strict(strict)
    assert not needs_wrapping(receipt)
    assert set(strict["properties"]) == set(receipt["properties"])
    assert strict["properties"]["write_complete"]["enum"] == [True]


SCHEMA = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "required": ["must", "list"],
    "properties": {
        "must": {"const": True},
        "may": {"type": "string", "minLength": 1, "pattern": "x"},
        "null": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        "list": {"type": "array", "maxItems": 3, "items": {"$ref": "#/definitions/part"}},
    },
    "definitions": {
        "part": {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": ["integer", "null"]}}, "required": []}
    },
}


def test_what_may_be_missing_becomes_nullable_and_bounds_stay_out():
    strict = strict_schema(SCHEMA)
    assert_strict(strict)
    assert strict["properties"]["may"] == {"anyOf": [{"type": "string"}, {"type": "null"}]}
    assert strict["properties"]["null"] == SCHEMA["properties"]["null"]
    assert strict["properties"]["list"]["items"] == {"$ref": "#/$defs/part"}
    assert strict["$defs"]["part"]["required"] == ["a", "b"]


def test_nulls_that_stand_for_nothing_go_and_those_that_mean_something_stay():
    answer = {"must": True, "may": None, "null": None, "list": [{"a": None, "b": None}, {"a": 1, "b": 2}]}
    assert restored(answer, SCHEMA) == {"must": True, "null": None, "list": [{"b": None}, {"a": 1, "b": 2}]}


@pytest.mark.parametrize(
    "root", [{"oneOf": [SCHEMA]}, {"anyOf": [SCHEMA, {"type": "null"}]}, {"type": "array", "items": SCHEMA}, {"$ref": "#/$defs/s"}]
)
def test_a_root_that_is_no_plain_object_is_wrapped(root):
    schema = {**root, "$defs": {"s": {"type": "object", "properties": {"x": {"type": "string"}}}}}
    strict = strict_schema(schema)
    assert_strict(strict)
    assert list(strict["properties"]) == ["result"]
    assert restored({"result": {"x": None}}, {"$ref": "#/$defs/s", "$defs": schema["$defs"]}) == {}
    assert restored({"other": 1}, schema) is None


LEAVES = st.sampled_from(
    [{"type": "string"}, {"type": "integer"}, {"type": "boolean"}, {"type": ["string", "null"]}, {"enum": ["a", None]}]
)
NAMES = st.sampled_from("abcd")


def grown(inner):
    made = st.builds(
        lambda properties, required: {
            "type": "object",
            "properties": properties,
            "required": sorted(set(required) & set(properties)),
            "additionalProperties": False,
        },
        st.dictionaries(NAMES, inner, max_size=4),
        st.sets(NAMES),
    )
    return made | st.builds(lambda items: {"type": "array", "items": items}, inner)


SCHEMAS = st.recursive(LEAVES, grown, max_leaves=8).filter(lambda schema: schema.get("type") == "object")


def example(schema, draw):
    """A value the strict schema allows."""
    if "anyOf" in schema:
        return example(schema["anyOf"][draw(st.integers(0, len(schema["anyOf"]) - 1))], draw)
    if "enum" in schema:
        return draw(st.sampled_from(schema["enum"]))
    kind = schema["type"] if isinstance(schema["type"], str) else draw(st.sampled_from(schema["type"]))
    if kind == "object":
        return {name: example(inner, draw) for name, inner in schema["properties"].items()}
    if kind == "array":
        return [example(schema["items"], draw) for _ in range(draw(st.integers(0, 2)))]
    return {"string": "s", "integer": 1, "boolean": True, "null": None}[kind]


@given(schema=SCHEMAS, data=st.data())
def test_any_answer_to_the_strict_schema_is_an_answer_to_the_schema(schema, data):
    strict = strict_schema(schema)
    assert_strict(strict)
    answer = example(strict, data.draw)
    assert jsonschema.Draft202012Validator(strict).is_valid(answer)
    assert jsonschema.Draft202012Validator(schema).is_valid(restored(answer, schema))
    json.dumps(strict)
