"""The mock of the Gemini API answers as scripted, over both methods, and remembers what it was asked without the key."""

from __future__ import annotations

import json
import urllib.error
import urllib.request

import pytest

from afl_core.testing.failure import KitError
from afl_core.testing.gemini_api import Content, MockGemini, Step, call, hang, http_error, reviewing, structured, text

BODY = {"contents": [{"role": "user", "parts": [{"text": "say hello"}]}], "systemInstruction": {"parts": [{"text": "be brief"}]}}


def ask(api, body=None, *, method="generateContent", model="gemini-2.5-flash", query="", timeout=60):
    request = urllib.request.Request(
        f"{api.url}/v1beta/models/{model}:{method}{query}", json.dumps(body or BODY).encode(), {"x-goog-api-key": "secret-1"}
    )
    with urllib.request.urlopen(request, timeout=timeout) as answer:
        return answer.read().decode()


def streamed(raw):
    return [json.loads(line.removeprefix("data: ")) for line in raw.splitlines() if line]


def words_of(bodies):
    return "".join(part.get("text", "") for body in bodies for part in body["candidates"][0]["content"]["parts"])


def test_steps_answer_in_order_whole_and_in_pieces():
    with MockGemini(["Hello.", text("A longer answer.", chunk=4)]) as api:
        assert words_of([json.loads(ask(api))]) == "Hello."
        pieces = streamed(ask(api, method="streamGenerateContent", query="?alt=sse"))
        assert (len(pieces), words_of(pieces)) == (4, "A longer answer.")
        assert [piece["candidates"][0].get("finishReason") for piece in pieces] == [None, None, None, "STOP"]
        assert "usageMetadata" in pieces[-1]
        assert api.unused == []


def test_a_step_answers_only_what_it_is_for():
    steps = [
        Step("for the other model", model="pro"),
        Step("for a schema", schema=True),
        Step(lambda request: f"you said {request.last_user_text}", last="hello", repeat=True),
    ]
    with MockGemini(steps) as api:
        assert words_of([json.loads(ask(api))]) == "you said say hello"
        assert words_of([json.loads(ask(api, {**BODY, "generationConfig": {"responseJsonSchema": {}}}))]) == "for a schema"
        assert words_of([json.loads(ask(api, model="gemini-pro"))]) == "for the other model"
        assert words_of([json.loads(ask(api))]) == "you said say hello"


def test_calls_finishes_and_structured_answers_have_the_vendors_shape():
    with MockGemini(
        [call("read_file", {"path": "a"}), text("", finish="SAFETY"), reviewing({"ok": True}), structured({"ok": False})]
    ) as api:
        first, second = json.loads(ask(api)), json.loads(ask(api))
        assert first["candidates"][0]["content"]["parts"][-1] == {"functionCall": {"name": "read_file", "args": {"path": "a"}}}
        assert second["candidates"][0]["finishReason"] == "SAFETY"
        assert json.loads(words_of([json.loads(ask(api))])) == {"ok": False}  # the reviewing step waits for a schema


@pytest.mark.parametrize(("status", "name"), [(401, "UNAUTHENTICATED"), (429, "RESOURCE_EXHAUSTED"), (503, "UNAVAILABLE")])
def test_an_error_has_the_vendors_body(status, name):
    with MockGemini([http_error(status, "no")]) as api:
        with pytest.raises(urllib.error.HTTPError) as refused:
            ask(api)
        assert refused.value.code == status
        assert json.load(refused.value) == {"error": {"code": status, "message": "no", "status": name}}


def test_what_no_step_fits_and_what_is_no_question_are_errors():
    with MockGemini() as api:
        for method, status in (("generateContent", 400), ("embedContent", 404)):
            with pytest.raises(urllib.error.HTTPError) as refused:
                ask(api, method=method)
            assert refused.value.code == status
            refused.value.close()
        assert json.loads(ask(api, method="countTokens"))["totalTokens"] > 0
        assert [request.method for request in api.requests] == ["generateContent"]
        assert len(api.traffic) == 3


def test_a_client_that_leaves_is_noted_and_closing_ends_what_waits():
    with MockGemini([hang(), Content("half", hold=True), Content("cut", drop=True)]) as api:
        with pytest.raises(TimeoutError):
            ask(api, timeout=0.2)
        (left,) = api.wait_aborted()
        assert left.status is None
        with pytest.raises(TimeoutError):
            ask(api, method="streamGenerateContent", timeout=0.2)
        api.wait_aborted(2)
        (only,) = streamed(ask(api, method="streamGenerateContent"))
        assert "finishReason" not in only["candidates"][0]


def test_the_journal_keeps_words_and_no_key():
    with MockGemini(["Hello."]) as api:
        ask(api, {**BODY, "tools": [{"functionDeclarations": [{"name": "read_file"}]}]}, query="?key=secret-1")
        (seen,) = api.requests
        assert (seen.system_text, seen.last_user_text, seen.contents_text) == ("be brief", "say hello", "say hello")
        assert (seen.function_names, seen.schema, seen.model) == (("read_file",), None, "gemini-2.5-flash")
        assert "secret-1" not in repr(api.traffic)


def test_a_step_that_raises_is_told_when_the_mock_closes():
    def broken(request):
        raise ValueError("oh")

    with pytest.raises(KitError, match="oh"), MockGemini([broken]) as api:
        with pytest.raises(urllib.error.HTTPError) as refused:
            ask(api)
        refused.value.close()


def test_waiting_for_a_request_that_does_not_come_says_what_came():
    with MockGemini(["Hello."]) as api:
        ask(api)
        with pytest.raises(KitError, match=r"did not see 2 message requests within 0.1 s; it saw .*step 0 status 200"):
            api.wait_requests(2, timeout=0.1)
