"""Values of JSON that somebody else wrote, read with suspicion: whatever is missing or of another type is none. For plug-in authors. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from afl_core.model.codec import compact

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def _refuse(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


DECODER = json.JSONDecoder(parse_constant=_refuse)
"""A decoder that refuses NaN and infinities. It raises ValueError for anything that is not JSON, RecursionError for what is too deep to read."""


def text_of(value: object) -> str | None:
    """The string, with halves of surrogate pairs (which no encoding can write) replaced; None when it is empty or no string."""
    if not isinstance(value, str) or not value:
        return None
    return value if value.isascii() else value.encode("utf-8", "replace").decode("utf-8")


def mapping_of(value: object) -> Mapping[str, Any]:
    """The object, or an empty one for anything else."""
    return value if isinstance(value, dict) else {}


def json_text(value: object) -> str | None:
    """The value as JSON text, its keys in the order given; None when it cannot be written."""
    try:
        return text_of(compact(value))
    except (ValueError, RecursionError):
        return None


def milliseconds(value: object) -> int | None:
    """An ISO 8601 time as ms since the epoch; a time without a zone is UTC."""
    if not isinstance(value, str):
        return None
    try:
        moment = datetime.fromisoformat(value)
        return ((moment if moment.tzinfo else moment.replace(tzinfo=UTC)) - EPOCH) // timedelta(milliseconds=1)
    except (ValueError, OverflowError):
        return None


def whole_number(value: object) -> int | None:
    """The value when it is an integer (a boolean is none)."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def natural_number(value: object) -> int | None:
    """The value when it is an integer from 0 up (a boolean is none)."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
