"""The mock of the Responses API: its script, its stream, its errors, and what a test can ask of it."""

from __future__ import annotations

import http.client
import json
import threading
import urllib.error
import urllib.request

import pytest

from afl_core.testing.codex_cli import config_text, find_codex
from afl_core.testing.failure import KitError
from afl_core.testing.openai_api import (
    MockOpenAI,
    Step,
    dropped,
    failed,
    hang,
    http_error,
    incomplete,
    reviewing,
    script,
    shell,
    structured,
    text,
)

SCHEMA = {"text": {"format": {"type": "json_schema", "schema": {"type": "object"}}}}


def post(api, body, path="/responses"):
    """Post a request; gives the events of the stream."""
    asked = urllib.request.Request(api.url + path, json.dumps(body).encode(), {"authorization": "Bearer SECRET"})
    try:
        with urllib.request.urlopen(asked, timeout=60) as answer:
            raw = answer.read().decode()
    except urllib.error.HTTPError as refused:
        refused.close()
        raise
    return [json.loads(line.removeprefix("data: ")) for line in raw.splitlines() if line.startswith("data: ")]


def said(role, words):
    return {"type": "message", "role": role, "content": [{"type": "input_text", "text": words}]}


def outputs(events):
    return events[-1]["response"]["output"]


def test_words_come_in_pieces_and_whole_at_the_end():
    with MockOpenAI([text("Hello there.", chunk=5)]) as api:
        events = post(api, {"input": [said("user", "hi")]})
    assert events[0]["type"] == "response.created"
    assert [event["delta"] for event in events if event["type"] == "response.output_text.delta"] == ["Hello", " ther", "e."]
    assert events[-1]["type"] == "response.completed"
    assert outputs(events)[0]["content"][0]["text"] == "Hello there."


def test_tools_are_called_as_a_client_expects_them():
    with MockOpenAI([shell("ls"), script("text(1)")]) as api:
        [call] = outputs(post(api, {"input": []}))
        [free] = outputs(post(api, {"input": []}))
    assert (call["type"], call["name"], json.loads(call["arguments"])) == ("function_call", "exec_command", {"cmd": "ls"})
    assert (free["type"], free["name"], free["input"]) == ("custom_tool_call", "exec", "text(1)")
    assert call["call_id"] != free["call_id"]


def test_a_step_is_chosen_by_what_was_said_last_and_by_instructions():
    steps = [Step(text("A"), last="tool said"), Step(text("B"), system="CARD"), reviewing({"ok": True})]
    with MockOpenAI(steps) as api:
        post(api, {"input": [said("user", "x"), {"type": "function_call_output", "output": "tool said no"}]})
        post(api, {"input": [said("developer", "CARD-7"), said("user", "x")]})
        events = post(api, {"input": [said("user", "x")], **SCHEMA})
        assert json.loads(outputs(events)[0]["content"][0]["text"]) == {"ok": True}
        assert [request.step for request in api.requests] == [0, 1, 2]
        assert api.requests[2].answer_schema == {"type": "object"}
        assert api.requests[0].answer_schema is None
        assert "SECRET" not in str(api.requests[0].as_json())


def test_a_request_without_a_step_fails():
    with MockOpenAI() as api, pytest.raises(urllib.error.HTTPError) as refused:
        post(api, {"input": []})
    assert refused.value.code == 400


def test_what_can_go_wrong_goes_wrong():
    with MockOpenAI([http_error(429), failed("insufficient_quota"), incomplete("max_output_tokens", "half"), dropped("half")]) as api:
        with pytest.raises(urllib.error.HTTPError):
            post(api, {"input": []})
        assert post(api, {"input": []})[-1]["response"]["error"]["code"] == "insufficient_quota"
        assert post(api, {"input": []})[-1]["response"]["incomplete_details"] == {"reason": "max_output_tokens"}
        assert [event["type"] for event in post(api, {"input": []})][-1] == "response.output_text.delta"


def test_a_hanging_request_ends_with_its_client():
    with MockOpenAI([hang()]) as api:
        connection = http.client.HTTPConnection(api.url.split("/")[2], timeout=60)
        asking = threading.Thread(target=connection.request, args=("POST", "/v1/responses", "{}"))
        asking.start()
        asking.join()
        api.wait_requests(1, timeout=60)
        connection.close()
        assert len(api.wait_aborted(timeout=60)) == 1


def test_the_list_of_models_is_answered_and_nothing_else():
    with MockOpenAI() as api:
        with urllib.request.urlopen(api.url + "/models", timeout=60) as answer:
            assert json.load(answer)["models"] == []
        with pytest.raises(urllib.error.HTTPError):
            post(api, {}, "/other")
        assert api.requests == []
        assert len(api.traffic) == 2


def test_a_structured_answer_is_text_here():
    assert json.loads(structured({"a": 1}).text) == {"a": 1}


def test_the_cli_is_found_where_it_is_named_or_kept(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("AFL_CODEX_BIN", raising=False)
    assert find_codex() is None
    binary = tmp_path / "agent-feedback-loop/hosts/codex-0.171.0/node_modules/.bin/codex"
    binary.parent.mkdir(parents=True)
    binary.write_text("#!/bin/sh\n")
    assert find_codex() is None
    binary.chmod(0o755)
    assert find_codex() == binary
    monkeypatch.setenv("AFL_CODEX_BIN", str(tmp_path / "elsewhere"))
    assert find_codex() is None


def test_a_path_that_would_break_the_configuration_is_refused(tmp_path):
    assert 'base_url = "http://x/v1"' in config_text("http://x/v1", tmp_path)
    with pytest.raises(KitError):
        config_text("http://x/v1", tmp_path / 'a"b')
