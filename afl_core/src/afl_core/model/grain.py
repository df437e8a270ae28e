"""The grain: one immutable piece of typed memory, its checks, its canonical form and its address. Pure.

A grain is addressed by the SHA-256 of its canonical form, so equal content at an equal millisecond is the same grain everywhere.
"""

from __future__ import annotations

import enum
import hashlib
import math
import unicodedata
from collections.abc import Mapping
from typing import Any

import attrs

from afl_core.model.card_text import TEXTS
from afl_core.model.codec import canonical, loads
from afl_core.model.errors import ModelError
from afl_core.model.lesson import METHOD_CLASSES, Severity

FORMAT = 1
"""Version of the canonical form; part of every address."""

DEFAULT_NS = "shared"
MAX_BYTES = 16 * 1024 * 1024
"""Canonical bytes of one grain."""

MAX_DEPTH = 64
"""Nesting of a grain's values."""

MAX_EMBEDDING_BYTES = 8_192

_INVALID = "AFL-MODEL-003"


class GrainType(enum.Enum):
    """What a grain is."""

    FACT = "fact"
    EVENT = "event"
    STATE = "state"
    WORKFLOW = "workflow"
    TOOL = "tool"
    OBSERVATION = "observation"
    GOAL = "goal"
    REASONING = "reasoning"
    CONSENSUS = "consensus"
    CONSENT = "consent"
    SKILL = "skill"
    RECOMMENDATION = "recommendation"
    LESSON = "lesson"


@attrs.frozen
class HeadKey:
    """Where the newest grain of a thing is found: one head, or several while copies disagree."""

    ns: str
    subject: str
    relation: str


@attrs.frozen
class Grain:
    """A checked grain. `fields` are in NFC and hold `namespace` and `created_at` (ms since the epoch); `hash` is the address, 64 hex digits.

    `body`: the fields as they are stored and as the address counts them, canonical JSON.
    """

    type: GrainType
    fields: Mapping[str, Any]
    hash: str
    body: str = attrs.field(eq=False, repr=False)

    @property
    def ns(self) -> str:
        """The namespace."""
        return str(self.fields["namespace"])

    @property
    def created_ms(self) -> int:
        """When it was made, in ms since the epoch."""
        return int(self.fields["created_at"])

    @property
    def head_key(self) -> HeadKey | None:
        """The key under which it is the latest, for the types that have one."""
        if self.type is GrainType.LESSON:
            return HeadKey(self.ns, str(self.fields["lesson_id"]), "lesson")
        if self.type is GrainType.FACT:
            return HeadKey(self.ns, str(self.fields["subject"]), str(self.fields["relation"]))
        return None


def make(type: GrainType, fields: Mapping[str, Any], now: int) -> Grain:
    """Check and normalise fields into a grain; `now` stamps `created_at` when absent. Raises `ModelError` (AFL-MODEL-003) naming the field.

    Unknown keys are kept. A key whose value is None is absent.
    """
    grain = formed(type, fields, now)
    _check(type, grain.fields)
    return grain


def formed(type: GrainType, fields: Mapping[str, Any], now: int) -> Grain:
    """The same without the rules of its type: for grains that were made when the rules were others, and are only read or moved.

    Raises `ModelError` (AFL-MODEL-003) for what has no canonical form.
    """
    clean = _object({key: value for key, value in fields.items() if value is not None}, type.value, 0)
    clean.setdefault("namespace", DEFAULT_NS)
    clean.setdefault("created_at", now)
    for name in _TIMES & clean.keys():
        clean[name] = _whole(clean[name], f"{type.value}.{name}")
    body = canonical(clean)
    text = _addressed(type, body)
    if len(text) > MAX_BYTES:
        raise ModelError(f"{type.value} grain has {len(text)} bytes, at most {MAX_BYTES}", code=_INVALID)
    return Grain(type, clean, hashlib.sha256(text).hexdigest(), body)


