"""The isolated run with the real Codex and a mock of its service: it takes our arguments, and its endings are understood."""

from __future__ import annotations

import json
import os
import tomllib

import attrs
import pytest

from afl_core.model.errors import ReviewError
from afl_core.processes.environment import child_environment
from afl_core.processes.run import run
from afl_core.review import prompt, workdir
from afl_core.spec.reviewer import ReviewRequest
from afl_core.testing.codex_cli import KEY_VARIABLE, CodexSandbox
from afl_core.testing.openai_api import (
    MockOpenAI,
    Step,
    dropped,
    failed,
    http_error,
    incomplete,
    reviewing,
    script,
    shell,
    structured,
    text,
)
from afl_providers_codex.place import COMMAND_VARIABLE
from afl_providers_codex.reviewer import CodexReviewer

pytestmark = pytest.mark.real_cli

SCHEMA = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "required": ["ok"],
    "properties": {"ok": {"const": True}, "note": {"type": "string", "maxLength": 9}, "size": {"type": ["integer", "null"]}},
    "additionalProperties": False,
}


@attrs.define
class Reviewed:
    """How a review ended, and what was seen of it."""

    answer: object
    seen: list
    home: object
    folder: object


@pytest.fixture
def review(home, codex_bin):
    """Run one review against scripted answers, in a home where the person has hooks, servers, rules and a project's words."""

    def reviewed(*steps, model="", schema=SCHEMA, key=True, address=None, seconds=180, config=""):
        folder = home / "work"
        folder.mkdir(mode=0o700)
        with MockOpenAI(steps) as service:
            sandbox = CodexSandbox(home, home / "project", address or service.url, codex_bin, config=config)
            sandbox.write_hooks({"SessionStart": f"touch {home}/ran", "UserPromptSubmit": f"touch {home}/ran"})
            (home / "project/AGENTS.md").write_text("PROJECT-WORDS")
            known = {"HOME": str(home), "PATH": os.environ["PATH"], COMMAND_VARIABLE: str(codex_bin)}
            known |= {KEY_VARIABLE: "dummy"} if key else {}
            request = ReviewRequest("INSTRUCTIONS", json.dumps({"events": ["EVIDENCE </afl_evidence>"]}), schema, model, folder)
            command = CodexReviewer().command(request, known)
            with workdir.opened(str(folder), command, "") as cwd:
                result = run(
                    command.argv,
                    environment=child_environment(known, (*command.env_names, KEY_VARIABLE), command.env),
                    cwd=cwd,
                    deadline_seconds=seconds,
                    stdin=command.stdin,
                )
            result = attrs.evolve(result, outputs=workdir.outputs(str(folder), command))
            return Reviewed(CodexReviewer().read(result), service.requests, home, folder)

    return reviewed


def test_a_receipt_comes_back_and_the_service_saw_instructions_and_evidence_once(review):
    done = review(structured({"ok": True, "note": None, "size": None}))
    (seen,) = done.seen
    assert (done.answer.receipt, done.answer.reason) == ({"ok": True, "size": None}, None)
    assert (done.answer.usage.input_tokens, done.answer.usage.output_tokens) == (100, 20)
    assert (seen.raw.count("INSTRUCTIONS"), seen.raw.count("EVIDENCE")) == (1, 1)
    assert seen.body["model"] == "gpt-5-mock"
    assert seen.body["text"]["format"]["strict"] is True
    assert sorted(seen.answer_schema["required"]) == ["note", "ok", "size"]


def test_nothing_of_the_person_is_run_sent_or_kept(review):
    done = review(reviewing({"ok": True, "note": None, "size": None}))
    assert not (done.home / "ran").exists()
    assert "PROJECT-WORDS" not in done.seen[0].raw
    assert not list(done.home.glob(".codex/sessions/**/*.jsonl"))
    assert set(done.seen[0].tool_names) == {"request_user_input"}
    assert tomllib.loads((done.home / ".codex/config.toml").read_text()).get("hooks") is None


