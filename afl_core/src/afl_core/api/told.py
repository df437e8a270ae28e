"""Grains as plain Python values, as the public memory gives them. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from afl_core.memory.rank import Ranked
from afl_core.model.grain import Grain
from afl_core.store.grains import Stored

Value = dict[str, Any]


def told(there: Stored) -> Value:
    """A grain, where it stands, and its fields, once together and once each by its name."""
    grain = there.grain
    return {
        "hash": grain.hash,
        "type": grain.type.value,
        "superseded_by": there.superseded_by,
        "derived_from": there.derived_from,
        "fields": dict(grain.fields),
        **{key: value for key, value in grain.fields.items() if key not in _OURS},
    }


_OURS = ("hash", "type", "superseded_by", "derived_from", "fields")
"""Keys of a value that say where a grain is; a field of that name is only in `fields`."""


def scored(one: Ranked) -> Value:
    """A live grain that was found: its fields, its address, its type and its score."""
    grain = one.stored.grain
    return {**grain.fields, "hash": grain.hash, "type": grain.type.value, "score": one.score}


def newest_first(heads: Sequence[Stored]) -> list[Stored]:
    """Heads in the order in which they were made, the last one first."""
    return sorted(heads, key=lambda one: (one.grain.created_ms, one.grain.hash), reverse=True)


def says(there: Grain, given: Grain) -> bool:
    """Whether a grain says everything that another one would; when either was made does not count."""
    return all(there.fields.get(name) == value for name, value in given.fields.items() if name != "created_at")
