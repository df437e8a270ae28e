"""What a reviewer is told: the prompt and the rules of the home, or the ones that are shipped, and the language of its report. No evidence."""

from __future__ import annotations

import json
import os
import stat
from importlib import resources
from typing import Any

from afl_core.model.errors import ReviewError
from afl_core.settings.paths import Paths

PROMPT = "reviewer.md"
RULES = "rules.md"
SCHEMA = "receipt.schema.json"
"""The files of the pack: the first two may be edited in the home, the schema is what `receipt.py` checks."""

MAX_PROMPT_BYTES = 128 * 1024
"""Bytes of an edited prompt or of edited rules."""

LANGUAGES = {"zh": "Chinese", "en": "English", "ja": "Japanese", "ko": "Korean", "de": "German", "fr": "French", "es": "Spanish"}
"""Names of common language codes; any other setting is given as it is."""


def packaged(name: str) -> str:
    """A shipped file of the pack."""
    return (resources.files("afl_core.review") / "pack" / name).read_text("utf-8")


def schema() -> dict[str, Any]:
    """The receipt's JSON schema, within what structured-output services accept."""
    loaded: dict[str, Any] = json.loads(packaged(SCHEMA))
    return loaded


def instructions(paths: Paths, report_language: str) -> str:
    """The whole prompt. Raises `ReviewError` (reviewer_settings) when an edited file cannot be used."""
    prompt = _edited(paths.prompt_file) or packaged(PROMPT)
    rules = _edited(paths.rules_file) or packaged(RULES)
    return "\n\n".join((prompt.strip(), rules.strip(), language_paragraph(report_language))) + "\n"


def language_paragraph(report_language: str) -> str:
    """In which language to answer."""
    if report_language == "auto":
        report = "Write `report_content` in the language of the complaint you quote."
    else:
        report = f"Write `report_content` in {LANGUAGES.get(report_language, report_language)}."
    return (
        f"## Language\n\n{report} Write every text of a card and of `causal_chain` in the language of the complaint it comes from,"
        " whatever the language of the report. Never translate a quote."
    )


def _edited(path: str) -> str | None:
    """A file of the home; None when it is missing or empty."""
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
    except FileNotFoundError:
        return None
    except OSError as bad:
        raise _unusable(path, bad.strerror or "it cannot be opened") from bad
    with os.fdopen(descriptor, "rb") as file:
        found = os.fstat(file.fileno())
        if not stat.S_ISREG(found.st_mode) or (hasattr(os, "getuid") and found.st_uid != os.getuid()):
            raise _unusable(path, "it is not a file of yours")
        data = file.read(MAX_PROMPT_BYTES + 1)
    if len(data) > MAX_PROMPT_BYTES:
        raise _unusable(path, f"it has more than {MAX_PROMPT_BYTES} bytes")
    try:
        return data.decode("utf-8") if data.strip() else None
    except UnicodeDecodeError as bad:
        raise _unusable(path, "it is not UTF-8") from bad


def _unusable(path: str, why: str) -> ReviewError:
    return ReviewError(
        f"{path} cannot be used: {why}", reason="reviewer_settings", code="AFL-REVIEW-016", hint=f"correct {path} or delete it"
    )
