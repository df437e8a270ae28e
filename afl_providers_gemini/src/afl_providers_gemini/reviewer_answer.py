"""How a run ended: the receipt, or the one reason it failed for. Pure, and it repeats nothing that the model said."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from afl_core.spec.reviewer import ProcessResult, ReviewerAnswer, Usage
from afl_providers_gemini.reviewer_comments import at
from afl_providers_gemini.reviewer_envelope import error_at_the_end, object_of, usage_of
from afl_providers_gemini.reviewer_failures import FAILURES
from afl_providers_gemini.reviewer_kept import HINT

DETAIL_LIMIT = 200
"""Characters of an explanation that is kept with the review."""

BY_STATUS: Mapping[int, str] = {
    401: "reviewer_unauthorized",
    403: "reviewer_unauthorized",
    404: "reviewer_settings",
    429: "reviewer_overloaded",
    503: "reviewer_overloaded",
    529: "reviewer_overloaded",
}

BY_EXIT: Mapping[int, str] = {
    41: "reviewer_login_missing",
    42: "reviewer_command_rejected",
    52: "reviewer_settings",
    53: "reviewer_output_cut",
    55: "reviewer_settings",
}
"""The host's own exit codes: login, no prompt, settings, turns, trust."""

BY_ERROR: Mapping[str, str] = {"SAFETY_BLOCKED": "reviewer_refused", "PROHIBITED_CONTENT": "reviewer_refused"}
"""What the host counted as errors of the service in a run that it calls successful."""

BY_SENTENCE = (
    (re.compile(r"api key not valid|API_KEY_INVALID|UNAUTHENTICATED|PERMISSION_DENIED", re.IGNORECASE), "reviewer_unauthorized"),
    (re.compile(r"RESOURCE_EXHAUSTED|exhausted your (?:capacity|daily quota)|quota exceeded", re.IGNORECASE), "reviewer_overloaded"),
    (
        re.compile(r"set an auth method|invalid auth method|manual authorization is required|must specify the \w+_API_KEY", re.IGNORECASE),
        "reviewer_login_missing",
    ),
    (
        re.compile(
            r"fetch failed|network error|\bE(CONN[A-Z]+|NOTFOUND|AI_AGAIN|TIMEDOUT|HOSTUNREACH|NETUNREACH)\b|socket hang up", re.IGNORECASE
        ),
        "reviewer_network",
    ),
    (re.compile(r"model\S* (?:is )?not found|NOT_FOUND", re.IGNORECASE), "reviewer_settings"),
)
"""Where the host gives no code, the sentences of its error object and of the service's."""

STOPPED_STATUS = (130, 137, 143)
"""How a shell reports a signal; a negative status is the same."""

FIRST_HTTP_STATUS = 400
STATUS_MODULUS = 256
"""The host ends with the service's status, of which the system keeps the lowest byte."""

_FENCE = re.compile(r"\A\s*```(?:json)?\s*\n(.*)\n\s*```\s*\Z", re.DOTALL)


def read(result: ProcessResult) -> ReviewerAnswer:
    """Success is status 0 and a response that is one JSON object; a run that ends well without one has failed all the same."""
    if result.overflowed:
        return _failed("reviewer_output_too_large", f"stopped after {len(result.stdout)} bytes")
    if result.timed_out:
        return _failed("reviewer_timeout", f"stopped after {result.seconds:.0f} s")
    if result.returncode < 0 or result.returncode in STOPPED_STATUS:
        return _failed("reviewer_killed", f"status {result.returncode}")
    if result.returncode != 0:
        return _after_error(result)
    if not result.stdout.strip():  # the host answers a signal with status 0 and nothing printed
        return _failed("reviewer_killed", "status 0, nothing printed")
    envelope = object_of(result.stdout.decode("utf-8", "replace"))
    if envelope is None or not isinstance(envelope.get("response"), str):
        return _failed("reviewer_output_unreadable", f"status 0, {len(result.stdout)} bytes")
    return _response(envelope["response"], envelope)


