"""The one codec: canonical JSON out, strict JSON in. Imports nothing heavy: the front uses it."""

from __future__ import annotations

import json
from typing import Any

from afl_core.model.errors import ModelError

_CANONICAL = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False)
_COMPACT = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def canonical(value: object) -> str:
    """JSON with sorted keys, no spaces and no ASCII escapes; NaN and infinities are refused."""
    return _CANONICAL.encode(value)


def compact(value: object) -> str:
    """JSON without spaces in the order given."""
    return _COMPACT.encode(value)


def loads(text: str | bytes, what: str) -> Any:
    """Parse JSON; `what` names the thing in the error."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError, TypeError) as bad:
        raise ModelError(f"{what} is not valid JSON: {bad}", code="AFL-MODEL-002") from bad
