"""An answer as the stream of server-sent events of the Responses API. Pure generators of values."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from afl_core.testing.anthropic_mock.replies import Message, ToolCall

USAGE = {
    "input_tokens": 100,
    "input_tokens_details": {"cached_tokens": 0},
    "output_tokens": 20,
    "output_tokens_details": {"reasoning_tokens": 0},
    "total_tokens": 120,
}

SCRIPT_TOOL = "exec"
"""The one tool that is called with free text (JavaScript) where a model works in code mode."""

Event = tuple[str, dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Ended(Message):
    """An answer that ends badly after its text: `failed` with the service's code, or `incomplete` for a reason."""

    failed: str | None = None
    incomplete: str | None = None


def items(message: Message, number: int) -> list[dict[str, Any]]:
    """The output items; `number` makes their ids unique."""
    said = [
        {
            "type": "message",
            "id": f"msg_mock_{number}",
            "role": "assistant",
            "status": "completed",
            "content": [{"type": "output_text", "text": message.text, "annotations": []}],
        }
    ]
    return [*(said if message.text else []), *(_call(call, number, place) for place, call in enumerate(message.calls))]


def opening(number: int, model: str) -> Iterator[Event]:
    """The event before the first item."""
    yield _event("response.created", response=_response(number, model, "in_progress"))


def item_deltas(item: Mapping[str, Any], index: int, chunk: int) -> Iterator[Event]:
    """The start of one item and, of a message, its text in pieces of `chunk` characters; its end is `item_done`."""
    if item["type"] != "message":
        yield _event("response.output_item.added", output_index=index, item=item)
        return
    yield _event("response.output_item.added", output_index=index, item={**item, "status": "in_progress", "content": []})
    words = item["content"][0]["text"]
    for start in range(0, len(words), chunk):
        yield _event(
            "response.output_text.delta", item_id=item["id"], output_index=index, content_index=0, delta=words[start : start + chunk]
        )


def item_done(item: Mapping[str, Any], index: int) -> Event:
    """The end of one item."""
    return _event("response.output_item.done", output_index=index, item=item)


def closing(message: Message, number: int, model: str) -> Event:
    """The last event."""
    whole = {"output": items(message, number), "usage": {**USAGE, **message.usage}}
    if isinstance(message, Ended) and message.failed:
        error = {"code": message.failed, "message": "the mock was told to fail"}
        return _event("response.failed", response={**_response(number, model, "failed"), "error": error})
    if isinstance(message, Ended) and message.incomplete:
        details = {"incomplete_details": {"reason": message.incomplete}}
        return _event("response.incomplete", response={**_response(number, model, "incomplete"), **whole, **details})
    return _event("response.completed", response={**_response(number, model, "completed"), **whole})


def envelope(message: Message, number: int, model: str) -> dict[str, Any]:
    """The whole answer as one object, for a request that does not stream."""
    response: dict[str, Any] = closing(message, number, model)[1]["response"]
    return response


def _call(call: ToolCall, number: int, place: int) -> dict[str, Any]:
    named = {"call_id": call.call_id or f"call_mock_{number}_{place}", "name": call.name, "status": "completed"}
    if call.namespace is not None:
        named["namespace"] = call.namespace
    if call.name == SCRIPT_TOOL:
        return {"type": "custom_tool_call", "id": f"ctc_mock_{number}_{place}", **named, "input": str(call.arguments["input"])}
    return {"type": "function_call", "id": f"fc_mock_{number}_{place}", **named, "arguments": json.dumps(dict(call.arguments))}


def _response(number: int, model: str, status: str) -> dict[str, Any]:
    return {"id": f"resp_mock_{number}", "object": "response", "model": model, "status": status, "output": []}


def _event(kind: str, **data: Any) -> Event:
    return kind, {"type": kind, **data}
