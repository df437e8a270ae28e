"""The receipt's schema as the service takes it: JSON Schema without the words it refuses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

KEPT = frozenset({
    "$id", "$ref", "$anchor", "type", "format", "title", "description", "minItems", "maxItems", "minimum", "maximum", "required",
    "propertyOrdering",
})  # fmt: skip
"""Words that pass as they are. Those with schemas inside are `INNER`, `MAPS` and `LISTS`; a request with any other word is refused by the service."""

INNER = ("items", "additionalProperties")
MAPS = ("properties", "$defs")
LISTS = ("anyOf", "oneOf", "prefixItems")


def accepted(schema: Mapping[str, Any]) -> dict[str, Any]:
    """`schema` with what the service takes. What is lost on the way (patterns, lengths, choices of truth values) core checks in the receipt."""
    if "$ref" in schema:  # nothing but $-words may stand beside a reference
        return {key: value for key, value in schema.items() if key.startswith("$") and key in KEPT}
    found: dict[str, Any] = {}
    for key, value in schema.items():
        if key in KEPT:
            found[key] = value
        elif key in INNER:
            found[key] = accepted(value) if isinstance(value, Mapping) else value
        elif key in MAPS:
            found[key] = {name: accepted(inner) for name, inner in value.items()}
        elif key in LISTS:
            found[key] = [accepted(inner) for inner in value]
        elif key == "definitions":
            found["$defs"] = {name: accepted(inner) for name, inner in value.items()}
    found |= _choice(schema)
    return _moved(found) if "definitions" in schema else found


def _choice(schema: Mapping[str, Any]) -> dict[str, Any]:
    """`enum`, for texts and numbers only; a constant is a choice of one. Of a choice with truth values or null only the types remain."""
    values = schema["enum"] if "enum" in schema else [schema["const"]] if "const" in schema else []
    kinds = list(dict.fromkeys(_kind(value) for value in values))
    if not kinds or "" in kinds:
        return {}
    kept = {"enum": list(values)} if set(kinds) <= {"string", "number"} else {}
    return {**kept, "type": schema.get("type", kinds[0] if len(kinds) == 1 else kinds)}


def _kind(value: object) -> str:
    """The type of a value in a choice; '' for lists and objects, which the service cannot choose from."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    return "string" if isinstance(value, str) else "number" if isinstance(value, int | float) else ""


def _moved(schema: dict[str, Any]) -> dict[str, Any]:
    """References to `definitions` lead to `$defs`, where they were moved."""

    def moved(value: Any) -> Any:
        if isinstance(value, dict):
            return {
                key: inner.replace("#/definitions/", "#/$defs/") if key == "$ref" and isinstance(inner, str) else moved(inner)
                for key, inner in value.items()
            }
        return [moved(inner) for inner in value] if isinstance(value, list) else value

    changed: dict[str, Any] = moved(schema)
    return changed
