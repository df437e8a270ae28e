"""Every way a recorded or made run ended has its reason, and every reason of the table has a way to end in it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afl_core.spec.reviewer import ProcessResult
from afl_providers_gemini.reviewer import GeminiReviewer
from afl_providers_gemini.reviewer_answer import BY_EXIT
from afl_providers_gemini.reviewer_failures import FAILURES, TABLE

REVIEWER = GeminiReviewer()


def said(response, errors=None, **stats):
    model = {"api": {"errorsByType": errors or {}}, "tokens": {"prompt": 7, "candidates": 3, "thoughts": 2, "tool": 0}}
    body = {"session_id": "s", "response": response, "stats": {"models": {"gemini-2.5-flash": model}, **stats}}
    return ProcessResult(0, json.dumps(body, indent=2).encode(), b"Ripgrep is not available.\n")


def failing(code, message, *, rc=None, kind="Error", noise="    at async main (file:///x.js:1:2) {\n  status: 1\n}\n"):
    body = {"session_id": "s", "error": {"type": kind, "message": message, "code": code}}
    return ProcessResult(code % 256 if rc is None else rc, b"", (noise + json.dumps(body, indent=2) + "\n").encode())


def service(code, status, message, *, rc=None):
    return failing(code, json.dumps({"error": {"code": code, "message": message, "status": status}}), rc=rc)


ENDINGS = {
    "403": (service(403, "PERMISSION_DENIED", "no"), "reviewer_unauthorized", False, "403 PERMISSION_DENIED no"),
    "no such key": (service(400, "INVALID_ARGUMENT", "API key not valid."), "reviewer_unauthorized", False, "400 INVALID_ARGUMENT"),
    "503": (service(503, "UNAVAILABLE", "busy"), "reviewer_overloaded", False, "503"),
    "529": (failing(529, "overloaded"), "reviewer_overloaded", False, "529"),
    "400": (service(400, "INVALID_ARGUMENT", "bad"), "reviewer_api_error", True, "400 INVALID_ARGUMENT bad"),
    "502 without an object": (ProcessResult(246, b"", b"broken\n"), "reviewer_api_error", True, "502"),
    "429 without an object": (ProcessResult(173, b"", b""), "reviewer_overloaded", False, "429"),
    "404": (service(404, "NOT_FOUND", "models/x is not found", rc=1), "reviewer_settings", False, "models/x"),
    "quota": (failing(1, "You have exhausted your daily quota on this model."), "reviewer_overloaded", False, "quota"),
    "network": (failing(1, "exception TypeError: fetch failed sending request"), "reviewer_network", False, "fetch failed"),
    "no name": (failing(1, "getaddrinfo ENOTFOUND generativelanguage.googleapis.com"), "reviewer_network", False, "ENOTFOUND"),
    "unknown": (failing(1, "something new"), "reviewer_api_error", True, "something new"),
    "no login": (
        failing(41, "Please set an Auth method"),
        "reviewer_login_missing",
        False,
        "name it in AGENT_FEEDBACK_LOOP_REVIEWER_ENV_ALLOWLIST",
    ),
    "login in words": (ProcessResult(41, b"", b"Invalid auth method selected.\n"), "reviewer_login_missing", False, "set GEMINI_API_KEY"),
    "no prompt": (ProcessResult(42, b"", b""), "reviewer_command_rejected", True, "status 42"),
    "bad settings": (ProcessResult(52, b"", b"Error in settings.json\n"), "reviewer_settings", False, "status 52"),
    "untrusted": (failing(55, "The folder is not trusted"), "reviewer_settings", False, "not trusted"),
    "bad flag": (ProcessResult(1, b"", b"Options:\n\nUnknown argument: xyz\n"), "reviewer_command_rejected", True, "Unknown argument: xyz"),
    "silent": (ProcessResult(127, b"", b""), "reviewer_command_rejected", True, "status 127, nothing printed"),
    "prose": (said("I think all is well."), "reviewer_no_structured_output", True, "20 characters"),
    "a list": (said("[1]"), "reviewer_no_structured_output", True, "no JSON object"),
    "only blanks": (said(" \n"), "reviewer_no_structured_output", True, "empty response"),
    "cut in a text": (said('{"a": "b'), "reviewer_output_cut", True, "8 characters"),
    "cut between": (said('{"a": [1, {"b": 2}'), "reviewer_output_cut", True, "18 characters"),
    "cut in a word": (said('{"a": tr'), "reviewer_output_cut", True, "8 characters"),
    "wrong inside": (said('{"a": nope}'), "reviewer_no_structured_output", True, "11 characters"),
    "deadline": (ProcessResult(-15, b"", b"", timed_out=True, seconds=180.2), "reviewer_timeout", True, "stopped after 180 s"),
    "flood": (ProcessResult(-15, b"x" * 9, b"", overflowed=True), "reviewer_output_too_large", True, "stopped after 9 bytes"),
    "not json": (ProcessResult(0, b"hello", b""), "reviewer_output_unreadable", True, "status 0, 5 bytes"),
    "no response": (ProcessResult(0, b'{"session_id": "s"}', b""), "reviewer_output_unreadable", True, "status 0"),
    "ended by a signal it answers": (ProcessResult(0, b"", b""), "reviewer_killed", True, "nothing printed"),
    "killed": (ProcessResult(-9, b"", b""), "reviewer_killed", True, "status -9"),
    "terminated": (ProcessResult(143, b"", b""), "reviewer_killed", True, "status 143"),
}
RECORDED = {
    "http401": ("reviewer_unauthorized", False, "401 UNAUTHENTICATED mock error 401"),
    "http429": ("reviewer_overloaded", False, "429 mock error 429"),
    "http500": ("reviewer_api_error", True, "500 INTERNAL mock error 500"),
    "empty": ("reviewer_no_structured_output", True, "empty response, NO_RESPONSE_TEXT"),
    "safety": ("reviewer_refused", True, "empty response, SAFETY_BLOCKED"),
    "toolcall": ("reviewer_output_cut", True, "Reached max session turns"),
}


@pytest.mark.parametrize("case", ENDINGS)
def test_each_ending_has_its_reason(case):
    result, reason, counts, detail = ENDINGS[case]
    answer = REVIEWER.read(result)
    assert (answer.receipt, answer.reason, answer.counts) == (None, reason, counts)
    assert detail in answer.detail
    assert len(answer.detail) <= 200
    assert "\n" not in answer.detail


@pytest.mark.parametrize("case", RECORDED)
def test_each_recorded_ending_has_its_reason(recorded, case):
    answer = REVIEWER.read(recorded(case))
    reason, counts, detail = RECORDED[case]
    assert (answer.receipt, answer.reason, answer.counts) == (None, reason, counts)
    assert answer.detail.startswith(detail)


def test_the_table_holds_exactly_the_reasons_that_can_be_given():
    given_ = {reason for _, reason, _, _ in ENDINGS.values()} | {reason for reason, _, _ in RECORDED.values()}
    assert given_ == set(FAILURES)
    assert len(TABLE) == len(FAILURES)
    assert set(BY_EXIT.values()) <= set(FAILURES)


def test_only_what_is_not_the_reviews_fault_is_no_attempt():
    uncounted = {"reviewer_login_missing", "reviewer_network", "reviewer_unauthorized", "reviewer_overloaded", "reviewer_settings"}
    assert {failure.code for failure in TABLE if not failure.counts} == uncounted


def test_a_response_that_is_one_object_is_the_receipt(recorded):
    answer = REVIEWER.read(recorded("ok"))
    assert (answer.receipt, answer.reason, answer.counts, answer.detail) == ({"lessons": ["use tabs"]}, None, True, "")
    assert (answer.usage.input_tokens, answer.usage.output_tokens, answer.usage.model) == (187, 12, "gemini-2.5-flash")
    assert answer.usage.cost_usd is None


@pytest.mark.parametrize("response", ['{"ok": true}', '  {"ok": true}\n', '```json\n{"ok": true}\n```', '```\n{"ok": true}\n```\n'])
def test_blanks_and_a_fence_around_it_do_not_matter(response):
    assert REVIEWER.read(said(response)).receipt == {"ok": True}


def test_a_response_beside_an_error_status_is_not_taken():
    assert REVIEWER.read(ProcessResult(53, said('{"ok": true}').stdout, b"")).receipt is None


def test_thoughts_count_as_written_and_a_failure_that_cost_something_says_so(recorded):
    assert REVIEWER.read(said('{"ok": true}')).usage.output_tokens == 5
    assert REVIEWER.read(recorded("safety")).usage.input_tokens > 0


def test_what_the_model_said_is_not_repeated_in_the_reason():
    for response in ("EVIDENCE words", '{"EVIDENCE', '["EVIDENCE"]', '{"a": EVIDENCE}'):
        assert "EVIDENCE" not in REVIEWER.read(said(response)).detail


def test_the_error_object_is_found_behind_traces_and_when_it_stands_there_twice(recorded):
    result = failing(401, "no", noise="Error: {\n  x\n" + "    at y {\n" * 50 + '{"error": "not this"}\n')
    twice = ProcessResult(145, b"", result.stderr + b"[ERROR] " + result.stderr[result.stderr.rindex(b"\n{") + 1 :])
    for one in (result, twice):
        assert REVIEWER.read(one).detail == "401 no"


@given(
    st.integers(-20, 300),
    st.sampled_from([b"", b"{}", b"{", b'{"response": 3}', b'{"response": "{}", "stats": []}', b"\xff"]) | st.binary(max_size=40),
    st.sampled_from([b"", b"{\n", b'{"error": 3}', b'{\n"error": {"code": "x", "message": 7}}', b'{"error": {"code": 1e999}}'])
    | st.binary(max_size=40),
)
def test_any_output_is_a_receipt_or_a_known_reason(rc, stdout, stderr):
    answer = REVIEWER.read(ProcessResult(rc, stdout, stderr))
    assert (answer.receipt is None) == (answer.reason in FAILURES)


def test_the_readme_shows_the_table_as_it_is():
    readme = (Path(__file__).parents[3] / "afl_providers_gemini" / "README.md").read_text(encoding="utf-8")
    rows = [
        f"| `{failure.code}` | {'an attempt' if failure.counts else 'postponed'} | {failure.meaning}{failure.advice and '; ' + failure.advice} |"
        for failure in TABLE
    ]
    assert [line for line in readme.splitlines() if line.startswith("| `reviewer_")] == rows
