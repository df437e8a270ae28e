"""Bulk is skipped by its first 400 bytes, and nothing that says something ever is."""

from __future__ import annotations

import json

import pytest

from afl_core.testing.recorded import Recorded
from afl_providers_claude.host import ClaudeHost

HEAD = 400
HOST = ClaudeHost()


@pytest.mark.parametrize("case", Recorded.names("transcripts"))
@pytest.mark.parametrize("separators", [(", ", ": "), (",", ":")], ids=["spaced", "compact"])
def test_what_is_skipped_would_have_said_nothing_and_half_of_a_transcript_is(recorded_lines, case, separators):
    lines = recorded_lines(case)
    heads = [json.dumps(json.loads(line.data), separators=separators).encode()[:HEAD] for line in lines]
    skipped = [line for line, head in zip(lines, heads, strict=True) if not HOST.wants(head)]

    assert HOST.parse(skipped, {})[0] == []
    assert len(skipped) > len(lines) / 2


@pytest.mark.parametrize(
    "kind",
    [
        "api-request",
        "api-request-shape",
        "api-request-blob",
        "file-history-snapshot",
        "cost-state",
        "tools-used",
        "atis-latch",
        "mode",
        "permission-mode",
        "last-prompt",
        "queue-operation",
    ],
)
def test_bulk_is_told_by_its_type_wherever_the_key_stands(kind):
    assert not HOST.wants(json.dumps({"type": kind, "x": "y"}).encode())
    assert not HOST.wants(json.dumps({"n": [1, {"type": "user"}, None], "s": 'a "quoted\\" \\', "type": kind}).encode())


@pytest.mark.parametrize(
    "record",
    [
        {"type": "user", "message": {"content": "x"}},
        {"message": {"type": "message", "content": [{"type": "tool_use", "input": {"type": "mode"}}]}, "type": "assistant"},
        {"message": {"content": '{"type":"last-prompt"}'}, "type": "user"},
        {"message": {"content": '","type":"mode"}'}, "type": "user"},
        {"message": ["type", "mode"], "type": "user"},
        {"attachment": {"type": "queued_command", "prompt": "x"}, "type": "attachment"},
        {"attachment": {"type": "hook_additional_context"}, "type": "attachment"},
        {"type": "system", "subtype": "compact_boundary"},
        {"type": "something-new"},
        {"type": None},
        ["type", "mode"],
    ],
)
def test_a_type_that_is_not_the_records_own_decides_nothing(record):
    assert HOST.wants(json.dumps(record).encode())


@pytest.mark.parametrize(
    "head", [b"", b"{", b"\xff\xff", b'{"a":"unterminated \\" "type":"mode"', b'{"ty\\u0070e":"mode"}', b'{"message":{"a":"' + b"x" * 400]
)
def test_a_head_that_does_not_show_the_type_is_wanted(head):
    assert HOST.wants(head[:HEAD])


def test_a_prompt_that_quotes_bulk_is_wanted_at_every_length():
    record = json.dumps(
        {"message": {"content": 'say {"type":"mode"} or \\"type\\":\\"cost-state\\"'}, "parentUuid": None, "type": "user"}
    ).encode()

    assert all(HOST.wants(record[:length]) for length in range(len(record) + 1))
