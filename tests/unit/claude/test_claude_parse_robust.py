"""What is this host's own of reading a damaged transcript; the contract of every host holds the rest."""

from __future__ import annotations

import functools
import json
from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from afl_core.model.observation import Rewound
from afl_core.spec.host import STATE_LIMIT_BYTES, Line
from afl_core.testing.conformance.damage import values
from afl_core.testing.recorded import Recorded
from afl_providers_claude.host import ClaudeHost

HOST = ClaudeHost()
CASES = Recorded.names("transcripts")


@functools.cache
def records():
    """Every recorded record that says something, as JSON text, so that no example can change it."""
    return [line for case in CASES for line in Recorded.transcript(case).splitlines() if HOST.wants(line[:400])]


def numbered(data):
    return [Line(100 * number, one) for number, one in enumerate(data)]


VALUES = values(tuple(records()))


@given(VALUES, st.dictionaries(st.sampled_from(["turn", "open", "under", "x"]), VALUES))
def test_a_state_that_is_not_ours_is_survived(value, state):
    for stored in (state, {"open": value}, {"open": [["t1", value, value]]}, {"turn": value}, {"under": value}):
        found, kept = HOST.parse(numbered(records()[:3]), stored)
        found = [one for one in found if not isinstance(one, Rewound)]  # a list of texts is a state of ours
        assert found == HOST.parse(numbered(records()[:3]), {"turn": stored.get("turn")} if isinstance(stored.get("turn"), str) else {})[0]
        assert len(json.dumps(kept)) < STATE_LIMIT_BYTES


def test_what_cannot_be_read_leaves_its_neighbours_alone():
    good = json.dumps({"type": "user", "message": {"content": "hello"}}).encode()
    bad = [
        b"",
        b"{",
        good[:-2],
        b"\xff\xfe",
        b"[1]",
        b'"user"',
        b"null",
        b'{"type":"user","message":{"content":"x"},"n":NaN}',
        b'{"type":"user","n":' + b"9" * 5000 + b"}",
        b"[" * 100_000,
        b'{"type":"user","message":{"content":[7,null,"x",{"type":"text"},{"type":"text","text":5},{"type":"tool_result"}]}}',
        b'{"type":"assistant","message":{"content":[{"type":"tool_use","id":"t"},{"type":"tool_use","name":"n"},{"type":"text","text":" "}]}}',
        b'{"type":"brand-new","message":{"content":"x"}}',
    ]
    lines = numbered([part for one in bad for part in (one, good)])

    assert [one.text for one in HOST.parse(lines, {})[0]] == ["hello"] * len(bad)


def test_an_input_nobody_can_write_as_json_is_no_call():
    record = b'{"type":"assistant","message":{"content":[{"type":"tool_use","id":"t","name":"n","input":{"x":1e999}}]}}'

    assert HOST.parse(numbered([record]), {})[0] == []


def test_the_state_remembers_the_last_64_open_calls_and_no_words():
    start = datetime(2026, 1, 1, tzinfo=UTC)

    def call(number, name="Bash"):
        block = {"type": "tool_use", "id": f"toolu_{'x' * 90}{number:03}", "name": name, "input": {"command": "secret words"}}
        at = (start + timedelta(seconds=number)).isoformat()
        return json.dumps(
            {"type": "assistant", "timestamp": at, "message": {"content": [{"type": "text", "text": "secret words"}, block]}}
        ).encode()

    state = HOST.parse(numbered([call(number) for number in range(100)]), {"turn": "p-1"})[1]

    assert [one[0][-3:] for one in state["open"]] == [f"{number:03}" for number in range(36, 100)]
    assert "secret" not in json.dumps(state)
    assert "Bash" not in json.dumps(state)
    assert len(json.dumps(state).encode()) < STATE_LIMIT_BYTES


def test_a_call_and_its_result_in_two_batches_still_give_a_duration():
    call = b'{"type":"assistant","timestamp":"2026-01-01T00:00:00.000Z","message":{"content":[{"type":"tool_use","id":"t1","name":"Bash","input":{}}]}}'
    result = b'{"type":"user","timestamp":"2026-01-01T00:00:02.500Z","message":{"content":[{"type":"tool_result","tool_use_id":"t1","content":"ok"}]}}'
    state = HOST.parse(numbered([call]), {})[1]
    (returned,), after = HOST.parse(numbered([result]), state)

    assert returned.duration_ms == 2500
    assert after["open"] == []


def prompt(number, parent):
    return json.dumps({"type": "user", "uuid": f"u{number}", "parentUuid": parent, "message": {"content": f"words {number}"}}).encode()


def test_the_state_remembers_where_the_last_128_prompts_hang_and_no_longer_names():
    state = HOST.parse(numbered([prompt(number, f"{number:036}") for number in range(200)]), {})[1]

    assert [parent[-3:] for parent in state["under"]] == [f"{number:03}" for number in range(72, 200)]
    long = HOST.parse(numbered([prompt(number, "x" * 41 + str(number)) for number in range(200)]), {})[1]
    assert long["under"] == []


def test_the_largest_state_is_within_the_limit():
    calls = [json.dumps({"type": "assistant", "timestamp": "2026-11-30T07:00:00.000Z", "message": {"content": [
        {"type": "tool_use", "id": f"{number:0100}", "name": "Bash", "input": {}}]}}).encode() for number in range(100)]  # fmt: skip
    state = HOST.parse(numbered([*calls, *(prompt(number, f"{number:040}") for number in range(200))]), {"turn": "t" * 100})[1]

    assert (len(state["open"]), len(state["under"])) == (64, 128)
    assert len(json.dumps(state).encode()) <= STATE_LIMIT_BYTES
