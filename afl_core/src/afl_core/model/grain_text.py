"""The words of a grain that free text is searched in, and its value as people would compare it. Pure.

What `searchable` gives is indexed: whoever changes it raises `VERSION` of `memory.terms`, so that every index is made anew.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from afl_core.model.codec import compact
from afl_core.model.grain import Grain, GrainType

_BODY = ("object", "content", "tool_content", "body", "text", "description", "result", "error")
"""Where the different types keep their main text; all that are there count."""
_NAMES: Mapping[GrainType, tuple[str, ...]] = {
    GrainType.FACT: ("subject", "relation"),
    GrainType.TOOL: ("tool_name",),
    GrainType.SKILL: ("name",),
    GrainType.GOAL: ("subject",),
}
MAX_TEXT = 16_384
"""Characters of one grain that are searchable."""


def searchable(grain: Grain) -> str:
    """Everything of a grain that can be found by free text, one part a line: names, main text, input, tags, the card of a lesson."""
    fields = grain.fields
    parts = [fields.get(name) for name in (*_NAMES.get(grain.type, ()), *_BODY)]
    given = fields.get("input")
    parts.append(given if isinstance(given, str) or given is None else compact(given))
    parts += fields.get("tags", ())
    if isinstance(card := fields.get("card"), dict):
        parts += [text for text in card.values() if isinstance(text, str)]
    if isinstance(state := fields.get("context"), dict) and grain.type is GrainType.STATE:
        parts.append(compact(state))
    parts.append(fields.get("embedding_text"))
    return "\n".join(part for part in parts if isinstance(part, str) and part)[:MAX_TEXT]


def texts_of(value: object) -> Iterator[str]:
    """Every text in the fields of a grain, or in a value, whole; but where a grain stands is no text of it."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for name, item in value.items():
            if name != "namespace":
                yield from texts_of(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from texts_of(item)


def shown(grain: Grain) -> str:
    """One line that says a grain to a person or a model."""
    fields = grain.fields
    if grain.type is GrainType.FACT:
        return " ".join(str(fields[name]) for name in ("subject", "relation", "object"))
    if grain.type is GrainType.TOOL:
        how = {True: "failed", False: "worked"}.get(fields.get("is_error"), "was called")  # type: ignore[arg-type]
        return f"{fields['tool_name']} {how}: {body(fields)}".rstrip(": ")
    if grain.type is GrainType.SKILL:
        return f"{fields['name']}: {fields['description']}"
    return body(fields) or searchable(grain)


def body(fields: Mapping[str, Any]) -> str:
    """The main text of a grain's fields, '' when it has none."""
    return next((str(fields[name]) for name in _BODY if isinstance(fields.get(name), str) and fields[name]), "")


_TOOL_TEXT = ("tool_content", "content", "result", "error", "body")


def tool_text(fields: Mapping[str, Any]) -> str:
    """What a tool answered, '' when nothing is kept of it."""
    return next((fields[name] for name in _TOOL_TEXT if isinstance(fields.get(name), str) and fields[name]), "")


def value_of(grain: Grain) -> str:
    """What a value tombstone compares: who and what a fact is about and what it says; of other types their text."""
    fields = grain.fields
    if grain.type is GrainType.FACT:
        return "\0".join((grain.ns, str(fields["subject"]), str(fields["relation"]), str(fields["object"])))
    return "\0".join((grain.ns, grain.type.value, searchable(grain)))
