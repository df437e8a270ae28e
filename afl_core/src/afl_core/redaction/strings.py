"""The strings inside JSON values: each is a text of its own. Pure."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

MAX_LEVELS = 80
"""Objects and lists inside each other that are looked into; deeper ones the store does not hold."""


IDS = frozenset(
    {
        *("namespace", "session_id", "tool_call_id", "lesson_id", "project_id", "report_id", "review_id", "incident_id", "family_id"),
        *("event_id", "feedback_event_id", "referent_event_ids", "repository_lineage_id", "previous_lesson_id", "application_id"),
        *("source_mac", "derived_from", "hash", "created_at", "run_id"),
    }
)
"""Members that name other things; they are no words, and a changed one would name nothing."""


def parsed(text: str) -> Any:
    """The JSON value of a text that is an object or a list; the text itself when it is none."""
    if text[:1] in ("{", "["):
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            return text
    return text


def strings(value: Any, levels: int = MAX_LEVELS) -> Iterator[str]:
    """Every string in a value, names of members included, those of `IDS` left out."""
    if isinstance(value, str):
        yield value
    elif levels and isinstance(value, dict):
        for name, member in value.items():
            yield name
            if name not in IDS:
                yield from strings(member, levels - 1)
    elif levels and isinstance(value, list):
        for member in value:
            yield from strings(member, levels - 1)


def mapped(value: Any, change: Callable[[str], str], levels: int = MAX_LEVELS) -> Any:
    """The value with every string changed, names of members included; what `IDS` name stays."""
    if isinstance(value, str):
        return change(value)
    if levels and isinstance(value, dict):
        return {change(name): member if name in IDS else mapped(member, change, levels - 1) for name, member in value.items()}
    if levels and isinstance(value, list):
        return [mapped(member, change, levels - 1) for member in value]
    return value