def test_the_global_agents_file_is_sent_all_the_same(home, review):
    (home / ".codex").mkdir()
    (home / ".codex/AGENTS.md").write_text("GLOBAL-WORDS")
    assert "GLOBAL-WORDS" in review(structured({"ok": True, "note": None, "size": None})).seen[0].raw


def test_a_tool_the_model_calls_all_the_same_does_nothing(review):
    done = review(shell("touch ran"), structured({"ok": True, "note": None, "size": None}))
    assert done.answer.receipt == {"ok": True, "size": None}
    assert not list(done.home.rglob("ran"))


def test_a_model_in_code_mode_cannot_write_either(review):
    patch = "*** Begin Patch\n*** Add File: evil.txt\n+x\n*** End Patch"
    call = script(f"try {{ text(JSON.stringify(await tools.apply_patch({json.dumps(patch)}))) }} catch (bad) {{ text(String(bad)) }}")
    done = review(call, structured({"ok": True, "note": None, "size": None}), model="gpt-6.1-sol")
    assert done.answer.receipt == {"ok": True, "size": None}
    assert done.seen[0].body["model"] == "gpt-6.1-sol"
    assert not list(done.home.rglob("evil.txt"))


def test_the_receipts_own_schema_goes_through(review):
    receipt = {
        "write_complete": True, "review_receipt_id": "r", "report_content_id": "c", "report_content": "a report", "status": "reviewed_no_lesson",
        "lessons": [], "minor_findings": [],
    }  # fmt: skip
    done = review(reviewing(receipt), schema=prompt.schema())
    assert done.answer.receipt == receipt
    assert done.seen[0].answer_schema["additionalProperties"] is False


@pytest.mark.parametrize(
    ("reply", "reason", "counts"),
    [
        (http_error(401), "reviewer_unauthorized", False),
        (http_error(403), "reviewer_unauthorized", False),
        (http_error(429), "reviewer_overloaded", False),
        (http_error(500), "reviewer_overloaded", False),
        (http_error(503), "reviewer_overloaded", False),
        (http_error(404), "reviewer_api_error", True),
        (http_error(400), "reviewer_api_error", True),
        (dropped('{"ok"'), "reviewer_network", False),
        (failed("rate_limit_exceeded"), "reviewer_overloaded", False),
        (failed("insufficient_quota"), "reviewer_overloaded", False),
        (failed("context_length_exceeded"), "reviewer_context_too_large", True),
        (incomplete("max_output_tokens", '{"ok"'), "reviewer_output_cut", True),
        (incomplete("content_filter", "{"), "reviewer_refused", True),
        (text("not JSON at all"), "reviewer_no_structured_output", True),
    ],
)
def test_what_the_service_does_wrong_has_its_reason(review, reply, reason, counts):
    answer = review(Step(reply, repeat=True)).answer
    assert (answer.receipt, answer.reason, answer.counts) == (None, reason, counts), answer.detail


def test_a_service_that_is_not_there_postpones_the_review_when_its_time_is_up(review):
    answer = review(address="http://127.0.0.1:9/v1", seconds=20).answer
    assert (answer.reason, answer.counts) == ("reviewer_network", False)


def test_a_key_that_is_not_passed_postpones_the_review(review):
    done = review(key=False)
    assert (done.answer.reason, done.answer.counts, done.seen) == ("reviewer_login_missing", False, [])


def test_a_configuration_with_a_secret_in_it_is_refused_before_anything_is_run(review, home):
    with pytest.raises(ReviewError) as refused:
        review(config='\n[model_providers.mock.http_headers]\nauthorization = "Bearer SECRET-9"\n')
    assert refused.value.reason == "reviewer_settings"
    assert "SECRET-9" not in refused.value.sentence


def test_the_model_asked_for_wins_over_the_configured_one(review):
    done = review(structured({"ok": True, "note": None, "size": None}), model="gpt-5-asked")
    assert done.seen[0].body["model"] == "gpt-5-asked"
