"""The one codec: canonical JSON out, strict JSON in. Imports nothing heavy: the front uses it."""

from __future__ import annotations

import json
from typing import Any

from afl_core.model.errors import ModelError


def canonical(value: object) -> str:
    """JSON with sorted keys, no spaces and no ASCII escapes; NaN and infinities are refused."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False)


def compact(value: object) -> str:
    """JSON without spaces in the order given."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def loads(text: str | bytes, what: str) -> Any:
    """Parse JSON; `what` names the thing in the error."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as bad:
        raise ModelError(f"{what} is not valid JSON: {bad}", code="AFL-MODEL-002") from bad
