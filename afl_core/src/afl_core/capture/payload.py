"""Understanding a hook's payload: JSON, or, where the hook had to cut it, its identity fields and the head of its text. The front uses it: light imports."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any

STRING_FIELD = r'"%s"\s*+:\s*+"((?:[^"\\]++|\\.)*+)'
"""Possessive: no backtracking, so a mebibyte costs no memory."""


def read_payload(data: bytes, cut: bool, wanted: tuple[str, ...]) -> dict[str, Any] | None:
    """The payload's top-level fields, or None when it is not a JSON object. `cut`: the end is missing; then only the string fields in `wanted` are found, the last possibly incomplete."""
    text = data.decode("utf-8", "replace")
    if not cut:
        try:
            body = json.loads(text)
        except (ValueError, RecursionError):
            return None
        return body if isinstance(body, dict) else None
    found: dict[str, Any] = {}
    for name in wanted:
        match = re.search(STRING_FIELD % re.escape(name), text)
        if match is not None:
            found[name] = unescape(match.group(1))
    return found or None


def own_words(prompt: str, prepended: Iterable[tuple[str, str]], appended: Iterable[tuple[str, str]] = ()) -> str:
    """The prompt without the elements the host put before and behind it; `prepended` and `appended` hold (start, end) of each kind."""
    kinds = tuple(prepended)
    rest = prompt
    while True:
        ends = [at + len(end) for start, end in kinds if rest.startswith(start) and (at := rest.find(end, len(start))) >= 0]
        if not ends:
            break
        rest = rest[ends[0] :].lstrip()
    starts = [at for start, end in appended if (at := rest.find(start)) >= 0 and rest.find(end, at + len(start)) >= 0]
    return rest[: min(starts, default=len(rest))]


def unescape(body: str) -> str:
    """The string a JSON string body stands for; a body that was cut inside an escape loses that escape."""
    for end in (len(body), *range(len(body) - 1, max(-1, len(body) - 12), -1)):
        try:
            return str(json.loads(f'"{body[:end]}"', strict=False))
        except ValueError:
            continue
    return body
