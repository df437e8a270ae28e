"""Notices and changes of metadata are skipped by their first 400 bytes, and nothing that says something ever is."""

from __future__ import annotations

import json

import pytest

from afl_core.testing.recorded_gemini import RecordedGemini
from afl_providers_gemini.host import GeminiHost

HEAD = 400
HOST = GeminiHost()


@pytest.mark.parametrize("case", RecordedGemini.names("chats"))
@pytest.mark.parametrize("separators", [(", ", ": "), (",", ":")], ids=["spaced", "compact"])
def test_what_is_skipped_would_have_changed_nothing(recorded_lines, case, separators):
    lines = recorded_lines(case)
    heads = [json.dumps(json.loads(line.data), separators=separators, ensure_ascii=False).encode()[:HEAD] for line in lines]
    wanted = [line for line, head in zip(lines, heads, strict=True) if HOST.wants(head)]

    assert HOST.parse(wanted, {}) == HOST.parse(lines, {})


def test_a_third_of_the_records_is_skipped(recorded_lines):
    lines = [line for case in RecordedGemini.names("chats") for line in recorded_lines(case)]

    assert len([line for line in lines if not HOST.wants(line.data[:HEAD])]) > len(lines) / 3


def message(kind, content):
    return json.dumps(
        {"id": "x", "timestamp": "2026-11-30T07:16:40.268Z", "type": kind, "content": content}, separators=(",", ":")
    ).encode()


@pytest.mark.parametrize(
    "record",
    [
        b'{"$set":{"lastUpdated":"2026-11-30T07:16:40.268Z"}}',
        b'{"$set":{"summary":"short"}}',
        message("info", "memory loaded"),
        message("info", ""),
        message("info", [{"inlineData": {}}]),
        message("warning", "Request cancelled."),
        message("error", "x"),
        message("user", [{"functionResponse": {"id": "a"}}]),
    ],
)
def test_bulk_is_not_wanted(record):
    assert HOST.wants(record[:HEAD]) == (b"cancelled" in record)


@pytest.mark.parametrize(
    "record",
    [
        b'{"sessionId":"s","kind":"main"}',
        b'{"$rewindTo":"x"}',
        b'{"$set":{"messages":[]}}',
        b'{"$set":{"summary":"' + b"x" * 500 + b'","messages":[]}}',
        b'{"$set":{"summary":"x","messages":[]}}',
        message("info", "Request cancelled."),
        message("user", [{"text": "typed"}]),
        message("user", [{"text": "x"}, {"functionResponse": {"id": "a"}}]),
        message("user", '{"id":"x","timestamp":"t","type":"info","content":"memory loaded"}'),
        message("gemini", ""),
        message("something-new", "x"),
    ],
)
def test_what_may_say_something_is_wanted(record):
    assert HOST.wants(record[:HEAD])


@pytest.mark.parametrize("kind", ["user", "gemini"])
@pytest.mark.parametrize("length", [0, 300, 350, 5_000])
def test_a_message_is_wanted_however_little_of_it_is_seen(kind, length):
    assert HOST.wants(message(kind, [{"text": "x" * length}])[:HEAD])


@pytest.mark.parametrize("head", [b"", b"{", b"\xff\xff", b"[", b'{"id":"a\\"b","timestamp":"t","type":"info","content":"x"}'])
def test_a_head_that_does_not_show_what_it_is_is_wanted(head):
    assert HOST.wants(head)
