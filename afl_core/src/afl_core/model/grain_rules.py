"""What the fields of a grain have to be. Pure: a rule is given a value in normal form and says what is wrong with it, or nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from afl_core.model.card_text import TEXTS
from afl_core.model.grain_type import GrainType
from afl_core.model.lesson import METHOD_CLASSES, Severity

MAX_EMBEDDING_BYTES = 8_192

TIMES = {"valid_from", "valid_to", "system_valid_from", "system_valid_to", "created_at"}
"""Fields in ms since the epoch."""

Rule = Callable[[Any], str]

_REQUIRED: dict[GrainType, tuple[str, ...]] = {
    GrainType.FACT: ("subject", "relation", "object"),
    GrainType.EVENT: ("content",),
    GrainType.TOOL: ("tool_name",),
    GrainType.SKILL: ("name", "description"),
    GrainType.LESSON: ("lesson_id", "severity", "method_class", "class_id"),
    GrainType.OBSERVATION: ("content",),
    GrainType.GOAL: ("description",),
}
_INSTEAD = {(GrainType.OBSERVATION, "content"): "object", (GrainType.GOAL, "description"): "object"}
"""Where other stores keep what is required: it counts when the field itself is not there."""


def broken(type: GrainType, fields: Mapping[str, Any]) -> str:
    """The first rule that the fields of a grain of a type break, in a sentence that names the field; '' when they keep them all."""
    for name in _REQUIRED.get(type, ()):
        value = fields.get(name)
        if value is not None and not isinstance(value, str):
            return f"{type.value}.{name} is not text"
        if value is None and (other := _INSTEAD.get((type, name))) is not None:
            value = fields.get(other)
        if not isinstance(value, str) or not value.strip():
            return f"{type.value}.{name} is missing or blank"
    rules = _RULES[type]
    for name, value in fields.items():
        if (rule := rules.get(name)) is not None and (wrong := rule(value)):
            return f"{type.value}.{name} {wrong}"
    return _broken_card(fields) if type is GrainType.LESSON else ""


def _text(value: Any) -> str:
    return "" if isinstance(value, str) else "is not text"


def _name(value: Any) -> str:
    return _text(value) or ("" if value.strip() else "is blank")


def _short_text(value: Any) -> str:
    return _text(value) or ("" if len(value.encode()) <= MAX_EMBEDDING_BYTES else f"has more than {MAX_EMBEDDING_BYTES} bytes")


def _texts(value: Any) -> str:
    return "" if _is_texts(value) else "is not a list of texts"


def _list(value: Any) -> str:
    return "" if isinstance(value, list) else "is not a list"


def _object(value: Any) -> str:
    return "" if isinstance(value, dict) else "is not an object"


def _flag(value: Any) -> str:
    return "" if isinstance(value, bool) else "is not true or false"


def _number(value: Any) -> str:
    return "" if _is_number(value) else "is not a number"


def _share(value: Any) -> str:
    return "" if _is_number(value) and 0 <= value <= 1 else "is not a number between 0 and 1"


def _one_of(*allowed: str) -> Rule:
    return lambda value: "" if isinstance(value, str) and value in allowed else f"is none of {', '.join(allowed)}"


def _related(value: Any) -> str:
    if not isinstance(value, list):
        return "is not a list"
    for item in value:
        if not isinstance(item, dict) or not isinstance(item.get("hash"), str):
            return "holds an item without a hash"
        if not isinstance(item.get("relation_type", ""), str):
            return "holds a relation_type that is not text"
        if not _is_number(item.get("weight", 1)):
            return "holds a weight that is not a number"
    return ""


def _broken_card(fields: Mapping[str, Any]) -> str:
    card: Any = fields.get("card")
    if not isinstance(card, dict):
        return "lesson.card is missing"
    for name in TEXTS:
        text = card.get(name)
        if not isinstance(text, str) or not text.strip():
            return f"lesson.card.{name} is missing or blank"
    if not card.get("source_ids") or not _is_texts(card["source_ids"]):
        return "lesson.card.source_ids is not a list of at least one id"
    return ""


def _is_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


_ANY: dict[str, Rule] = {
    **dict.fromkeys(("user_id", "source_type", "derived_from", "run_id", "session_id", "supersession_justification"), _text),
    **dict.fromkeys(("tags", "causal_chain", "decision_timeline", "global_promotion_evidence"), _texts),
    "namespace": _name,
    "embedding_text": _short_text,
    "confidence": _share,
    "importance": _number,
    "context": _object,
    "content_refs": _list,
    "related_to": _related,
    "temporal_type": _one_of("state", "event", "interval"),
    "verification_status": _one_of("unverified", "verified", "contested", "retracted"),
}
_OWN: dict[GrainType, dict[str, Rule]] = {
    GrainType.TOOL: {"is_error": _flag, "tool_call_id": _text},
    GrainType.LESSON: {
        "severity": _one_of(*(each.value for each in Severity if each is not Severity.MINOR)),
        "method_class": _one_of(*METHOD_CLASSES),
        "confidence": lambda _value: "",  # a lesson's is the reviewer's word
    },
}
_RULES = {kind: {**_ANY, **_OWN.get(kind, {})} for kind in GrainType}