def unfit(grain: Grain) -> str:
    """Which rule of its type a grain breaks, in a sentence that names the field; '' when it keeps them all."""
    try:
        _check(grain.type, grain.fields)
    except ModelError as bad:
        return bad.sentence
    return ""


def address_text(type: GrainType, fields: Mapping[str, Any]) -> bytes:
    """The canonical form: compact JSON with sorted keys of format version, type and fields, UTF-8."""
    return _addressed(type, canonical(fields))


def _addressed(type: GrainType, body: str) -> bytes:
    """`canonical({"fields": ..., "type": ..., "v": ...})` around fields that are canonical already."""
    return f'{{"fields":{body},"type":{canonical(type.value)},"v":{FORMAT}}}'.encode()


def kept(type: str, body: str, address: str) -> Grain:
    """A grain read back from the store, whose address is taken on trust: `verify` compares them all."""
    return Grain(GrainType(type), loads(body, "a stored grain"), address, body)


def stored(type: str, fields_json: str) -> Grain:
    """A grain read back from the store; its address is computed anew, so a caller can compare it with the stored one."""
    kind, fields = GrainType(type), loads(fields_json, "a stored grain")
    body = canonical(fields)
    return Grain(kind, fields, hashlib.sha256(_addressed(kind, body)).hexdigest(), body)


# ---------------------------------------------------------------------------------------------------------------------------- normal form


def _clean(value: Any, path: str, depth: int) -> Any:
    """NFC strings, lists for sequences, string keys only; what JSON or UTF-8 cannot hold is refused."""
    if depth > MAX_DEPTH:
        raise ModelError(f"{path} is nested deeper than {MAX_DEPTH}", code=_INVALID)
    if isinstance(value, Mapping):
        return _object(value, path, depth)
    if isinstance(value, list | tuple):
        return [_clean(item, f"{path}[{index}]", depth + 1) for index, item in enumerate(value)]
    if isinstance(value, str):
        return _text(value, path)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ModelError(f"{path} is not a finite number", code=_INVALID)
        return value or 0.0  # -0.0 equals 0.0 and must have its address
    if value is None or isinstance(value, int):
        if value is not None and not -(2**63) <= value < 2**63:
            raise ModelError(f"{path} does not fit in 64 bits", code=_INVALID)
        return value
    raise ModelError(f"{path} is of type {type(value).__name__}, which a grain cannot hold", code=_INVALID)


def _object(value: Mapping[Any, Any], path: str, depth: int) -> dict[str, Any]:
    clean: dict[str, Any] = {}
    for key, item in value.items():
        if not isinstance(key, str):
            raise ModelError(f"{path} has a key that is not text: {key!r}", code=_INVALID)
        name = key if _is_plain(key) else _text(key, f"{path} (a key)")
        if name in clean:
            raise ModelError(f"{path} has two keys that are the same text: {name!r}", code=_INVALID)
        clean[name] = item if _is_plain(item) else _clean(item, f"{path}.{name}", depth + 1)
    return clean


def _is_plain(value: Any) -> bool:
    """Whether a value is sure to be in normal form: nearly all are, and their paths need not be spelled."""
    return value is True or value is False or (type(value) is str and value.isascii() and "\0" not in value)


def _text(text: str, path: str) -> str:
    if "\0" in text:
        raise ModelError(f"{path} holds a NUL", code=_INVALID)
    try:
        text.encode()
    except UnicodeEncodeError as bad:
        raise ModelError(f"{path} holds half of a surrogate pair", code=_INVALID) from bad
    return unicodedata.normalize("NFC", text)


def _whole(value: Any, path: str) -> int:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        raise ModelError(f"{path} is not a time in whole milliseconds", code=_INVALID)
    return value


# ---------------------------------------------------------------------------------------------------------------------------------- checks

_TIMES = {"valid_from", "valid_to", "system_valid_from", "system_valid_to", "created_at"}
_STRINGS = ("namespace", "user_id", "source_type", "derived_from", "run_id", "session_id", "embedding_text", "supersession_justification")
_STRING_LISTS = ("tags", "causal_chain", "decision_timeline", "global_promotion_evidence")
_CHOICES = {
    "temporal_type": ("state", "event", "interval"),
    "verification_status": ("unverified", "verified", "contested", "retracted"),
}
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


