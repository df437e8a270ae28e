"""Builders of rollout records, and a rollout as the lines core hands to the adapter."""

from __future__ import annotations

from afl_core.spec.host import Line


def lines_of(rollout: bytes) -> list[Line]:
    lines, offset = [], 0
    for data in rollout.splitlines(keepends=True):
        lines.append(Line(offset, data.removesuffix(b"\n")))
        offset += len(data)
    return lines


def user(text, turn="t-1", native_id=None, kinds=("user.text",), origins=None):
    """A model item in the user's role, with notes."""
    notes = {
        "turn_id": turn,
        "content_item_kinds": list(kinds),
        "content_item_metadata": [{"provenance": origin} for origin in origins or [{"type": "user"}] * len(kinds)],
    }
    texts = [text] if isinstance(text, str) else text
    content = [{"type": "input_text", "text": one} for one in texts]
    body = {"type": "message", "role": "user", "content": content, "internal_chat_message_metadata_passthrough": notes}
    return {**body, "id": native_id} if native_id else body


def started(turn="t-1"):
    return ("event_msg", {"type": "task_started", "turn_id": turn})


def item(kind, turn="t-1", **fields):
    return ("event_msg", {"type": "item_completed", "turn_id": turn, "item": {"type": kind, **fields}})


def call(call_id="c-1", name="exec_command", arguments='{"cmd": "ls"}', **fields):
    return ("response_item", {"type": "function_call", "name": name, "arguments": arguments, "call_id": call_id, **fields})


def output(text, call_id="c-1"):
    return ("response_item", {"type": "function_call_output", "call_id": call_id, "output": text})
