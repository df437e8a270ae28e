"""How an isolated run ended: the receipt, or the one reason it failed for. Pure, and it repeats nothing that the model said."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from typing import Any

from afl_core.model.json_values import mapping_of, natural_number, text_of
from afl_core.spec.reviewer import ProcessResult, ReviewerAnswer, Usage
from afl_providers_claude.reviewer_failures import FAILURES
from afl_providers_claude.reviewer_input import RESULT

DETAIL_LIMIT = 200
"""Characters of an explanation that is kept with the review."""

BY_STATUS: Mapping[int, str] = {
    401: "reviewer_unauthorized",
    403: "reviewer_unauthorized",
    429: "reviewer_overloaded",
    529: "reviewer_overloaded",
}

BY_SUBTYPE: Mapping[str, str] = {
    "error_max_structured_output_retries": "reviewer_schema_exhausted",
    "error_max_budget_usd": "reviewer_output_cut",
    "error_max_turns": "reviewer_output_cut",
}

BY_API_ERROR: Mapping[str, str] = {
    "connection_failed": "reviewer_network",
    "max_output_tokens": "reviewer_output_cut",
}

BY_SENTENCE = (
    (re.compile(r"not logged in|please run /login", re.IGNORECASE), "reviewer_login_missing"),
    (re.compile(r"request timed out", re.IGNORECASE), "reviewer_timeout"),
    (
        re.compile(
            r"connection (refused|error|reset)|can't reach|unable to connect|\bE(CONN[A-Z]+|NOTFOUND|AI_AGAIN|TIMEDOUT|HOSTUNREACH)\b",
            re.IGNORECASE,
        ),
        "reviewer_network",
    ),
)
"""Where the host gives no code, its own fixed sentences; only read when it says that the service failed."""

STOPPED_STATUS = (130, 137, 143)
"""How a shell, and the host itself, report a signal; a negative status is the same."""


def read(result: ProcessResult) -> ReviewerAnswer:
    """Success is status 0 and a structured output; a run that ends well without one has failed all the same."""
    if result.overflowed:
        return _failed("reviewer_output_too_large", f"stopped after {len(result.stdout)} bytes")
    if result.timed_out:
        return _failed("reviewer_timeout", f"stopped after {result.seconds:.0f} s")
    envelope = _envelope(result.stdout)
    if envelope is None:
        return _without_envelope(result)
    usage = _usage(envelope)
    if result.returncode != 0 or envelope.get("is_error") is True:
        code = _reason(envelope)
        return _failed(code, _told(code, envelope), usage)
    receipt = mapping_of(envelope.get("structured_output")).get(RESULT)
    if not isinstance(receipt, dict):
        stop, turns = envelope.get("stop_reason"), envelope.get("num_turns")
        return _failed("reviewer_no_structured_output", f"stop_reason {stop}, {turns} turns", usage)
    return ReviewerAnswer(receipt, usage=usage)


def _failed(code: str, detail: str, usage: Usage | None = None) -> ReviewerAnswer:
    printable = " ".join("".join(char if char.isprintable() else " " for char in detail).split())
    return ReviewerAnswer(None, reason=code, counts=FAILURES[code].counts, detail=printable[:DETAIL_LIMIT], usage=usage or Usage())


def _envelope(stdout: bytes) -> Mapping[str, Any] | None:
    try:
        parsed = json.loads(stdout)
    except (ValueError, RecursionError):
        return None
    return parsed if isinstance(parsed, dict) and parsed.get("type") == "result" else None


def _without_envelope(result: ProcessResult) -> ReviewerAnswer:
    status = result.returncode
    if status < 0 or status in STOPPED_STATUS:
        return _failed("reviewer_killed", f"status {status}")
    if status != 0 and not result.stdout.strip():
        complaint = next((line for line in result.stderr.decode("utf-8", "replace").splitlines() if line.strip()), "")
        return _failed("reviewer_command_rejected", complaint or f"status {status}, nothing printed")
    return _failed("reviewer_output_unreadable", f"status {status}, {len(result.stdout)} bytes")


def _reason(envelope: Mapping[str, Any]) -> str:
    status, subtype, error = envelope.get("api_error_status"), envelope.get("subtype"), envelope.get("api_error")
    if isinstance(status, int) and status >= 400:
        return BY_STATUS.get(status, "reviewer_api_error")
    if isinstance(subtype, str) and subtype in BY_SUBTYPE:
        return BY_SUBTYPE[subtype]
    if envelope.get("stop_reason") == "refusal":
        return "reviewer_refused"
    if isinstance(error, str) and error in BY_API_ERROR:
        return BY_API_ERROR[error]
    if envelope.get("stop_reason") == "max_tokens":
        return "reviewer_output_cut"
    return next((code for pattern, code in BY_SENTENCE if pattern.search(_sentence(envelope))), "reviewer_api_error")


def _sentence(envelope: Mapping[str, Any]) -> str:
    """The host's own words about a failed call; for any other ending `result` could be the model's."""
    return (text_of(envelope.get("result")) or "") if envelope.get("terminal_reason") == "api_error" else ""


def _told(code: str, envelope: Mapping[str, Any]) -> str:
    """Status and kind where the host gives them, else its sentence; for wrong shapes what the last one lacked."""
    if code == "reviewer_schema_exhausted":
        errors = envelope.get("errors")
        last = text_of(errors[-1]) if isinstance(errors, list) and errors else None
        # What follows in brackets would be the name of a property that the model made up.
        return (last or "").rpartition("schema: ")[2].partition(" (")[0]
    status, kind = envelope.get("api_error_status"), envelope.get("api_error_type") or envelope.get("api_error")
    if status or kind:
        return f"{status or ''} {kind or ''}"
    if code in ("reviewer_refused", "reviewer_output_cut"):
        return f"{envelope.get('subtype')}, stop_reason {envelope.get('stop_reason')}"
    return _sentence(envelope).partition("\n")[0] or f"{envelope.get('subtype')}, {envelope.get('terminal_reason')}"


def _usage(envelope: Mapping[str, Any]) -> Usage:
    """Tokens read (cached ones included) and written, dollars, and the model that wrote most."""
    usage = mapping_of(envelope.get("usage"))
    read_in = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
    models = mapping_of(envelope.get("modelUsage"))
    written = {name: natural_number(mapping_of(model).get("outputTokens")) or 0 for name, model in models.items()}
    return Usage(
        input_tokens=sum(natural_number(usage.get(name)) or 0 for name in read_in),
        output_tokens=natural_number(usage.get("output_tokens")) or 0,
        cost_usd=_dollars(envelope.get("total_cost_usd")),
        model=max(written, key=lambda name: written[name]) if written else None,
    )


def _dollars(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value) or value < 0:
        return None
    return float(value)
