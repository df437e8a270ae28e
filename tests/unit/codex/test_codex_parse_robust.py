"""Whatever lies in a rollout, parsing never raises, does not depend on how the lines are batched, and keeps a small state without words."""

from __future__ import annotations

import functools
import json

from codex_records import call, user
from hypothesis import given, settings
from hypothesis import strategies as st

from afl_core.spec.host import STATE_LIMIT_BYTES, Line
from afl_core.testing.recorded_codex import OLDER, RecordedCodex
from afl_providers_codex.host import CodexHost

HOST = CodexHost()
CASES = [(name, release) for release in ("", OLDER) for name in RecordedCodex.names("rollouts", release)]

SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=12)
NAMES = st.sampled_from(
    [
        "type",
        "text",
        "content",
        "payload",
        "item",
        "id",
        "call_id",
        "output",
        "role",
        "status",
        "turn_id",
        "timestamp",
        "replacement_history",
    ]
)
WORDS = ["user", "developer", "message", "item_completed", "CommandExecution", "function_call_output", "compacted", "exec-1", "user.text"]
VALUES = st.recursive(
    SCALARS | st.sampled_from([*WORDS, "2026-11-30T07:34:43.532Z"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES | st.text(max_size=4), inner, max_size=4),
    max_leaves=8,
)
STATE_KEYS = ["own", "child", "forked_ms", "copying", "noted", "turn", "spoke", "spoke_ms", "acted", "named", "open", "seen", "x"]


@functools.cache
def records():
    """Every recorded record that says something, as JSON text, so that no example can change it."""
    return [line for case in CASES for line in RecordedCodex.rollout(*case).splitlines() if HOST.wants(line[:400])]


def numbered(data):
    return [Line(100 * number, one) for number, one in enumerate(data)]


def through(lines, cuts):
    """Parsed in batches that end at `cuts`, the state taken through JSON with sorted keys between them."""
    found, state, start = [], {}, 0
    for end in [*sorted(cuts), len(lines)]:
        observations, state = HOST.parse(lines[start:end], state)
        state = json.loads(json.dumps(state, sort_keys=True))
        found, start = found + observations, max(start, end)
    return found, state


@given(st.lists(st.binary(max_size=60), max_size=5))
def test_any_bytes_are_skipped(data):
    assert HOST.parse(numbered(data), {})[0] == []


@given(st.data())
@settings(max_examples=400)
def test_any_change_of_a_real_record_is_survived_and_batching_changes_nothing(data):
    lines = []
    for text in data.draw(st.lists(st.sampled_from(records()), min_size=1, max_size=6)):
        record = json.loads(text)
        for _ in range(data.draw(st.integers(0, 3))):
            place = record
            while inner := [
                value for value in (place.values() if isinstance(place, dict) else place) if isinstance(value, dict | list) and value
            ]:
                if not data.draw(st.booleans()):
                    break
                place = data.draw(st.sampled_from(inner))
            where = data.draw(st.sampled_from(list(place) if isinstance(place, dict) else list(range(len(place)))))
            place[where] = data.draw(VALUES)
        line = json.dumps(record).encode()
        lines.append(line[: data.draw(st.integers(0, len(line)))] if data.draw(st.integers(0, 9)) == 0 else line)
    whole = through(numbered(lines), [])
    cut = through(numbered(lines), data.draw(st.lists(st.integers(0, len(lines)), max_size=4)))

    assert cut == whole
    assert len(json.dumps(whole[1]).encode()) < STATE_LIMIT_BYTES
    assert all(HOST.wants(line[:400]) in (True, False) for line in lines)


@given(case=st.sampled_from(CASES), cuts=st.lists(st.integers(0, 60), max_size=8))
def test_a_recorded_session_read_in_any_batches_gives_the_same(case, cuts):
    lines = numbered(RecordedCodex.rollout(*case).splitlines())

    assert through(lines, [min(cut, len(lines)) for cut in cuts]) == through(lines, [])


@given(st.dictionaries(st.sampled_from(STATE_KEYS), VALUES))
def test_a_state_that_is_not_ours_is_survived(stored):
    found, kept = HOST.parse(numbered(records()[:6]), stored)

    assert isinstance(found, list)
    assert len(json.dumps(kept)) < STATE_LIMIT_BYTES
    assert json.loads(json.dumps(kept)) == kept


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
