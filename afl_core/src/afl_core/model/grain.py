"""The grain: one immutable piece of typed memory, its checks, its canonical form and its address. Pure.

A grain is addressed by the SHA-256 of its canonical form, so equal content at an equal millisecond is the same grain everywhere.
"""

from __future__ import annotations

import hashlib
import math
import unicodedata
from collections.abc import Mapping
from typing import Any

import attrs

from afl_core.model.codec import canonical, loads
from afl_core.model.errors import ModelError
from afl_core.model.grain_rules import TIMES, broken
from afl_core.model.grain_type import GrainType

__all__ = [
    "DEFAULT_NS",
    "FORMAT",
    "HEADED",
    "MAX_BYTES",
    "MAX_DEPTH",
    "Grain",
    "GrainType",
    "HeadKey",
    "formed",
    "kept",
    "make",
    "stored",
    "unfit",
]

FORMAT = 1
"""Version of the canonical form; part of every address."""

DEFAULT_NS = "shared"
MAX_BYTES = 16 * 1024 * 1024
"""Canonical bytes of one grain."""

MAX_DEPTH = 64
"""Nesting of a grain's values."""

HEADED = frozenset({GrainType.FACT, GrainType.LESSON})
"""Types of which each thing has a newest grain."""

_INVALID = "AFL-MODEL-003"


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


def make(type: GrainType, fields: Mapping[str, Any], now: int, ns: str = DEFAULT_NS) -> Grain:
    """Check and normalise fields into a grain. Raises `ModelError` (AFL-MODEL-003) naming the field.

    `now` and `ns` are its `created_at` and its `namespace` where it names none. Unknown keys are kept. A key whose value is None is absent.
    """
    grain = formed(type, fields, now, ns)
    if wrong := broken(type, grain.fields):
        raise ModelError(wrong, code=_INVALID, hint="correct the field")
    return grain


def formed(type: GrainType, fields: Mapping[str, Any], now: int, ns: str = DEFAULT_NS) -> Grain:
    """The same without the rules of its type: for grains that were made when the rules were others, and are only read or moved.

    Raises `ModelError` (AFL-MODEL-003) for what has no canonical form.
    """
    clean = {key: value for key, value in fields.items() if value is not None}
    if not _is_plain(clean):
        clean = _object(clean, type.value, 0)
    if "namespace" not in clean:
        clean["namespace"] = ns if _is_plain_text(ns) else _text(ns, f"{type.value}.namespace")
    if not TIMES.isdisjoint(clean):
        for name in TIMES & clean.keys():
            clean[name] = _whole(clean[name], type.value, name)
    if "created_at" not in clean:
        clean["created_at"] = now if now.__class__ is int else _whole(now, type.value, "created_at")
    body = canonical(clean)
    text = _addressed(type, body)
    if len(text) > MAX_BYTES:
        raise ModelError(f"{type.value} grain has {len(text)} bytes, at most {MAX_BYTES}", code=_INVALID, hint="correct the field")
    return Grain(type, clean, hashlib.sha256(text).hexdigest(), body)


def unfit(grain: Grain) -> str:
    """Which rule of its type a grain breaks, in a sentence that names the field; '' when it keeps them all."""
    return broken(grain.type, grain.fields)


def _addressed(type: GrainType, body: str) -> bytes:
    """The canonical form: compact JSON with sorted keys of fields, type and format version, UTF-8; around fields that are written already."""
    return f'{{"fields":{body}{_ENDS[type]}'.encode()


_ENDS = {kind: f',"type":{canonical(kind.value)},"v":{FORMAT}}}' for kind in GrainType}
"""How the canonical form of each type goes on behind its fields."""


def kept(type: str, body: str, address: str) -> Grain:
    """A grain read back from the store, whose address is taken on trust: `verify` compares them all."""
    return Grain(GrainType(type), loads(body, "a stored grain"), address, body)


