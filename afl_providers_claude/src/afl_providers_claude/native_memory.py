"""The memory Claude Code keeps by itself: one Markdown file a fact, with a head that says what kind of fact it is."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path

from afl_core.spec.host import HostPlace
from afl_core.spec.native_memory import NativeNote

INDEX = "MEMORY.md"
"""The host's own list of the other files."""

OFF_VARIABLE = "CLAUDE_CODE_DISABLE_AUTO_MEMORY"
OFF_SETTING = "autoMemoryEnabled"

FENCE = "---"
FEEDBACK = "feedback"

_FIELD = re.compile(r"(\s*)([A-Za-z_-]+):(?:\s+(.*?))?\s*")


def folder(place: HostPlace, project: Path) -> Path:
    """`projects/<directory, every character but ASCII letters and digits as '-'>/memory`."""
    return place.config_dir / "projects" / re.sub(r"[^A-Za-z0-9]", "-", str(project)) / "memory"


def is_off(place: HostPlace, environ: Mapping[str, str]) -> bool:
    """Whether the host was told to keep no memory, by its variable or its settings. Settings that cannot be read say nothing."""
    if environ.get(OFF_VARIABLE, "").strip().lower() in ("1", "true", "yes", "on"):
        return True
    try:
        settings = json.loads(place.settings_path.read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(settings, dict) and settings.get(OFF_SETTING) is False


def parse(name: str, data: bytes) -> NativeNote | None:
    """The note in a file; None for the index, another ending, and a file without a head."""
    lines = data.decode("utf-8", "replace").removeprefix("\ufeff").splitlines()
    if name == INDEX or not name.endswith(".md") or not lines or lines[0].rstrip() != FENCE:
        return None
    end = next((number for number, line in enumerate(lines) if number and line.rstrip() == FENCE), None)
    if end is None:
        return None
    head = _fields(lines[1:end])
    kind = head.get("metadata.type") or head.get("type") or ""
    title = head.get("name") or name.removesuffix(".md")
    return NativeNote(title, head.get("description", ""), "\n".join(lines[end + 1 :]).strip(), kind.lower() == FEEDBACK)


def _fields(lines: list[str]) -> dict[str, str]:
    """The head's plain values by name; one level of nesting, joined by a dot. Anything richer than `name: value` is left out."""
    found: dict[str, str] = {}
    above = ""
    for line in lines:
        field = _FIELD.fullmatch(line)
        if field is None:
            continue
        indent, key, value = field[1], field[2], _unquoted(field[3] or "")
        if not indent:
            above = key
        if value:
            found[f"{above}.{key}" if indent else key] = value
    return found


def _unquoted(value: str) -> str:
    for quote in "\"'":
        if len(value) >= 2 and value[0] == value[-1] == quote:
            return value[1:-1]
    return value
