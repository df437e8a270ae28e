"""Read a settings file of Gemini CLI as the host does: `//` and `/* */` comments count as white space. Reads, and changes nothing."""

from __future__ import annotations

import json
import os
import re
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any

FILE_LIMIT = 1024 * 1024
"""Bytes of a settings or variables file that are read; a larger one is something else."""

_TOKENS = re.compile(r'("(?:[^"\\]|\\.)*+")|//[^\n]*+|/\*.*?(?:\*/|\Z)', re.DOTALL)


def read_settings(path: Path) -> Mapping[str, Any]:
    """What the file says; nothing when it is missing or the host could not read it either."""
    return _parsed(path) or {}


def is_readable(path: Path) -> bool:
    """Whether the host can read it: it is missing, or an object stands in it."""
    return not os.path.lexists(path) or _parsed(path) is not None


def _parsed(path: Path) -> dict[str, Any] | None:
    try:
        value = json.loads(_TOKENS.sub(lambda token: token[1] or " ", read_text(path)))
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def read_text(path: Path) -> str:
    """The text of a regular file, at most `FILE_LIMIT` bytes; '' when there is none or it cannot be read."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return ""
    with os.fdopen(handle, "rb") as file:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            return ""
        return file.read(FILE_LIMIT).decode("utf-8", "replace")


def at(value: object, *way: str) -> object:
    """The value at the end of a way of keys; None where it ends early."""
    for key in way:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value