def _response(response: str, envelope: Mapping[str, Any]) -> ReviewerAnswer:
    usage = usage_of(envelope)
    if not response.strip():
        errors = _errors(envelope)
        code = next((BY_ERROR[name] for name in errors if name in BY_ERROR), "reviewer_no_structured_output")
        return _failed(code, f"empty response, {', '.join(errors) or 'no error'}", usage)
    fenced = _FENCE.match(response)
    text = (fenced[1] if fenced else response).strip()
    try:
        receipt = json.loads(text)
    except RecursionError:
        return _failed("reviewer_no_structured_output", "the response is nested too deeply", usage)
    except ValueError as bad:
        cut = text.startswith("{") and _ends_early(bad, text)
        return _failed(
            "reviewer_output_cut" if cut else "reviewer_no_structured_output", f"no JSON object in {len(text)} characters", usage
        )
    if not isinstance(receipt, dict):
        return _failed("reviewer_no_structured_output", "the response is no JSON object", usage)
    return ReviewerAnswer(receipt, usage=usage)


def _ends_early(bad: ValueError, text: str) -> bool:
    """Whether an object is right as far as it goes, or at least never comes to its end."""
    return not text.endswith("}") or (isinstance(bad, json.JSONDecodeError) and bad.pos >= len(text))


def _errors(envelope: Mapping[str, Any]) -> list[str]:
    models = at(envelope, "stats", "models")
    kinds = [at(one, "api", "errorsByType") for one in models.values()] if isinstance(models, Mapping) else []
    return [name for kind in kinds if isinstance(kind, Mapping) for name in kind]


def _after_error(result: ProcessResult) -> ReviewerAnswer:
    status = result.returncode
    error = error_at_the_end(result.stderr.decode("utf-8", "replace"))
    code = error.get("code")
    message = str(error.get("message") or "")
    http = code if isinstance(code, int) and code >= FIRST_HTTP_STATUS else _http_status(status)
    if status in BY_EXIT and (not isinstance(code, int) or code in (status, 0)):
        told = _told(message) or f"status {status}"
        return _failed(BY_EXIT[status], f"{HINT}: {told}" if BY_EXIT[status] == "reviewer_login_missing" else told)
    said = message or ("" if error else _last_line(result.stderr))
    named = next((reason for pattern, reason in BY_SENTENCE if pattern.search(said)), None)
    if http is not None:
        # A key that is no key is refused as a wrong argument, not as a missing login.
        reason = BY_STATUS.get(http) or (named if http == FIRST_HTTP_STATUS and named == "reviewer_unauthorized" else None)
        return _failed(reason or "reviewer_api_error", f"{http} {_told(message)}")
    if named is not None:
        return _failed(named, _told(said))
    if error:
        return _failed("reviewer_api_error", _told(message) or f"status {status}")
    return _failed("reviewer_command_rejected", said or f"status {status}, nothing printed")


def _http_status(status: int) -> int | None:
    """The service's status behind an exit status, as far as one byte tells it."""
    found = status + STATUS_MODULUS
    return found if found >= FIRST_HTTP_STATUS else None


def _told(message: str) -> str:
    """The sentence of an error, which may be the service's JSON."""
    inner = at(object_of(message) or {}, "error")
    if isinstance(inner, Mapping):
        return f"{inner.get('status') or ''} {inner.get('message') or ''}".strip()
    return message.partition("\n")[0]


def _last_line(stderr: bytes) -> str:
    lines = [line.strip() for line in stderr.decode("utf-8", "replace").splitlines() if line.strip()]
    return lines[-1] if lines else ""


def _failed(code: str, detail: str, usage: Usage | None = None) -> ReviewerAnswer:
    printable = " ".join("".join(char if char.isprintable() else " " for char in detail).split())
    return ReviewerAnswer(None, reason=code, counts=FAILURES[code].counts, detail=printable[:DETAIL_LIMIT], usage=usage or Usage())
