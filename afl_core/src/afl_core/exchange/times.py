"""Times as programs write them: milliseconds, seconds, micro- or nanoseconds since the epoch, as numbers or text, or ISO 8601. Pure."""

from __future__ import annotations

import math
from typing import Any

from afl_core.model.json_values import milliseconds

_SCALES = ((1e17, 1e-6), (1e14, 1e-3), (1e11, 1.0), (0.0, 1e3))
"""From so much on, a number times so much is milliseconds: seconds until the year 5138, milliseconds from 1973 on."""


def time_of(value: Any) -> int | None:
    """Milliseconds since the epoch; None for what is no time."""
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            return milliseconds(value)
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value) or not 0 <= value < 1e20:
        return None
    scale = next(factor for least, factor in _SCALES if value >= least)
    return int(value) if scale == 1.0 else round(value * scale)
