"""What a record is, from its first bytes alone: most of a rollout is bulk that is never evidence."""

from __future__ import annotations

import re

from afl_providers_codex.scan import strings

Kind = tuple[bytes, bytes, bytes]
"""Record type, payload type (b'' where it has none) and, where these two do not decide, the item's type or the message's role."""

ITEM_COMPLETED = b"item_completed"
MESSAGE = b"message"

TYPED = frozenset((b"response_item", b"event_msg"))
"""Records whose payload says what it is."""

WHOLE = frozenset((b"session_meta", b"turn_context", b"compacted"))
EVENTS = frozenset((b"task_started", b"task_complete", b"turn_aborted", b"user_message", b"agent_message", b"thread_rolled_back"))
ITEMS = frozenset((b"UserMessage", b"AgentMessage", b"CommandExecution", b"FileChange", b"McpToolCall"))
"""Calls of other kinds have records of their own that tell as much."""

CALLS = frozenset((b"function_call", b"custom_tool_call", b"local_shell_call"))
OUTPUTS = frozenset((b"function_call_output", b"custom_tool_call_output"))
ROLES = frozenset((b"user", b"developer"))
"""What the agent says is read from the host's events: as a model item, the summary of a compaction looks like an answer."""

_READ = CALLS | OUTPUTS | EVENTS | {MESSAGE, ITEM_COMPLETED}
"""Types of payloads of which some records are read."""

_OPENING = re.compile(rb'\{"timestamp": ?"[^"\\]*", ?(?:"ordinal": ?\d+, ?)?"type": ?"(\w+)", ?"payload": ?\{(?:"type": ?"(\w+)")?')
_ITEM = re.compile(rb'"item": ?\{"type": ?"(\w+)"')
_ROLE = re.compile(rb'"role": ?"(\w+)"')
_ERROR = re.compile(rb'"error"\s*:\s*\{')
_CALL_ID = re.compile(rb'"call_id": ?"([^"\\]*)"')


def wants(head: bytes) -> bool:
    """False only where the head proves that the record is bulk; True whenever it does not show what the record is."""
    opening = _OPENING.match(head)
    if opening is not None and opening[2] is not None and opening[2] not in _READ:
        return opening[1] in WHOLE
    kind = kind_of(head, opening)
    return kind is None or is_wanted(kind)


def is_wanted(kind: Kind) -> bool:
    """Whether records of this kind are read."""
    record, payload, detail = kind
    if record == b"response_item":
        if payload == MESSAGE:
            return not detail or detail in ROLES
        return payload in CALLS or payload in OUTPUTS
    if record == b"event_msg":
        return (not detail or detail in ITEMS) if payload == ITEM_COMPLETED else payload in EVENTS
    return record in WHOLE


def kind_of(head: bytes, opening: re.Match[bytes] | None = None) -> Kind | None:
    """What the record is, or None when the head does not show it. A detail that is not in the head is b''. `opening`: its match, where it is known."""
    opening = opening or _OPENING.match(head)
    if opening is None:
        return _scanned(head)
    record, payload = opening[1], opening[2] or b""
    if record in TYPED and not payload:
        return _scanned(head)
    detail = None
    if payload == MESSAGE:
        detail = _ROLE.search(head, opening.end())
    elif payload == ITEM_COMPLETED:
        detail = _ITEM.search(head, opening.end())
    return record, payload, detail[1] if detail else b""


def call_id_of(head: bytes) -> str | None:
    """The call an output belongs to, when the head shows it. Inside of texts its quotes are escaped, so they are never taken for it."""
    found = _CALL_ID.search(head)
    return found[1].decode("utf-8", "replace") if found else None


def may_hold_error(data: bytes) -> bool:
    """Whether a record can say why it failed. Inside of texts quotes are escaped, so none of those is taken for the field."""
    return _ERROR.search(data) is not None


def _scanned(head: bytes) -> Kind | None:
    """The same for a record whose fields stand in another order."""
    record, payload, detail = b"", b"", b""
    for path, value in strings(head):
        if path == (b"type",):
            record = value
        elif path == (b"payload", b"type"):
            payload = value
        elif path in ((b"payload", b"role"), (b"payload", b"item", b"type")):
            detail = value
    return (record, payload, detail) if record and (payload or record not in TYPED) else None
