"""The one codec: canonical JSON out, strict JSON in. Imports nothing heavy: the front uses it."""

from __future__ import annotations

import json
from collections.abc import Callable
from json import encoder
from typing import Any

from afl_core.model.errors import ModelError

_CANONICAL = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False)
_COMPACT = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def _written_once_made() -> Callable[[object], str]:
    """`_CANONICAL.encode` with its C encoder made once: `json` makes one for every text, which takes as long as writing a small one."""
    made: Any = getattr(encoder, "c_make_encoder", None)
    try:
        pieces = made(None, _CANONICAL.default, encoder.encode_basestring, None, ":", ",", True, False, False)
        "".join(pieces("", 0))
    except TypeError:  # a Python without it, or whose encoder takes other arguments
        return _CANONICAL.encode
    return lambda value: "".join(pieces(value, 0))


_WRITE = _written_once_made()


def canonical(value: object) -> str:
    """JSON with sorted keys, no spaces and no ASCII escapes; NaN and infinities are refused."""
    return _WRITE(value)


def compact(value: object) -> str:
    """JSON without spaces in the order given."""
    return _COMPACT.encode(value)


def loads(text: str | bytes, what: str) -> Any:
    """Parse JSON; `what` names the thing in the error."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError, TypeError) as bad:
        raise ModelError(
            f"{what} is not valid JSON: {bad}",
            code="AFL-MODEL-002",
            hint='give a number, true, false, null, a "text" in double quotes, a [list] or an {"object": 1}',
        ) from bad
