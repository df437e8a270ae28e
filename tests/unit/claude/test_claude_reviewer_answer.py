"""Every way a recorded run ended has its reason, and every reason of the table has a way to end in it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afl_core.spec.reviewer import ProcessResult
from afl_core.testing.recorded import Recorded
from afl_providers_claude.reviewer import ClaudeReviewer
from afl_providers_claude.reviewer_failures import FAILURES, TABLE

REVIEWER = ClaudeReviewer()


def recorded(name, **changes):
    """A recorded run whose success, if it was one, is wrapped as our transport schema asks for it."""
    run = Recorded.reviewer(name)
    envelope = {**run["stdout"], **changes}
    if envelope.get("structured_output"):
        envelope["structured_output"] = {"result": envelope["structured_output"]}
    return ProcessResult(run["rc"], json.dumps(envelope).encode(), run["stderr"].encode(), seconds=run["seconds"])


def failing(sentence, **fields):
    envelope = {"type": "result", "subtype": "success", "is_error": True, "terminal_reason": "api_error", "result": sentence, **fields}
    return ProcessResult(1, json.dumps(envelope).encode(), b"")


ENDINGS = {
    "401": (recorded("401"), "reviewer_unauthorized", False, "401 authentication_error"),
    "403": (recorded("403"), "reviewer_unauthorized", False, "403 permission_error"),
    "429": (recorded("429"), "reviewer_overloaded", False, "429 rate_limit_error"),
    "529": (recorded("529"), "reviewer_overloaded", False, "529 overloaded_error"),
    "500": (recorded("500"), "reviewer_api_error", True, "500 api_error"),
    "400": (failing("API Error: 400", api_error_status=400), "reviewer_api_error", True, "400"),
    "not logged in": (recorded("not_logged_in"), "reviewer_login_missing", False, "Not logged in · Please run /login"),
    "hang": (recorded("hang"), "reviewer_timeout", True, "Request timed out. "),
    "refusal": (recorded("refusal"), "reviewer_refused", True, "success, stop_reason refusal"),
    "max_tokens": (recorded("max_tokens"), "reviewer_output_cut", True, "max_output_tokens"),
    "turns": (failing("", subtype="error_max_turns", terminal_reason="max_turns"), "reviewer_output_cut", True, "error_max_turns"),
    "always wrong": (recorded("bad_forever"), "reviewer_schema_exhausted", True, "root: must have required property 'rules'"),
    "only text": (recorded("text_only"), "reviewer_no_structured_output", True, "stop_reason end_turn, 2 turns"),
    "dropped": (recorded("dropped"), "reviewer_no_structured_output", True, "stop_reason end_turn, 2 turns"),
    "not wrapped": (recorded("ok", structured_output=["x"]), "reviewer_no_structured_output", True, "stop_reason tool_use"),
    "refused connection": (
        failing("API Error: Connection refused — a firewall or proxy may be blocking it (ECONNREFUSED)", api_error="connection_failed"),
        "reviewer_network",
        False,
        "connection_failed",
    ),
    "no name": (
        failing("API Error: Can't reach the API server — check your internet or DNS (ENOTFOUND)"),
        "reviewer_network",
        False,
        "API Error: Can't",
    ),
    "unknown": (failing("API Error: something new"), "reviewer_api_error", True, "API Error: something new"),
    "deadline": (ProcessResult(-15, b"", b"", timed_out=True, seconds=180.2), "reviewer_timeout", True, "stopped after 180 s"),
    "flood": (ProcessResult(-15, b"x" * 9, b"", overflowed=True), "reviewer_output_too_large", True, "stopped after 9 bytes"),
    "bad flag": (
        ProcessResult(1, b"", b"\nerror: unknown option '--x'\n"),
        "reviewer_command_rejected",
        True,
        "error: unknown option '--x'",
    ),
    "silent": (ProcessResult(127, b"", b""), "reviewer_command_rejected", True, "status 127, nothing printed"),
    "not json": (ProcessResult(0, b"hello", b""), "reviewer_output_unreadable", True, "status 0, 5 bytes"),
    "no result": (ProcessResult(0, b'{"type":"other"}', b""), "reviewer_output_unreadable", True, "status 0"),
    "nothing": (ProcessResult(0, b"", b""), "reviewer_output_unreadable", True, "status 0, 0 bytes"),
    "killed": (ProcessResult(-9, b"", b""), "reviewer_killed", True, "status -9"),
    "terminated": (ProcessResult(143, b"", b""), "reviewer_killed", True, "status 143"),
}


@pytest.mark.parametrize("case", ENDINGS)
def test_each_ending_has_its_reason(case):
    result, reason, counts, detail = ENDINGS[case]
    answer = REVIEWER.read(result)

    assert (answer.receipt, answer.reason, answer.counts) == (None, reason, counts)
    assert detail in answer.detail
    assert len(answer.detail) <= 200
    assert "\n" not in answer.detail


def test_the_table_holds_exactly_the_reasons_that_can_be_given():
    assert {reason for _, reason, _, _ in ENDINGS.values()} == set(FAILURES)
    assert len(TABLE) == len(FAILURES)
    assert all(failure.meaning for failure in TABLE)


def test_only_what_is_not_the_reviews_fault_is_no_attempt():
    assert {failure.code for failure in TABLE if not failure.counts} == {
        "reviewer_login_missing",
        "reviewer_network",
        "reviewer_unauthorized",
        "reviewer_overloaded",
    }


@pytest.mark.parametrize("case", ["ok", "nested", "bad_then_ok", "529_then_ok"])
def test_a_structured_output_is_the_receipt(case):
    answer = REVIEWER.read(recorded(case))

    assert answer.receipt == {"verdict": "save", "rules": ["use pytest -q"]}
    assert (answer.reason, answer.counts, answer.detail) == (None, True, "")


def test_a_result_beside_an_error_status_is_not_taken():
    run = recorded("ok")

    assert REVIEWER.read(ProcessResult(1, run.stdout, b"")).receipt is None


def test_usage_counts_cached_input_and_names_the_model_that_wrote():
    usage = {"input_tokens": 100, "cache_creation_input_tokens": 20, "cache_read_input_tokens": 3, "output_tokens": 7}
    models = {"claude-haiku-5-5": {"outputTokens": 5}, "other": {"outputTokens": 2}}
    answer = REVIEWER.read(recorded("ok", usage=usage, modelUsage=models, total_cost_usd=0.25))

    assert (answer.usage.input_tokens, answer.usage.output_tokens) == (123, 7)
    assert (answer.usage.cost_usd, answer.usage.model) == (0.25, "claude-haiku-5-5")


def test_a_failure_that_cost_something_says_so():
    usage = REVIEWER.read(recorded("refusal")).usage

    assert (usage.input_tokens, usage.output_tokens, usage.cost_usd, usage.model) == (200, 40, 4e-05, "claude-haiku-5-5")


def test_nonsense_in_the_figures_is_no_figure():
    usage = {"input_tokens": "many", "output_tokens": True, "cache_read_input_tokens": -4}
    answer = REVIEWER.read(recorded("ok", usage=usage, modelUsage=[], total_cost_usd="free"))

    assert (answer.usage.input_tokens, answer.usage.output_tokens, answer.usage.cost_usd, answer.usage.model) == (0, 0, None, None)


@pytest.mark.parametrize("case", ["text_only", "dropped"])
def test_what_the_model_said_is_not_repeated_in_the_reason(case):
    answer = REVIEWER.read(recorded(case, result="EVIDENCE words"))

    assert "EVIDENCE" not in answer.detail


def test_a_property_the_model_made_up_is_not_repeated_either():
    error = "Failed — last StructuredOutput error: Output does not match required schema: root: must NOT have additional properties ('EVIDENCE' is not allowed)"
    answer = REVIEWER.read(recorded("bad_forever", errors=[error]))

    assert (answer.reason, answer.detail) == ("reviewer_schema_exhausted", "root: must NOT have additional properties")


def test_what_the_model_said_about_a_network_is_not_a_network_failure():
    answer = REVIEWER.read(failing("connection refused, said the log", terminal_reason="completed"))

    assert (answer.reason, answer.counts) == ("reviewer_api_error", True)
    assert "the log" not in answer.detail


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)


@given(
    rc=st.integers(-20, 300),
    changes=st.dictionaries(
        st.sampled_from(sorted(Recorded.reviewer("bad_forever")["stdout"] | Recorded.reviewer("429")["stdout"])), JSON, max_size=5
    ),
    name=st.sampled_from(Recorded.names("reviewer")),
)
def test_any_envelope_is_a_receipt_or_a_known_reason(rc, changes, name):
    run = recorded(name, **changes)
    answer = REVIEWER.read(ProcessResult(rc, run.stdout, run.stderr))

    assert (answer.receipt is None) == (answer.reason in FAILURES)


@given(st.binary(max_size=40), st.binary(max_size=40), st.integers(-20, 300))
def test_any_output_has_a_known_reason(stdout, stderr, rc):
    assert REVIEWER.read(ProcessResult(rc, stdout, stderr)).reason in FAILURES


def test_the_readme_shows_the_table_as_it_is():
    readme = (Path(__file__).parents[3] / "afl_providers_claude" / "README.md").read_text(encoding="utf-8")
    rows = [
        f"| `{failure.code}` | {'an attempt' if failure.counts else 'postponed'} | {failure.meaning}{failure.advice and '; ' + failure.advice} |"
        for failure in TABLE
    ]

    assert [line for line in readme.splitlines() if line.startswith("| `reviewer_")] == rows
