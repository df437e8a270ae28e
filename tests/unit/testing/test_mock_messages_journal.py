"""What the mock remembers of its requests, and the mock as a program."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import urllib.request
from types import SimpleNamespace

import pytest

from afl_core.testing.anthropic_api import MockAnthropic, main, words

SECRETS = {"x-api-key": "s3cret-1", "Authorization": "Bearer s3cret-2", "Cookie": "s3cret-3", "x-app": "cli"}


def test_credentials_are_removed_from_the_log_in_memory_and_on_disk(ask, tmp_path):
    log = tmp_path / "requests.jsonl"
    with MockAnthropic(["hi"], log=log) as api:
        ask(api, headers=SECRETS)
    assert "s3cret" not in repr(api.traffic) + log.read_text(encoding="utf-8")
    assert api.requests[0].headers["x-api-key"] == "<removed>"
    assert api.requests[0].headers["x-app"] == "cli"
    [line] = log.read_text(encoding="utf-8").splitlines()
    assert json.loads(line)["body"]["messages"][0]["content"] == "hello"


def test_token_counts_and_probes_are_traffic_but_no_message_requests(ask):
    with MockAnthropic(["hi"]) as api:
        assert ask(api, path="/v1/messages/count_tokens").json()["input_tokens"] > 0
        assert ask(api, method="HEAD", path="/").status == 200
        assert ask(api, method="GET", path="/v1/models").status == 404
        ask(api)
        assert len(api.requests) == 1
        assert [request.number for request in api.traffic] == [1, 2, 3, 4]


def test_the_words_of_a_request_can_be_asked_for(ask):
    messages = [
        {"role": "user", "content": [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}]},
        {"role": "system", "content": [{"type": "text", "text": "a card"}]},
    ]
    with MockAnthropic(["hi"]) as api:
        ask(api, messages=messages, system="Be kind.", tools=[{"name": "Bash"}])
        [request] = api.requests
    assert request.last_user_text == "one\ntwo"
    assert request.system_text == "Be kind.\na card"
    assert request.conversation_text == "one\ntwo\na card"
    assert request.tool_names == ("Bash",)


def test_a_body_that_is_no_json_is_kept_as_raw_text(ask):
    with MockAnthropic(["hi"]) as api:
        assert ask(api, raw="{not json").status == 200
        assert (api.requests[0].raw, api.requests[0].body) == ("{not json", {})


def test_words_finds_text_at_any_depth_and_nothing_where_there_is_none():
    assert words([{"content": [{"text": "a"}, "b"]}, {"type": "image"}, None]) == "a\nb"


def test_closing_twice_is_harmless():
    api = MockAnthropic([])
    api.close()
    api.close()
    with pytest.raises(OSError, match="refused"):
        urllib.request.urlopen(api.url)


def test_the_program_serves_a_script_file_and_logs_until_it_is_interrupted(ask, tmp_path):
    script, log = tmp_path / "steps.json", tmp_path / "log.jsonl"
    steps = [
        {"last": "turtles", "text": "About turtles.", "chunk": 3},
        {"structured": {"a": 1}},
        {"status": 529},
        {"calls": [{"name": "T", "arguments": {}}]},
    ]
    script.write_text(json.dumps(steps), encoding="utf-8")
    command = [sys.executable, "-m", "afl_core.testing.anthropic_api", str(script), "--log", str(log)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=os.environ.copy()) as program:
        server = SimpleNamespace(url=program.stdout.readline().strip())
        assert ask(server, "birds").json()["content"][0]["input"] == {"a": 1}
        assert ask(server, "turtles", stream=True).text() == "About turtles."
        assert ask(server).status == 529
        assert ask(server).json()["content"][0]["name"] == "T"
        program.send_signal(signal.SIGINT)
        assert program.wait(20) == 0
    logged = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]  # in the order in which their ends were noted
    assert [one["step"] for one in sorted(logged, key=lambda one: one["number"])] == [1, 0, 2, 3]


@pytest.mark.parametrize(
    ("written", "complaint"),
    [("{", "not valid JSON"), ("{}", "must hold a list"), ('[{"txet": "x"}]', "txet"), ('[{"last": "x"}]', "nothing")],
)
def test_a_script_file_that_cannot_be_read_is_refused_with_what_is_wrong(tmp_path, capsys, written, complaint):
    script = tmp_path / "steps.json"
    script.write_text(written, encoding="utf-8")
    assert main([str(script)]) == 1
    assert complaint in capsys.readouterr().err
