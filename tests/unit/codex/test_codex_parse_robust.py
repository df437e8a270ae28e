"""What is this host's own of reading a damaged rollout; the contract of every host holds the rest."""

from __future__ import annotations

import json

from codex_records import call, user
from hypothesis import given
from hypothesis import strategies as st

from afl_core.spec.host import STATE_LIMIT_BYTES, Line
from afl_providers_codex.host import CodexHost

HOST = CodexHost()


def numbered(data):
    return [Line(100 * number, one) for number, one in enumerate(data)]


@given(st.binary(max_size=200))
def test_the_owner_of_any_bytes_is_nobody(data):
    assert HOST.identify(None, data, lambda _name: None) is None


def test_what_cannot_be_read_leaves_its_neighbours_alone():
    good = json.dumps({"type": "event_msg", "payload": {"type": "user_message", "message": "hello"}}).encode()
    start = '{"type":"response_item","payload":{"type":"message","role":"user"'
    bad = [
        b"",
        b"{",
        good[:-2],
        b"\xff\xfe",
        b"[1]",
        b'"user"',
        b"null",
        b'{"type":"event_msg","payload":{"type":"user_message","message":"x"},"n":NaN}',
        b'{"type":"event_msg","payload":{"type":"user_message","message":"x"},"n":' + b"9" * 5000 + b"}",
        b'{"type":"event_msg","payload":[]}',
        b"[" * 100_000,
        f'{start},"content":[7,null,"x",{{"type":"input_text"}},{{"text":5}}]}}}}'.encode(),
        b'{"type":"response_item","payload":{"type":"function_call","call_id":7}}',
        b'{"type":"response_item","payload":{"type":"function_call_output","call_id":"never called","output":"x"}}',
        b'{"type":"event_msg","payload":{"type":"item_completed","item":"x"}}',
        b'{"type":"brand_new","payload":{"type":"user_message","message":"x"}}',
    ]
    lines = numbered([part for one in bad for part in (one, good)])

    assert [one.text for one in HOST.parse(lines, {})[0]] == ["hello"] * len(bad)


def test_the_state_remembers_the_last_64_calls_and_messages_and_no_words():
    records = []
    for number in range(100):
        records += [call(f"call_{'x' * 60}{number:03}", "shell", '{"cmd": "secret words"}')]
        records += [("response_item", user("secret words", "turn-1", native_id=f"msg_{'y' * 60}{number:03}"))]
    lines = [json.dumps({"ordinal": 1, "timestamp": "2026-11-30T10:00:00.000Z", "type": kind, "payload": body}) for kind, body in records]
    state = HOST.parse(numbered([line.encode() for line in lines]), {})[1]

    assert [one[0][-3:] for one in state["open"]] == [f"{number:03}" for number in range(36, 100)]
    assert [one[-3:] for one in state["seen"]] == [f"{number:03}" for number in range(36, 100)]
    assert "secret" not in json.dumps(state)
    assert "shell" not in json.dumps(state)
    assert len(json.dumps(state).encode()) < STATE_LIMIT_BYTES
