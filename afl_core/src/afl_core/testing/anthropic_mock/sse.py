"""An assistant message as the vendor's JSON object and as its stream of server-sent events. Pure generators of values."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from afl_core.testing.anthropic_mock.replies import Message

USAGE = {"input_tokens": 100, "output_tokens": 20, "cache_read_input_tokens": 0, "cache_creation_input_tokens": 0}

Event = tuple[str, dict[str, Any]]


def blocks(message: Message, number: int) -> list[dict[str, Any]]:
    """The content blocks; `number` makes the ids of tool calls unique."""
    said = [{"type": "text", "text": message.text}] if message.text else []
    called = [
        {"type": "tool_use", "id": call.call_id or f"toolu_mock{number:05d}{place}", "name": call.name, "input": dict(call.arguments)}
        for place, call in enumerate(message.calls)
    ]
    return [*said, *called]


def stop_reason(message: Message) -> str:
    """Why the model stops: as told, else by whether it calls a tool."""
    return message.stop_reason or ("tool_use" if message.calls else "end_turn")


def envelope(message: Message, number: int, model: str) -> dict[str, Any]:
    """The whole message as one JSON object, for a request that does not stream."""
    return {
        "id": f"msg_mock{number:06d}",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": blocks(message, number),
        "stop_reason": stop_reason(message),
        "stop_sequence": None,
        "usage": {**USAGE, **message.usage},
    }


def opening(message: Message, number: int, model: str) -> Iterator[Event]:
    """The events before the first content block."""
    whole = envelope(message, number, model)
    started = {**whole, "content": [], "stop_reason": None, "usage": {**whole["usage"], "output_tokens": 1}}
    yield "message_start", {"type": "message_start", "message": started}
    yield "ping", {"type": "ping"}


def block_deltas(block: Mapping[str, Any], index: int, chunk: int) -> Iterator[Event]:
    """The start of one block and its deltas of `chunk` characters; its end is `block_stop`."""
    empty: dict[str, Any]
    if block["type"] == "text":
        kind, name, payload, empty = "text_delta", "text", str(block["text"]), {"text": ""}
    else:
        kind, name, payload, empty = "input_json_delta", "partial_json", json.dumps(block["input"]), {"input": {}}
    yield "content_block_start", {"type": "content_block_start", "index": index, "content_block": {**block, **empty}}
    for start in range(0, len(payload), chunk):
        delta = {"type": kind, name: payload[start : start + chunk]}
        yield "content_block_delta", {"type": "content_block_delta", "index": index, "delta": delta}


def block_stop(index: int) -> Event:
    """The end of one block."""
    return "content_block_stop", {"type": "content_block_stop", "index": index}


def closing(message: Message) -> Iterator[Event]:
    """The events after the last content block."""
    ended = {"stop_reason": stop_reason(message), "stop_sequence": None}
    yield "message_delta", {"type": "message_delta", "delta": ended, "usage": {**USAGE, **message.usage}}
    yield "message_stop", {"type": "message_stop"}


def framed(event: Event) -> bytes:
    """One event as bytes on the wire."""
    name, data = event
    return f"event: {name}\ndata: {json.dumps(data)}\n\n".encode()
