"""Bulk is skipped by its first 400 bytes, and nothing that says something ever is."""

from __future__ import annotations

import json

import pytest
from codex_records import lines_of

from afl_core.testing.recorded_codex import OLDER, RecordedCodex
from afl_providers_codex.heads import kind_of
from afl_providers_codex.host import CodexHost

HEAD = 400
HOST = CodexHost()
CASES = [(name, release) for release in ("", OLDER) for name in RecordedCodex.names("rollouts", release)]


@pytest.mark.parametrize(("case", "release"), CASES)
@pytest.mark.parametrize("separators", [(", ", ": "), (",", ":")], ids=["spaced", "compact"])
def test_what_is_skipped_would_have_said_nothing_and_changes_nothing(case, release, separators):
    lines = lines_of(RecordedCodex.rollout(case, release))
    heads = [json.dumps(json.loads(line.data), separators=separators).encode()[:HEAD] for line in lines]
    skipped = [line for line, head in zip(lines, heads, strict=True) if not HOST.wants(head)]
    wanted = [line for line, head in zip(lines, heads, strict=True) if HOST.wants(head)]

    assert HOST.parse(skipped, {})[0] == []
    assert HOST.parse(wanted, {}) == HOST.parse(lines, {})


@pytest.mark.parametrize(
    ("kind", "payload"),
    [
        ("token_usage_record", {"thread_id": "x"}),
        ("world_state", {"full": True, "state": {}}),
        ("something_new", {"type": "message", "role": "user"}),
        ("event_msg", {"type": "token_count"}),
        ("event_msg", {"type": "thread_settings_applied"}),
        ("event_msg", {"type": "agent_reasoning"}),
        ("event_msg", {"type": "context_compacted"}),
        ("event_msg", {"type": "item_completed", "item": {"type": "Reasoning"}}),
        ("event_msg", {"type": "item_completed", "item": {"type": "CollabAgentToolCall"}}),
        ("response_item", {"type": "reasoning", "encrypted_content": "x" * 1000}),
        ("response_item", {"type": "additional_tools", "role": "developer"}),
        ("response_item", {"type": "message", "role": "assistant", "content": []}),
    ],
)
def test_bulk_is_told_by_its_head_in_whatever_order_its_fields_stand(kind, payload):
    usual = {"timestamp": "2026-11-30T07:11:56.475Z", "ordinal": 1, "type": kind, "payload": payload}
    other = {"payload": dict(reversed(payload.items())), "type": kind}

    assert not HOST.wants(json.dumps(usual).encode()[:HEAD])
    assert not HOST.wants(json.dumps(usual, separators=(",", ":")).encode()[:HEAD])
    if len(json.dumps(other)) < HEAD:
        assert not HOST.wants(json.dumps(other).encode())


@pytest.mark.parametrize(
    "record",
    [
        {"type": "response_item", "payload": {"type": "message", "role": "user", "content": [{"text": '"role":"assistant"'}]}},
        {"type": "response_item", "payload": {"content": [{"role": "assistant"}], "type": "message", "role": "user"}},
        {"type": "event_msg", "payload": {"item": {"id": "1", "type": "CommandExecution"}, "type": "item_completed"}},
        {"payload": {"type": "turn_aborted"}, "type": "event_msg"},
        {"type": "compacted", "payload": {"message": '"type":"world_state"'}},
        {"type": None, "payload": {}},
        ["type", "world_state"],
    ],
)
def test_a_type_that_is_not_the_records_own_decides_nothing(record):
    assert HOST.wants(json.dumps(record).encode()[:HEAD])


@pytest.mark.parametrize(
    "head", [b"", b"{", b"\xff\xff", b'{"a":"unterminated \\" "type":"world_state"', b'{"payload":{"a":"' + b"x" * 400]
)
def test_a_head_that_does_not_show_the_type_is_wanted(head):
    assert HOST.wants(head[:HEAD])


def test_a_detail_behind_the_head_does_not_hide_the_record():
    record = {
        "timestamp": "2026-11-30T07:11:56.475Z",
        "ordinal": 1,
        "type": "response_item",
        "payload": {"type": "message", "id": "m" * 500, "role": "user", "content": [{"type": "input_text", "text": "<turn_aborted>"}]},
    }
    head = json.dumps(record).encode()[:HEAD]

    assert kind_of(head) == (b"response_item", b"message", b"")
    assert HOST.wants(head)


def test_a_recorded_session_is_mostly_bulk():
    heads = [line[:HEAD] for name, release in CASES for line in RecordedCodex.rollout(name, release).splitlines()]

    assert sum(map(HOST.wants, heads)) < 0.7 * len(heads)
