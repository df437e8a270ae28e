"""Whether a transcript record is worth parsing, from its first bytes alone: half of a transcript is bulk that is never evidence."""

from __future__ import annotations

import re
from collections.abc import Iterator

BULK = frozenset(
    (
        b"file-history-snapshot",
        b"cost-state",
        b"tools-used",
        b"atis-latch",
        b"mode",
        b"permission-mode",
        b"last-prompt",
        # Repeats a prompt that has, or will have, a record of its own.
        b"queue-operation",
    )
)
BULK_PREFIX = b"api-request"

BULK_ATTACHMENTS = frozenset(
    (
        b"prompt_snapshot",
        b"skill_listing",
        b"agent_listing_delta",
        b"deferred_tools_delta",
        b"environment",
        b"session_context",
        b"hook_success",
    )
)

_TOKEN = re.compile(rb'\s*(?:"((?:[^"\\]|\\.)*)"|([{}\[\]:,])|([^\s"{}\[\]:,]+))')


_BULKISH = re.compile(
    b'"(?:' + b"|".join([re.escape(name) + b'"' for name in sorted(BULK | BULK_ATTACHMENTS)] + [re.escape(BULK_PREFIX)]) + b")"
)
"""Without one of these words no head can prove bulk."""

_PLAIN = re.compile(rb'\{(?:"[^"\\]*":(?:"[^"\\]*"|null|true|false|\d+),)*"type":"([^"\\]*)"')
"""A head whose type stands behind nothing but plain values, as in nearly every record."""


def wants(head: bytes) -> bool:
    """False only where the head proves that the record is bulk; True whenever it does not show the record's type."""
    if _BULKISH.search(head) is None:
        return True
    plain = _PLAIN.match(head)
    if plain is not None:
        kind = plain.group(1)
        return kind not in BULK and not kind.startswith(BULK_PREFIX)
    for path, value in _strings(head):
        if path == (b"type",):
            return value not in BULK and not value.startswith(BULK_PREFIX)
        if path == (b"attachment", b"type"):
            return value not in BULK_ATTACHMENTS
    return True


def _strings(head: bytes) -> Iterator[tuple[tuple[bytes, ...], bytes]]:
    """Each string value with the keys that lead to it, up to the first byte that cannot be read. Brackets count as a nameless key."""
    keys: list[bytes] = []
    key, last, at = b"", b"", 0
    while token := _TOKEN.match(head, at):
        at = token.end()
        text, mark, _ = token.groups()
        if mark in (b"{", b"["):
            keys.append(key)
            key = b""
        elif mark in (b"}", b"]"):
            key = keys.pop() if keys else b""
        elif mark == b":":
            key = last
        elif mark == b",":
            key = b""
        elif text is not None:
            last = text
            if key:
                yield (*keys[1:], key), text