def stored(type: str, fields_json: str) -> Grain:
    """A grain read back from the store; its address is computed anew, so a caller can compare it with the stored one."""
    kind, fields = GrainType(type), loads(fields_json, "a stored grain")
    body = canonical(fields)
    return Grain(kind, fields, hashlib.sha256(_addressed(kind, body)).hexdigest(), body)


# ---------------------------------------------------------------------------------------------------------------------------- normal form


def _is_plain(fields: Mapping[Any, Any]) -> bool:
    """Whether fields are in normal form as they are: texts in ASCII, flags and everyday numbers, which is what nearly all are made of."""
    for value in fields.values():
        kind = type(value)
        if kind is str:
            if not value.isascii() or "\0" in value:
                return False
        elif kind is int:
            if not -_EVERYDAY < value < _EVERYDAY:
                return False
        elif kind is float:
            if not 0 < value < _EVERYDAY:  # shares are; the negative zero is to become a plain one
                return False
        elif kind is not bool:
            return False
    return _NAMES.issuperset(fields) or all(type(name) is str and _is_plain_text(name) for name in fields)


_EVERYDAY = 2**62
_NAMES = frozenset(
    (
        *("subject", "relation", "object", "confidence", "content", "role", "namespace", "created_at", "valid_to"),
        *("tool_name", "tool_content", "tool_call_id", "session_id", "input", "is_error", "exit_code", "duration_ms", "error"),
    )
)
"""Names that most fields have, so that they need no look."""


def _is_plain_text(text: str) -> bool:
    return text.isascii() and "\0" not in text


def _clean(value: Any, path: str, depth: int) -> Any:
    """NFC strings, lists for sequences, string keys only; what JSON or UTF-8 cannot hold is refused."""
    if depth > MAX_DEPTH:
        raise ModelError(f"{path} is nested deeper than {MAX_DEPTH}", code=_INVALID, hint="correct the field")
    if isinstance(value, Mapping):
        return _object(value, path, depth)
    if isinstance(value, list | tuple):
        return [_clean(item, f"{path}[{index}]", depth + 1) for index, item in enumerate(value)]
    if isinstance(value, str):
        return _text(value, path)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ModelError(f"{path} is not a finite number", code=_INVALID, hint="correct the field")
        return value or 0.0  # -0.0 equals 0.0 and must have its address
    if value is None or isinstance(value, int):
        if value is not None and not -(2**63) <= value < 2**63:
            raise ModelError(f"{path} does not fit in 64 bits", code=_INVALID, hint="correct the field")
        return value
    raise ModelError(f"{path} is of type {type(value).__name__}, which a grain cannot hold", code=_INVALID, hint="correct the field")


def _object(value: Mapping[Any, Any], path: str, depth: int) -> dict[str, Any]:
    clean: dict[str, Any] = {}
    for key, item in value.items():
        if not isinstance(key, str):
            raise ModelError(f"{path} has a key that is not text: {key!r}", code=_INVALID, hint="correct the field")
        name = key if _is_plain_text(key) else _text(key, f"{path} (a key)")
        if name in clean:
            raise ModelError(f"{path} has two keys that are the same text: {name!r}", code=_INVALID, hint="correct the field")
        if type(item) is str and _is_plain_text(item):
            clean[name] = item  # most are, and their paths need not be spelled
        else:
            clean[name] = _clean(item, f"{path}.{name}", depth + 1)
    return clean


def _text(text: str, path: str) -> str:
    if "\0" in text:
        raise ModelError(f"{path} holds a NUL", code=_INVALID, hint="correct the field")
    try:
        text.encode()
    except UnicodeEncodeError as bad:
        raise ModelError(f"{path} holds half of a surrogate pair", code=_INVALID, hint="correct the field") from bad
    return unicodedata.normalize("NFC", text)


def _whole(value: Any, where: str, name: str) -> int:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
        if not -(2**63) <= value < 2**63:
            raise ModelError(f"{where}.{name} does not fit in 64 bits", code=_INVALID, hint="correct the field")
    if isinstance(value, bool) or not isinstance(value, int):
        raise ModelError(f"{where}.{name} is not a time in whole milliseconds", code=_INVALID, hint="correct the field")
    return value
