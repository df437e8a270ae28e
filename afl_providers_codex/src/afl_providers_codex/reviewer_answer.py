"""How an isolated run ended: the receipt, or the one reason it failed for. Pure, and it repeats nothing that the model said."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from afl_core.spec.reviewer import ProcessResult, ReviewerAnswer, Usage
from afl_providers_codex.reviewer_failures import FAILURES
from afl_providers_codex.reviewer_input import ANSWER_FILE, RECEIPT_FILE
from afl_providers_codex.reviewer_schema import restored

DETAIL_LIMIT = 200
"""Characters of an explanation that is kept with the review."""

STOPPED_STATUS = (130, 137, 143)
"""How a shell, and the host itself, report a signal; a negative status is the same."""

BY_STATUS: Mapping[int, str] = {
    401: "reviewer_unauthorized",
    403: "reviewer_unauthorized",
    413: "reviewer_context_too_large",
    429: "reviewer_overloaded",
    503: "reviewer_overloaded",
    529: "reviewer_overloaded",
}

BY_SENTENCE = tuple(
    (re.compile(pattern, re.IGNORECASE), code)
    for pattern, code in (
        (r"missing environment variable|not logged in|missing bearer", "reviewer_login_missing"),
        (r"(refresh|access) token|sign in again|log in again", "reviewer_unauthorized"),
        (r"high demand|rate limit|quota exceeded|usage limit|at capacity|overloaded", "reviewer_overloaded"),
        (r"reason: max_output_tokens", "reviewer_output_cut"),
        (r"reason: content_filter", "reviewer_refused"),
        (r"model's context window|context length", "reviewer_context_too_large"),
        (r"turn interrupted", "reviewer_killed"),
        (
            r"waiting for network|connection (failed|refused|reset)|error sending request|stream disconnected|network|dns error",
            "reviewer_network",
        ),
        (r"timed out|timeout", "reviewer_timeout"),
    )
)
"""The host's own fixed sentences, the more telling first."""

_STATUS = re.compile(r"(?:unexpected|last) status:? (\d{3})")
_FENCE = re.compile(r"\A\s*```(?:json)?\s*\n(.*)\n\s*```\s*\Z", re.DOTALL)

Event = Mapping[str, Any]


def read(result: ProcessResult) -> ReviewerAnswer:
    """Success is status 0 and one JSON object in the answer file; a run that ends well without it has failed all the same."""
    events = _events(result.stdout)
    usage = _usage(events)
    if result.overflowed:
        return _failed("reviewer_output_too_large", f"stopped after {len(result.stdout)} bytes", usage)
    if result.timed_out:
        # Without a network the host waits for one and never ends by itself; a busy service it asks again for minutes.
        waited_for = _code(_trouble(events))
        postponed = waited_for in FAILURES and not FAILURES[waited_for].counts
        return _failed(waited_for if postponed else "reviewer_timeout", f"stopped after {result.seconds:.0f} s", usage)
    if result.returncode == 0:
        return _answered(result, events, usage)
    if trouble := _trouble(events):
        code = _code(trouble) or "reviewer_api_error"
        return _failed(code, _told(trouble), usage)
    return _without_events(result, events)


def _answered(result: ProcessResult, events: Sequence[Event], usage: Usage) -> ReviewerAnswer:
    raw = result.outputs.get(ANSWER_FILE, b"").decode("utf-8", "replace").strip() or _last_words(events)
    if not raw and not events:
        return _failed("reviewer_output_unreadable", f"status 0, {len(result.stdout)} bytes", usage)
    receipt = _parsed(raw)
    schema = _parsed(result.outputs.get(RECEIPT_FILE, b"{}").decode("utf-8", "replace"))
    if isinstance(receipt, dict) and isinstance(schema, dict) and schema:
        receipt = restored(receipt, schema)
    if not isinstance(receipt, dict):
        return _failed("reviewer_no_structured_output", f"{len(raw)} characters that are no JSON object" if raw else "no answer", usage)
    return ReviewerAnswer(receipt, usage=usage)


def _failed(code: str, detail: str, usage: Usage | None = None) -> ReviewerAnswer:
    printable = " ".join("".join(char if char.isprintable() else " " for char in detail).split())
    return ReviewerAnswer(None, reason=code, counts=FAILURES[code].counts, detail=printable[:DETAIL_LIMIT], usage=usage or Usage())


def _without_events(result: ProcessResult, events: Sequence[Event]) -> ReviewerAnswer:
    status = result.returncode
    if status < 0 or status in STOPPED_STATUS:
        return _failed("reviewer_killed", f"status {status}")
    if events or result.stdout.strip():
        return _failed("reviewer_output_unreadable", f"status {status}, {len(result.stdout)} bytes")
    complaint = next((line for line in result.stderr.decode("utf-8", "replace").splitlines() if line.strip()), "")
    return _failed("reviewer_command_rejected", complaint or f"status {status}, nothing printed")


def _events(stdout: bytes) -> list[Event]:
    found: list[Event] = []
    for line in stdout.splitlines():
        event = _parsed(line.decode("utf-8", "replace")) if line.startswith(b"{") else None
        if isinstance(event, dict) and isinstance(event.get("type"), str):
            found.append(event)
    return found


def _trouble(events: Sequence[Event]) -> str:
    """What the host says went wrong: of the turn, else the last error on the way; '' when it says nothing."""
    for event in reversed(events):
        told = event.get("error") if event["type"] == "turn.failed" else event if event["type"] == "error" else None
        message = told.get("message") if isinstance(told, dict) else None
        if isinstance(message, str) and message:
            return message
    return ""


def _code(trouble: str) -> str:
    """The reason a sentence of the host stands for; '' for none that is known."""
    sentence = next((code for pattern, code in BY_SENTENCE if pattern.search(trouble)), "")
    if status := _STATUS.search(trouble):
        return sentence if sentence == "reviewer_login_missing" else BY_STATUS.get(int(status[1]), "reviewer_api_error")
    return sentence


def _told(trouble: str) -> str:
    """The status where there is one; a service's own JSON is not repeated, it may quote what it was sent."""
    if status := _STATUS.search(trouble):
        return f"status {status[1]}"
    if trouble.lstrip().startswith("{"):
        error = _parsed(trouble)
        inner = error.get("error") if isinstance(error, dict) else None
        kind = (inner.get("code") or inner.get("type")) if isinstance(inner, dict) else None
        return kind if isinstance(kind, str) else "an error in JSON"
    return trouble.partition("\n")[0]


def _last_words(events: Sequence[Event]) -> str:
    """The last message, should the answer file be missing."""
    for event in reversed(events):
        item = event.get("item")
        if event["type"] == "item.completed" and isinstance(item, dict) and item.get("type") == "agent_message":
            said = item.get("text")
            return said.strip() if isinstance(said, str) else ""
    return ""


def _parsed(raw: str) -> object:
    fenced = _FENCE.match(raw)
    try:
        return json.loads(fenced[1] if fenced else raw)
    except (ValueError, RecursionError):
        return None


def _usage(events: Sequence[Event]) -> Usage:
    """Tokens read (cached ones included) and written (reasoning included)."""
    used = next((event.get("usage") for event in reversed(events) if event["type"] == "turn.completed"), None)
    return Usage(_whole(used, "input_tokens"), _whole(used, "output_tokens"))


def _whole(used: object, key: str) -> int:
    value = used.get(key) if isinstance(used, dict) else None
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0
