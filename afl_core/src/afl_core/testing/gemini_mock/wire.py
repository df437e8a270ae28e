"""What the model says as the vendor's JSON objects. Pure; `server` sends them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from afl_core.testing.gemini_mock.replies import Content

USAGE = {"promptTokenCount": 100, "candidatesTokenCount": 20, "totalTokenCount": 120}


def pieces(content: Content) -> list[list[dict[str, Any]]]:
    """The parts of each chunk of a stream; at least one, and calls in a chunk of their own."""
    found: list[list[dict[str, Any]]] = [
        [{"text": content.text[start : start + content.chunk]}] for start in range(0, len(content.text), content.chunk)
    ]
    if content.calls:
        found.append([{"functionCall": {"name": one.name, "args": dict(one.arguments)}} for one in content.calls])
    return found or [[{"text": ""}]]


def envelope(parts: list[dict[str, Any]], model: str, number: int, content: Content | None = None) -> dict[str, Any]:
    """One response object; the last of a stream is given the `content` it ends, for the reason to stop and the usage."""
    candidate: dict[str, Any] = {"content": {"role": "model", "parts": parts}, "index": 0}
    body: dict[str, Any] = {"candidates": [candidate], "modelVersion": model, "responseId": f"mock-{number}"}
    if content is not None:
        candidate["finishReason"] = content.finish
        body["usageMetadata"] = {**USAGE, **content.usage}
    return body


def whole(content: Content, model: str, number: int) -> dict[str, Any]:
    """The answer to a request that does not stream."""
    return envelope([part for piece in pieces(content) for part in piece], model, number, content)


def stream(content: Content, model: str, number: int) -> Iterator[dict[str, Any]]:
    """The objects of a stream in order."""
    chunks = pieces(content)
    for index, parts in enumerate(chunks):
        yield envelope(parts, model, number, content if index == len(chunks) - 1 else None)


def framed(body: dict[str, Any]) -> bytes:
    """One object of a stream as bytes on the wire."""
    return b"data: " + json.dumps(body).encode() + b"\r\n\r\n"
