"""The explicit reviewer: a command that a person named in the settings. What it is run with, and how its answer is read; runs nothing.

It gets the names of two files and no input, prints one JSON receipt and ends with status 0.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from afl_core.model.codec import loads
from afl_core.model.errors import ModelError, ReviewError
from afl_core.review.context import ReviewFiles
from afl_core.settings.schema import Settings
from afl_core.spec.reviewer import ProcessResult, ReviewerAnswer, ReviewerCommand

NAME = "command"
"""How the ledger and the audit chain name it."""

PROTOCOL = "stdout_json_receipt"

_FENCE = re.compile(r"\A```[A-Za-z]*\s*\n(.*?)\n?```\s*\Z", re.DOTALL)
_WRAPPERS = ("structured_output", "result", "response", "output", "content")


def command(settings: Settings, review_id: str, files: ReviewFiles) -> ReviewerCommand:
    """The command with its arguments and four variables; raises `ReviewError` (reviewer_settings) when the arguments are no list of texts."""
    name = "AGENT_FEEDBACK_LOOP_REVIEWER_ARGS_JSON"
    try:
        arguments = loads(settings.reviewer_args_json or "[]", name)
    except ModelError as bad:
        raise ReviewError(bad.sentence, reason="reviewer_settings", hint=f"set {name} to a JSON list of texts") from bad
    if not isinstance(arguments, list) or not all(isinstance(each, str) and "\0" not in each for each in arguments):
        raise ReviewError(f"{name} is not a list of texts", reason="reviewer_settings", hint=f"set {name} to a JSON list of texts")
    return ReviewerCommand(
        (settings.reviewer_command, *arguments),
        b"",
        env={
            "AFL_REVIEW_JOB_ID": review_id,
            "AFL_REVIEW_CONTEXT_FILE": files.context,
            "AFL_REVIEW_PROMPT_FILE": files.prompt,
            "AFL_REVIEW_SUBMIT_PROTOCOL": PROTOCOL,
        },
    )


def read(result: ProcessResult) -> ReviewerAnswer:
    """The receipt, bare, in a code fence, or wrapped as hosts wrap their answers; otherwise the reason. Pure."""
    if result.overflowed:
        return ReviewerAnswer(None, reason="reviewer_output_too_large")
    if result.timed_out:
        return ReviewerAnswer(None, reason="reviewer_timeout", detail=f"stopped after {result.seconds:.0f} s")
    if result.returncode < 0:
        return ReviewerAnswer(None, reason="reviewer_killed", detail=f"signal {-result.returncode}")
    if result.returncode != 0:
        return ReviewerAnswer(None, reason="reviewer_exit", detail=f"status {result.returncode}")
    receipt = _unwrapped(result.stdout.decode("utf-8", "replace"), depth=0)
    if receipt is None:
        return ReviewerAnswer(None, reason="reviewer_output_unreadable", detail=f"{len(result.stdout)} bytes")
    return ReviewerAnswer(receipt)


def _unwrapped(value: Any, depth: int) -> Mapping[str, Any] | None:
    if isinstance(value, str):
        fenced = _FENCE.match(value.strip())
        try:
            value = loads(fenced[1] if fenced else value, "the answer")
        except ModelError:
            return None
    if not isinstance(value, Mapping) or depth > 3:
        return None
    if "review_receipt_id" in value or "report_content" in value:
        return value
    return next((found for key in _WRAPPERS if key in value and (found := _unwrapped(value[key], depth + 1)) is not None), None)
