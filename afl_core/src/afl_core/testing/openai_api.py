"""A scriptable mock of the OpenAI Responses API, in process: what Codex CLI talks to in tests.

A request that no step fits gets a plain HTTP 400, so a test that scripts too little fails instead of going on by luck.
Standard library only; it never leaves the loopback interface.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from afl_core.testing.anthropic_api import MockAnthropic
from afl_core.testing.anthropic_mock.replies import Failure, Hang, Message, Reply, ToolCall, dropped, hang, http_error, text, tool
from afl_core.testing.anthropic_mock.script import Step
from afl_core.testing.openai_mock.requests import ResponsesRequest
from afl_core.testing.openai_mock.server import ResponsesServer
from afl_core.testing.openai_mock.sse import SCRIPT_TOOL, Ended

__all__ = [
    "Ended",
    "Failure",
    "Hang",
    "Message",
    "MockOpenAI",
    "Reply",
    "ResponsesRequest",
    "Step",
    "ToolCall",
    "dropped",
    "failed",
    "hang",
    "http_error",
    "incomplete",
    "reviewing",
    "script",
    "shell",
    "structured",
    "text",
    "tool",
]

SCHEMA_MARK = '"json_schema"'
"""Stands in every request that asks for an answer of a given shape."""


class MockOpenAI(MockAnthropic):
    """A running mock: `with MockOpenAI(["Hello."]) as api:` then point a client at `api.url` (it ends in /v1).

    Leaving the block raises KitError when a callable step raised while it was used.
    """

    server_kind = ResponsesServer

    @property
    def url(self) -> str:
        """What a client takes as its base URL."""
        return f"{super().url}/v1"


def shell(command: str, *, say: str = "") -> Message:
    """Run a shell command, with the tool that models outside of code mode are offered."""
    return tool("exec_command", {"cmd": command}, say=say)


def script(source: str, *, say: str = "") -> Message:
    """Run JavaScript, with the tool that models in code mode are offered."""
    return tool(SCRIPT_TOOL, {"input": source}, say=say)


def structured(answer: Mapping[str, Any]) -> Message:
    """Answer a run that was given a JSON schema: here that is text."""
    return text(json.dumps(answer))


def reviewing(answer: Mapping[str, Any] | Callable[[Mapping[str, Any]], Mapping[str, Any]], *, repeat: bool = False) -> Step:
    """A step for a run that was given a JSON schema; a callable gets the request body and returns the structured answer."""
    if callable(answer):
        return Step(lambda body: structured(answer(body)), raw=SCHEMA_MARK, repeat=repeat)
    return Step(structured(answer), raw=SCHEMA_MARK, repeat=repeat)


def failed(code: str) -> Ended:
    """A response that fails in the middle of its stream, with the service's code."""
    return Ended(failed=code)


def incomplete(reason: str, words: str = "") -> Ended:
    """A response that ends early for a reason such as max_output_tokens."""
    return Ended(words, incomplete=reason)
