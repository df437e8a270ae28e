"""What went wrong in the dialogue, in one line that repeats no part of the person's configuration."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

REASON_LIMIT = 500
"""Characters of a reason."""

CONFLICT = "configVersionConflict"

_PLACE = re.compile(r"[^\n\"'`]*?:\d+:\d+(?=:|$)")
"""Where the host found the fault in a file: path, line, column. What follows may quote the file."""

_UNREAD = re.compile(r"failed to (?:parse|read)\b")
"""How a warning about a file of hooks begins when nothing of it is used."""

_QUOTED = re.compile(r"`[^`\n]*`|\"[^\"\n]*\"|'[^'\n]*'")


def refusal(method: str, answer: Mapping[str, Any]) -> str:
    """Why a request was refused: its name, the host's code, and its sentence without what it quotes."""
    error = answer.get("error")
    error = error if isinstance(error, dict) else {}
    told = error.get("message")
    sentence = _QUOTED.sub("…", told.partition("\n")[0]) if isinstance(told, str) else ""
    code = code_of(answer) or error.get("code")
    return one_line(f"Codex refused {method}{'' if code is None else f' ({code})'}: {sentence or 'it said nothing more'}")


def code_of(answer: Mapping[str, Any]) -> str:
    """The host's name for a refused write, '' when it gives none."""
    error = answer.get("error")
    data = error.get("data") if isinstance(error, dict) else None
    code = data.get("config_write_error_code") if isinstance(data, dict) else None
    return code if isinstance(code, str) else ""


def unreadable(errors: object) -> str:
    """Why nothing was listed: the place of the first fault, never the text that stands there."""
    first = errors[0] if isinstance(errors, list) and errors else None
    told = first.get("message") if isinstance(first, dict) else None
    place = _PLACE.match(told) if isinstance(told, str) else None
    return one_line(f"Codex cannot read its configuration{': ' + place.group(0) if place else ''}")


def unread(warnings: object, path: Path) -> str:
    """Why the host ignores the whole file, from what it warns of; '' when it warns of no such thing. What it quotes is left out."""
    for told in warnings if isinstance(warnings, list) else ():
        if isinstance(told, str) and _UNREAD.match(told) and f" {path}: " in told:
            sentence = _QUOTED.sub("…", told.partition(f" {path}: ")[2].partition("\n")[0])
            start = " (a byte order mark may stand there)" if sentence.endswith("at line 1 column 1") else ""
            return one_line(f"Codex cannot read {path} and runs no hook of it: {sentence}{start}")
    return ""


def one_line(text: str) -> str:
    """Printable, one line, bounded."""
    return " ".join("".join(char if char.isprintable() else " " for char in text).split())[:REASON_LIMIT]