def _check(type: GrainType, fields: Mapping[str, Any]) -> None:
    where = type.value
    for name in _REQUIRED.get(type, ()):
        value = fields.get(name)
        if value is None and (other := _INSTEAD.get((type, name))) is not None:
            value = fields.get(other)
        if not isinstance(value, str) or not value.strip():
            raise ModelError(f"{where}.{name} is missing or blank", code=_INVALID)
    _check_kinds(where, fields)
    if type is not GrainType.LESSON:  # a lesson's confidence is the reviewer's word
        _must("confidence" not in fields or _is_share(fields["confidence"]), f"{where}.confidence is not a number between 0 and 1")
    _must("importance" not in fields or _is_number(fields["importance"]), f"{where}.importance is not a number")
    _must("context" not in fields or isinstance(fields["context"], dict), f"{where}.context is not an object")
    _must("content_refs" not in fields or isinstance(fields["content_refs"], list), f"{where}.content_refs is not a list")
    _must(bool(fields["namespace"].strip()), f"{where}.namespace is blank")
    _must(
        len(fields.get("embedding_text", "").encode()) <= MAX_EMBEDDING_BYTES,
        f"{where}.embedding_text has more than {MAX_EMBEDDING_BYTES} bytes",
    )
    _check_related(where, fields.get("related_to", []))
    if type is GrainType.TOOL:
        _must("is_error" not in fields or isinstance(fields["is_error"], bool), f"{where}.is_error is not true or false")
        _must("tool_call_id" not in fields or isinstance(fields["tool_call_id"], str), f"{where}.tool_call_id is not text")
    if type is GrainType.LESSON:
        _check_lesson(where, fields)


def _check_kinds(where: str, fields: Mapping[str, Any]) -> None:
    """Fields that any grain may have; most have few of them, so a sentence is made only for one that is there."""
    for name in _STRINGS:
        if name in fields:
            _must(isinstance(fields[name], str), f"{where}.{name} is not text")
    for name in _STRING_LISTS:
        if name in fields:
            _must(_is_texts(fields[name]), f"{where}.{name} is not a list of texts")
    for name, allowed in _CHOICES.items():
        if name in fields:
            _must(fields[name] in allowed, f"{where}.{name} is none of {', '.join(allowed)}")


def _check_related(where: str, related: Any) -> None:
    _must(isinstance(related, list), f"{where}.related_to is not a list")
    for item in related:
        _must(isinstance(item, dict) and isinstance(item.get("hash"), str), f"{where}.related_to holds an item without a hash")
        _must(isinstance(item.get("relation_type", ""), str), f"{where}.related_to holds a relation_type that is not text")
        _must(_is_number(item.get("weight", 1)), f"{where}.related_to holds a weight that is not a number")


def _check_lesson(where: str, fields: Mapping[str, Any]) -> None:
    _must(
        fields["severity"] in {each.value for each in Severity if each is not Severity.MINOR},
        f"{where}.severity is none of Major, Critical, Blocker",
    )
    _must(fields["method_class"] in METHOD_CLASSES, f"{where}.method_class is none of {', '.join(METHOD_CLASSES)}")
    card: Any = fields.get("card")
    _must(isinstance(card, dict), f"{where}.card is missing")
    for name in TEXTS:
        text = card.get(name)
        _must(isinstance(text, str) and bool(text.strip()), f"{where}.card.{name} is missing or blank")
    _must(_is_texts(card.get("source_ids")) and bool(card["source_ids"]), f"{where}.card.source_ids is not a list of at least one id")


def _must(holds: bool, sentence: str) -> None:
    if not holds:
        raise ModelError(sentence, code=_INVALID)


def _is_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_share(value: Any) -> bool:
    return _is_number(value) and 0 <= value <= 1
