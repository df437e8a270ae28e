"""What is this host's own of reading a damaged chat log; the contract of every host holds the rest."""

from __future__ import annotations

import json

from afl_core.spec.host import Line
from afl_providers_gemini.host import GeminiHost

HOST = GeminiHost()


def numbered(data):
    return [Line(100 * number, one) for number, one in enumerate(data)]


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
