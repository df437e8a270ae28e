"""The two JSON objects the host prints: the result on standard output, and after an error one at the end of standard error. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from afl_core.spec.reviewer import Usage
from afl_providers_gemini.reviewer_comments import at

LINES_SEARCHED = 400
"""Lines at the end of standard error in which the error object is looked for."""


def object_of(text: str) -> dict[str, Any] | None:
    """The JSON object that `text` is, or None."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def error_at_the_end(stderr: str) -> Mapping[str, Any]:
    """The `error` of the last error object, which stands behind stack traces, sometimes twice; empty when there is none."""
    lines = stderr.splitlines()[-LINES_SEARCHED:]
    decoder = json.JSONDecoder()
    for start in range(len(lines) - 1, -1, -1):
        place = lines[start].find("{")
        if place < 0 or (lines[start].strip() not in ("{", "[ERROR] {") and '"error"' not in lines[start]):
            continue
        try:
            value, _end = decoder.raw_decode("\n".join(lines[start:])[place:])
        except (ValueError, RecursionError):
            continue
        error = value.get("error") if isinstance(value, dict) else None
        if isinstance(error, dict):
            return error
    return {}


def usage_of(envelope: Mapping[str, Any]) -> Usage:
    """Tokens read and written (thoughts included), and the model that wrote most. The host reports no money."""
    models = at(envelope, "stats", "models")
    if not isinstance(models, Mapping):
        return Usage()
    read = {name: _count(model, "prompt") + _count(model, "tool") for name, model in models.items()}
    written = {name: _count(model, "candidates") + _count(model, "thoughts") for name, model in models.items()}
    return Usage(
        input_tokens=sum(read.values()),
        output_tokens=sum(written.values()),
        model=max(written, key=lambda name: written[name]) if written else None,
    )


def _count(model: object, name: str) -> int:
    value = at(model, "tokens", name)
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0
