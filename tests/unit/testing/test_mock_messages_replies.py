"""What a reply looks like on the wire, and what happens when it is cut."""

from __future__ import annotations

import http.client
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afl_core.testing.anthropic_api import Message, MockAnthropic, ToolCall, dropped, hang, http_error, structured, text, tool
from afl_core.testing.anthropic_mock import sse
from afl_core.testing.failure import KitError


def test_streamed_text_comes_in_chunks_between_the_vendors_events(ask):
    with MockAnthropic([text("abcdefg", chunk=3)]) as api:
        answer = ask(api, stream=True)
    assert answer.headers["content-type"] == "text/event-stream"
    assert [name for name, _ in answer.events()] == [
        "message_start", "ping", "content_block_start", "content_block_delta", "content_block_delta", "content_block_delta",
        "content_block_stop", "message_delta", "message_stop",
    ]  # fmt: skip
    assert answer.text() == "abcdefg"
    assert answer.events()[-2][1]["delta"]["stop_reason"] == "end_turn"


def test_a_streamed_tool_call_is_its_arguments_in_pieces_of_json(ask):
    with MockAnthropic([tool("Bash", {"command": "ls -la"}, say="Looking.")]) as api:
        events = ask(api, stream=True).events()
    starts = [data["content_block"] for name, data in events if name == "content_block_start"]
    assert [(block["type"], block.get("name")) for block in starts] == [("text", None), ("tool_use", "Bash")]
    pieces = [data["delta"].get("partial_json", "") for name, data in events if name == "content_block_delta"]
    assert json.loads("".join(pieces)) == {"command": "ls -la"}
    assert events[-2][1]["delta"]["stop_reason"] == "tool_use"


def test_without_streaming_the_message_is_one_object(ask):
    with MockAnthropic([Message("Both.", (ToolCall("A", {}), ToolCall("B", {"x": 1}, "call-2")), usage={"output_tokens": 7})]) as api:
        message = ask(api).json()
    assert [block["type"] for block in message["content"]] == ["text", "tool_use", "tool_use"]
    assert message["content"][2]["id"] == "call-2"
    assert (message["model"], message["stop_reason"], message["usage"]["output_tokens"]) == ("m", "tool_use", 7)


def test_ids_of_tool_calls_are_unique_over_the_life_of_the_server(ask):
    with MockAnthropic([Message(calls=(ToolCall("A", {}), ToolCall("A", {}))), tool("A", {})]) as api:
        ids = [block["id"] for _ in range(2) for block in ask(api).json()["content"]]
    assert len(set(ids)) == 3


def test_structured_output_is_a_call_of_its_tool(ask):
    with MockAnthropic([structured({"verdict": "skip"})]) as api:
        [block] = ask(api).json()["content"]
    assert (block["name"], block["input"]) == ("StructuredOutput", {"verdict": "skip"})


@pytest.mark.parametrize(("status", "kind"), [(401, "authentication_error"), (429, "rate_limit_error"), (529, "overloaded_error")])
def test_an_http_error_has_the_vendors_body_and_the_headers_asked_for(ask, status, kind):
    with MockAnthropic([http_error(status, "go away", {"retry-after": "3"})]) as api:
        answer = ask(api, stream=True)
    assert answer.status == status
    assert answer.json() == {"type": "error", "error": {"type": kind, "message": "go away"}}
    assert answer.headers["retry-after"] == "3"


def test_a_dropped_connection_ends_in_the_middle_of_the_message(ask):
    with MockAnthropic([dropped("half a")]) as api:
        answer = ask(api, stream=True)
    assert answer.text() == "half a"
    assert "content_block_stop" not in [name for name, _ in answer.events()]


def test_a_held_message_stays_open_until_the_client_leaves_and_is_then_known_as_aborted(start):
    with MockAnthropic([text("I will use the old API", chunk=100, hold=True)]) as api:
        connection = start(api)
        response = connection.getresponse()
        received = b""
        while b"old API" not in received:
            received += response.read1()
        assert not api.requests[0].aborted
        response.close()
        connection.close()
        [cut] = api.wait_aborted()
        assert (cut.status, cut.done) == (200, True)


def test_a_client_that_leaves_during_a_slow_stream_is_known_as_aborted(start):
    with MockAnthropic([text("x" * 10_000, chunk=1, pause=0.01)]) as api:
        connection = start(api)
        response = connection.getresponse()
        response.read1()
        response.close()
        connection.close()
        assert len(api.wait_aborted()) == 1


def test_a_hang_sends_nothing_and_ends_with_the_server(start):
    with MockAnthropic([hang()]) as api:
        connection = start(api)
        assert api.wait_requests(1)[0].status is None
    with pytest.raises((http.client.RemoteDisconnected, ConnectionError)):
        connection.getresponse()
    assert api.requests[0].aborted


def test_a_wait_that_runs_out_says_what_was_seen(ask):
    with MockAnthropic(["one"]) as api:
        ask(api)
        with pytest.raises(KitError, match=r"2 message requests within 0\.05 s.*step 0 status 200"):
            api.wait_requests(2, timeout=0.05)


@given(words=st.text(min_size=1), chunk=st.integers(1, 30), arguments=st.dictionaries(st.text(), st.text() | st.integers()))
def test_the_pieces_of_any_reply_put_together_are_the_reply(words, chunk, arguments):
    for index, block in enumerate(sse.blocks(tool("T", arguments, say=words), 1)):
        deltas = [data["delta"] for name, data in sse.block_deltas(block, index, chunk) if name == "content_block_delta"]
        together = "".join(delta.get("text", delta.get("partial_json")) for delta in deltas)
        assert (together if block["type"] == "text" else json.loads(together)) == (words if block["type"] == "text" else arguments)
