"""Whatever lies in a chat log, parsing never raises, does not depend on how the lines are batched, and keeps a small state without words."""

from __future__ import annotations

import functools
import json

from hypothesis import given, settings
from hypothesis import strategies as st

from afl_core.spec.host import STATE_LIMIT_BYTES, Line
from afl_core.testing.recorded_gemini import RecordedGemini
from afl_providers_gemini.host import GeminiHost

HOST = GeminiHost()
CASES = RecordedGemini.names("chats")

SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=12)
KEYS = st.sampled_from(
    [
        "$set",
        "$rewindTo",
        "args",
        "content",
        "displayContent",
        "error",
        "functionResponse",
        "id",
        "kind",
        "messages",
        "model",
        "name",
        "output",
        "questions",
        "response",
        "result",
        "sessionId",
        "status",
        "text",
        "thought",
        "timestamp",
        "toolCalls",
        "type",
    ]
)
VALUES = st.recursive(
    SCALARS
    | st.sampled_from(
        ["user", "gemini", "info", "Request cancelled.", "cancelled", "ask_user", "exit_plan_mode", "2026-11-30T07:34:43.532Z"]
    )
    | st.sampled_from(["<hook_context>a</hook_context> b", "<session_context>", "<state_snapshot>x", "Plan rejected. User feedback: x"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS | st.text(max_size=4), inner, max_size=4),
    max_leaves=8,
)


@functools.cache
def records():
    """Every recorded record that says something, as JSON text, so that no example can change it."""
    return [line for case in CASES for line in RecordedGemini.chat(case).splitlines() if HOST.wants(line[:400])]


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


@given(st.lists(st.dictionaries(KEYS, VALUES, max_size=5), max_size=6), st.integers(0, 6))
def test_any_object_is_survived(objects, cut):
    lines = numbered([json.dumps(one).encode() for one in objects])

    assert through(lines, [min(cut, len(lines))]) == through(lines, [])


@given(st.dictionaries(st.sampled_from(["turn", "key", "prompts", "calls", "cut_ms", "replay_ms", "first", "subagent", "x"]), VALUES))
def test_a_state_that_is_not_ours_is_survived(state):
    _, kept = HOST.parse(numbered(records()[:3]), state)

    assert len(json.dumps(kept)) < STATE_LIMIT_BYTES


def test_what_cannot_be_read_leaves_its_neighbours_alone():
    def good(number):
        return b'{"id":"g%d","type":"user","content":"hello"}' % number

    bad = [
        b"",
        b"{",
        good(0)[:-2],
        b"\xff\xfe",
        b"[1]",
        b'"user"',
        b"null",
        b'{"id":"x","type":"user","content":"x","n":NaN}',
        b'{"id":"x","type":"user","n":' + b"9" * 5000 + b"}",
        b"[" * 100_000,
        b'{"id":"x","type":"user","content":[7,null,{"text":5},{"functionResponse":1}]}',
        b'{"id":"x","type":"gemini","model":"m","content":" ","toolCalls":[1,{"id":"t"},{"name":"n"},{"id":"t","name":"n","status":"success","args":1e999}]}',
        b'{"id":"x","type":"brand-new","content":"x"}',
        b'{"$set":{"messages":[1,{"type":"user","content":[{"text":"<state_snapshot"}]}]}}',
    ]
    lines = numbered([part for number, one in enumerate(bad) for part in (one, good(number))])

    assert [one.text for one in HOST.parse(lines, {})[0]] == ["hello"] * len(bad)


def test_the_fullest_state_is_small_and_holds_no_words(chats):
    chat = chats.Chat().header("a-session-id")
    for number in range(600):
        chat.person(f"secret words {number}").agent(f"secret answer {number}", chats.call(f"call-secret-{number}-{'x' * 200}"))
        chat.compressed(f"<state_snapshot>secret {number}</state_snapshot>")
    state = json.dumps(HOST.parse(chats.lines_of(chat.log), {})[1])

    assert len(state) < 10 * 1024
    assert "secret" not in state
    assert "a-session-id" not in state


def test_a_letter_that_is_broken_loses_no_words():
    assert HOST.parse(numbered([b'{"id":"a","type":"user","content":"h\xffi"}']), {})[0][0].text == "h\ufffdi"
    assert HOST.parse(numbered([b'{"id":"a","type":"user","content":"h\\ud800i"}']), {})[0][0].text == "h?i"
