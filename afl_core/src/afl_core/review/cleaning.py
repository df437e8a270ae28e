"""A reviewer's answer with every text of its own redacted. Pure, given a redactor.

Left alone are ids that the store itself handed over, and quotes: a quote is accepted only as an exact part of text that is redacted already.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from afl_core.review.shape import MAX_DEPTH, refuse

QUOTES = ("feedback_quote", "referent_quote")


def cleaned(value: Any, redact: Callable[[str], str], known_ids: frozenset[str], levels: int = MAX_DEPTH) -> Any:
    """`value` with every string redacted, member names included; raises what `redact` raises.

    Raises `ReviewError` (receipt_shape) for more than `levels` objects and lists inside each other: no receipt is so deep.
    """
    if isinstance(value, str):
        return value if value in known_ids else redact(value)
    if not isinstance(value, Mapping | list | tuple):
        return value
    if levels < 1:
        raise refuse("receipt", f"is nested deeper than {MAX_DEPTH} levels")
    if isinstance(value, Mapping):
        return {
            redact(str(name)): member if name in QUOTES and isinstance(member, str) else cleaned(member, redact, known_ids, levels - 1)
            for name, member in value.items()
        }
    return [cleaned(item, redact, known_ids, levels - 1) for item in value]
