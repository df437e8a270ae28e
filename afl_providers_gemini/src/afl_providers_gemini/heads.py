"""Whether a record is worth parsing, from its first bytes alone. The host writes its records with fixed keys in a fixed order and no blanks; what looks different is wanted."""

from __future__ import annotations

import re

SHORT_BYTES = 400
"""A head of fewer bytes is the whole record."""

SET = b'{"$set":{'
MESSAGES = b'"messages":'
CANCELLED = b"Request cancelled."

_MESSAGE = re.compile(rb'\{"id":"[^"\\]*","timestamp":"[^"\\]*","type":"([a-z]+)","content":(.*)', re.DOTALL)
_NOTES = (b"info", b"warning", b"error")
_TOOL_RESULT = b'[{"functionResponse":'


def wants(head: bytes) -> bool:
    """False only where the head proves that the record says nothing: a change of metadata, a notice, tool results (the call has them too)."""
    if head.startswith(SET):
        return head.startswith(MESSAGES, len(SET)) or len(head) >= SHORT_BYTES or MESSAGES in head
    if (message := _MESSAGE.match(head)) is None:
        return True
    kind, content = message.groups()
    if kind in _NOTES:
        return not _differs(content, b'"' + CANCELLED)
    return not (kind == b"user" and content.startswith(_TOOL_RESULT))


def _differs(content: bytes, expected: bytes) -> bool:
    """Whether what can be seen of the content is something else."""
    return content[: len(expected)] != expected[: len(content)]
