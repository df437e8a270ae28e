"""Every end of an isolated run is a receipt or one reason, and what the model said is never repeated."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afl_core.review.reasons import REASONS
from afl_core.spec.reviewer import ProcessResult
from afl_providers_codex.reviewer_answer import BY_SENTENCE, BY_STATUS, read
from afl_providers_codex.reviewer_failures import FAILURES
from afl_providers_codex.reviewer_input import ANSWER_FILE, RECEIPT_FILE

SCHEMA = {"type": "object", "required": ["ok"], "properties": {"ok": {"type": "boolean"}, "note": {"type": "string"}}}


def lines(*events):
    return "".join(json.dumps(event) + "\n" for event in events).encode()


def ended(status, *events, answer=None, stderr=b"", **more):
    outputs = {RECEIPT_FILE: json.dumps(SCHEMA).encode()}
    if answer is not None:
        outputs[ANSWER_FILE] = answer.encode()
    return read(ProcessResult(status, lines(*events), stderr, outputs=outputs, **more))


def trouble(message):
    return [{"type": "turn.started"}, {"type": "error", "message": message}, {"type": "turn.failed", "error": {"message": message}}]


DONE = {"type": "turn.completed", "usage": {"input_tokens": 7, "cached_input_tokens": 5, "output_tokens": 3, "reasoning_output_tokens": 2}}


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("error_401", "reviewer_unauthorized"),
        ("error_429", "reviewer_overloaded"),
        ("error_500", "reviewer_overloaded"),
        ("error_dropped", "reviewer_network"),
        ("error_failed", "reviewer_overloaded"),
        ("failed", "reviewer_overloaded"),
    ],
)
def test_what_the_real_cli_printed_has_its_reason(recorded, name, reason):
    answer = ended(1, *recorded(f"exec_json/{name}.jsonl"), answer="")
    assert (answer.receipt, answer.reason, answer.counts) == (None, reason, False)


def test_an_answer_with_its_cost_and_without_nulls_that_stand_for_nothing():
    answer = ended(0, DONE, answer='{"ok": true, "note": null}')
    assert (answer.receipt, answer.reason) == ({"ok": True}, None)
    assert (answer.usage.input_tokens, answer.usage.output_tokens) == (7, 3)


def test_a_code_fence_around_the_object_is_taken_off():
    assert ended(0, DONE, answer='```json\n{"ok": true}\n```').receipt == {"ok": True}


def test_without_the_file_the_last_message_is_the_answer():
    said = {"type": "item.completed", "item": {"type": "agent_message", "text": '{"ok": false}'}}
    assert ended(0, said, DONE).receipt == {"ok": False}


@pytest.mark.parametrize("answer", ["", "I think it is fine: SECRET", "[1]", '"text"', '{"ok": tru'])
def test_anything_else_is_no_structured_output_and_is_not_repeated(answer):
    told = ended(0, DONE, answer=answer)
    assert (told.receipt, told.reason, told.counts) == (None, "reviewer_no_structured_output", True)
    assert "SECRET" not in told.detail
    assert told.usage.output_tokens == 3


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        ("Missing environment variable: `CORP_KEY`.", "reviewer_login_missing"),
        ("unexpected status 401 Unauthorized: Missing bearer or basic authentication in header", "reviewer_login_missing"),
        ("unexpected status 403 Forbidden: no", "reviewer_unauthorized"),
        ("unexpected status 503 Service Unavailable: no", "reviewer_overloaded"),
        ("unexpected status 404 Not Found: no such model", "reviewer_api_error"),
        ("exceeded retry limit, last status: 429 Too Many Requests", "reviewer_overloaded"),
        ("You've hit your usage limit.", "reviewer_overloaded"),
        ("Incomplete response returned, reason: max_output_tokens", "reviewer_output_cut"),
        ("Incomplete response returned, reason: content_filter", "reviewer_refused"),
        ("Your access token could not be refreshed. Please sign in again.", "reviewer_unauthorized"),
        ("something new", "reviewer_api_error"),
    ],
)
def test_a_sentence_of_the_host_has_its_reason(message, reason):
    assert ended(1, *trouble(message), answer="").reason == reason


def test_an_error_in_json_tells_its_code_only():
    answer = ended(1, *trouble(json.dumps({"error": {"message": "you sent: SECRET", "code": "invalid_prompt"}})))
    assert (answer.reason, answer.detail) == ("reviewer_api_error", "invalid_prompt")


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        ("Reconnecting... waiting for network (Connection failed: error sending request)", "reviewer_network"),
        ("Reconnecting... 3/5 (We're currently experiencing high demand, which may cause temporary errors.)", "reviewer_overloaded"),
    ],
)
def test_a_run_that_waited_for_the_service_until_its_time_was_up_is_postponed(message, reason):
    answer = ended(-15, {"type": "turn.started"}, {"type": "error", "message": message}, timed_out=True)
    assert (answer.reason, answer.counts) == (reason, False)
    assert ended(-15, {"type": "turn.started"}, timed_out=True).reason == "reviewer_timeout"


@pytest.mark.parametrize(("status", "reason"), [(-9, "reviewer_killed"), (143, "reviewer_killed"), (1, "reviewer_command_rejected")])
def test_without_a_word_the_status_decides(status, reason):
    answer = ended(status, stderr=b"\nerror: unexpected argument '--ephemeral' found\n\nUsage: codex\n")
    assert answer.reason == reason
    assert ("--ephemeral" in answer.detail) == (status == 1)


def test_every_reason_is_one_that_core_knows_and_counts_alike():
    told = {*BY_STATUS.values(), *(code for _, code in BY_SENTENCE)}
    assert told <= set(FAILURES)
    assert {code: one.counts for code, one in FAILURES.items()} == {code: REASONS[code].counts for code in FAILURES}


WORDS = st.text(max_size=30) | st.none() | st.integers()
EVENTS = st.dictionaries(
    st.sampled_from(["type", "message", "error", "item", "usage"]),
    WORDS
    | st.sampled_from(["error", "turn.failed", "turn.completed", "item.completed"])
    | st.dictionaries(st.sampled_from(["message", "type", "text"]), WORDS),
)


@given(events=st.lists(EVENTS, max_size=5), status=st.integers(-20, 255), answer=st.none() | st.text(max_size=30), timed_out=st.booleans())
def test_whatever_is_printed_there_is_a_receipt_or_a_known_reason(events, status, answer, timed_out):
    told = ended(status, *events, answer=answer, timed_out=timed_out)
    assert (told.receipt is None) == (told.reason is not None)
    assert told.reason is None or told.reason in FAILURES
    assert told.detail.isprintable()
