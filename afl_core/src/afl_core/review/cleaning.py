"""A reviewer's answer with every text of its own redacted. Pure, given a redactor.

Left alone are ids that the store itself handed over, and quotes: a quote is accepted only as an exact part of text that is redacted already.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

QUOTES = ("feedback_quote", "referent_quote")


def cleaned(value: Any, redact: Callable[[str], str], known_ids: frozenset[str]) -> Any:
    """`value` with every string redacted, member names included; raises what `redact` raises."""
    if isinstance(value, str):
        return value if value in known_ids else redact(value)
    if isinstance(value, Mapping):
        return {
            redact(str(name)): member if name in QUOTES and isinstance(member, str) else cleaned(member, redact, known_ids)
            for name, member in value.items()
        }
    if isinstance(value, list | tuple):
        return [cleaned(item, redact, known_ids) for item in value]
    return value
