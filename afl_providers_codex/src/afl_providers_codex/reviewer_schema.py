"""The receipt's schema in the strict form that the service takes, and the way back. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

RESULT = "result"
"""The one property around a schema whose root is no plain object."""

KEPT = ("type", "description", "enum", "$ref")
"""What is taken over as it is. Bounds and patterns stay out: not every service takes them, and core checks the receipt itself."""

SHARED = ("$defs", "definitions")


def strict_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """All properties required, optional ones nullable, nothing additional, one root object; shared definitions stand at the root."""
    shared = {name: _strict(value) for key in SHARED for name, value in _mapping(schema.get(key)).items()}
    root = _strict(schema)
    if needs_wrapping(schema):
        root = {"type": "object", "properties": {RESULT: root}, "required": [RESULT], "additionalProperties": False}
    return {**root, **({"$defs": shared} if shared else {})}


def needs_wrapping(schema: Mapping[str, Any]) -> bool:
    """Whether the root is a choice, a reference or no object."""
    return schema.get("type") != "object" or any(key in schema for key in ("anyOf", "oneOf", "allOf", "$ref"))


def restored(answer: object, schema: Mapping[str, Any]) -> object:
    """The answer as the schema means it: without the wrapping, and without nulls that only stand for what was left out."""
    if needs_wrapping(schema):
        answer = answer.get(RESULT) if isinstance(answer, dict) else None
    return _restored(answer, schema, schema)


def _strict(schema: Mapping[str, Any]) -> dict[str, Any]:
    made: dict[str, Any] = {key: schema[key] for key in KEPT if key in schema}
    if "$ref" in made:
        made["$ref"] = str(made["$ref"]).replace("#/definitions/", "#/$defs/")
    if "const" in schema:
        made["enum"] = [schema["const"]]
    choices = schema.get("anyOf") or schema.get("oneOf") or schema.get("allOf")
    if isinstance(choices, list):
        made["anyOf"] = [_strict(_mapping(choice)) for choice in choices]
    if "items" in schema:
        made["items"] = _strict(_mapping(schema["items"]))
    if "properties" in schema or schema.get("type") == "object":
        properties, required = _mapping(schema.get("properties")), schema.get("required", ())
        made["properties"] = {
            name: _strict(_mapping(value)) if name in required else _nullable(_mapping(value)) for name, value in properties.items()
        }
        made["required"] = list(properties)
        made["additionalProperties"] = False
    return made


def _nullable(schema: Mapping[str, Any]) -> dict[str, Any]:
    made = _strict(schema)
    return made if _allows_null(schema, schema) else {"anyOf": [made, {"type": "null"}]}


def _allows_null(schema: Mapping[str, Any], root: Mapping[str, Any]) -> bool:
    """Whether null is a value of its own there."""
    schema = _followed(schema, root)
    kinds = schema.get("type")
    if kinds == "null" or (isinstance(kinds, list) and "null" in kinds) or None in (schema.get("enum") or ()):
        return True
    return any(_allows_null(_mapping(choice), root) for key in ("anyOf", "oneOf") for choice in schema.get(key) or ())


def _restored(value: object, schema: Mapping[str, Any], root: Mapping[str, Any]) -> object:
    schema = _followed(schema, root)
    for key in ("anyOf", "oneOf", "allOf"):
        for choice in schema.get(key) or ():
            followed = _followed(_mapping(choice), root)
            if (isinstance(value, dict) and "properties" in followed) or (isinstance(value, list) and "items" in followed):
                return _restored(value, followed, root)
    if isinstance(value, list):
        return [_restored(item, _mapping(schema.get("items")), root) for item in value]
    if not isinstance(value, dict):
        return value
    properties, required = _mapping(schema.get("properties")), schema.get("required", ())
    return {
        name: _restored(item, _mapping(properties.get(name)), root)
        for name, item in value.items()
        if not (item is None and name in properties and name not in required and not _allows_null(_mapping(properties[name]), root))
    }


def _followed(schema: Mapping[str, Any], root: Mapping[str, Any]) -> Mapping[str, Any]:
    """The schema a reference means; the reference itself when it leads nowhere."""
    named = schema.get("$ref")
    if not isinstance(named, str) or not named.startswith("#/"):
        return schema
    target: object = root
    for part in named.removeprefix("#/").split("/"):
        target = _mapping(target).get(part)
    return target if isinstance(target, dict) and "$ref" not in target else {}


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}
