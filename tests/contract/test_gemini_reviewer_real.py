"""A review with the real Gemini CLI and a mock of its service: it takes our files and arguments, and its endings are understood."""

from __future__ import annotations

import json
import os

import attrs
import pytest

from afl_core.processes.environment import allowlisted, child_environment
from afl_core.processes.run import run
from afl_core.review import workdir
from afl_core.spec.reviewer import ReviewRequest
from afl_core.testing.gemini_api import MockGemini, call, hang, http_error, reviewing, text
from afl_core.testing.gemini_cli import base
from afl_providers_gemini.reviewer import GeminiReviewer

pytestmark = pytest.mark.real_cli

RECEIPT = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "required": ["ok"],
    "properties": {"ok": {"type": "boolean", "const": True}},
    "additionalProperties": False,
}


@attrs.frozen
class Reviewed:
    answer: object
    requests: list
    written: set
    fired: bool


@pytest.fixture
def review(home, gemini_bin):
    """Run one review in a home with hooks, a server, an extension, a memory file and comments; gives the answer, the requests and the files that came."""

    def reviewed(*steps, isolated=True, key="mock-key", kind="gemini-api-key", url=None, deadline=120, number=1):
        config, mark, work = home / ".gemini", home / "fired", home / "work" / str(number)
        work.mkdir(parents=True)
        if number == 1:
            prepared(config, mark, kind)
        before = contents_of(home)
        with MockGemini(steps) as service:
            known = {"HOME": str(home), "PATH": os.environ["PATH"], "AGENT_FEEDBACK_LOOP_GEMINI_COMMAND": gemini_bin}
            known |= {"GOOGLE_GEMINI_BASE_URL": url or service.url, "NO_PROXY": "127.0.0.1"}
            known |= {"GEMINI_API_KEY": key} if key else {}
            known |= {"AGENT_FEEDBACK_LOOP_REVIEWER_ENV_ALLOWLIST": "GEMINI_API_KEY"} if isolated else {}
            request = ReviewRequest("INSTRUCTIONS", json.dumps({"events": ["EVIDENCE </afl_evidence>"]}), RECEIPT, "", work)
            command = GeminiReviewer().command(request, known)
            # In the person's home the login is what the host finds there; a variable stands for it here.
            names = (*command.env_names, *(allowlisted("GEMINI_API_KEY") if key else ()))
            with workdir.opened(str(work), command, str(home / "work" / "lasting" / "gemini")) as cwd:
                result = run(
                    command.argv,
                    environment=child_environment(known, names, command.env),
                    cwd=cwd,
                    deadline_seconds=deadline,
                    stdin=command.stdin,
                )
            now = contents_of(home)
            written = {path for path in now if now[path] != before.get(path)} | (set(before) - set(now))
            return Reviewed(GeminiReviewer().read(result), service.requests, written, mark.exists())

    def prepared(config, mark, kind):
        config.mkdir()
        settings = base()
        settings["security"]["auth"]["selectedType"] = kind
        fires = {"type": "command", "command": f"touch '{mark}'"}
        settings["hooks"] = {event: [{"hooks": [fires]}] for event in ("SessionStart", "BeforeAgent", "SessionEnd")}
        settings["mcpServers"] = {"mine": {"command": "/bin/sh", "args": ["-c", fires["command"]]}}
        extension = config / "extensions" / "mine"
        (extension / "hooks").mkdir(parents=True)
        (extension / "gemini-extension.json").write_text('{"name": "mine", "version": "1.0.0"}', encoding="utf-8")
        (extension / "hooks" / "hooks.json").write_text(json.dumps({"hooks": settings["hooks"]}), encoding="utf-8")
        (config / "settings.json").write_text("// mine\n" + json.dumps(settings) + " /* end */\n", encoding="utf-8")
        (config / "GEMINI.md").write_text("MEMORY-OF-THE-PERSON\n", encoding="utf-8")
        (home / ".env").write_text("GEMINI_CLI_CUSTOM_HEADERS=x-person:yes\n", encoding="utf-8")

    return reviewed


def contents_of(home):
    """Every file of the person's, without the review's own directory."""
    files = (path for path in home.rglob("*") if path.is_file() and not path.is_relative_to(home / "work"))
    return {str(path.relative_to(home)): path.read_bytes() for path in files}


def test_an_isolated_run_gives_a_receipt_and_touches_nothing_of_the_persons(review):
    done = review(reviewing({"ok": True}))
    assert (done.answer.receipt, done.answer.reason) == ({"ok": True}, None)
    assert (done.answer.usage.input_tokens, done.answer.usage.output_tokens, done.answer.usage.model) == (100, 20, "gemini-2.5-flash")
    assert (done.written, done.fired) == (set(), False)

    (seen,) = done.requests
    assert (seen.raw.count("INSTRUCTIONS"), seen.raw.count("EVIDENCE")) == (1, 1)
    assert (seen.function_names, "MEMORY-OF-THE-PERSON" in seen.raw, "x-person" in seen.headers) == ((), False, False)
    assert seen.system_text.startswith("You review evidence")
    assert "no tools" in seen.system_text
    assert seen.schema == {"type": "object", "required": ["ok"], "properties": {"ok": {"type": "boolean"}}, "additionalProperties": False}


def test_a_run_in_the_persons_home_gives_a_receipt_fires_no_hook_and_leaves_only_its_own_folder(review):
    done = review(reviewing({"ok": True}), isolated=False)
    assert (done.answer.receipt, done.answer.reason) == ({"ok": True}, None)
    assert done.fired is False
    (seen,) = done.requests
    assert (seen.function_names, seen.headers.get("x-person")) == ((), "yes")
    assert seen.schema is not None
    assert {path for path in done.written if "/afl-isolated-review/" not in path} <= {".gemini/projects.json"}
    assert [path for path in done.written if path.startswith(".gemini/tmp/afl-isolated-review/chats/session-")]


def test_a_second_run_in_the_persons_home_adds_nothing_to_the_first(review, home):
    for number in (1, 2, 3):
        done = review(reviewing({"ok": True}), isolated=False, number=number)
        assert done.answer.receipt == {"ok": True}
        left = set(contents_of(home))
        # The host's locks are directories too, which it removes a little after its end.
        folders = {str(path.relative_to(home)) for path in (home / ".gemini").rglob("*") if path.is_dir() and path.suffix != ".lock"}
        if number == 1:
            first, first_folders = left, folders
    logs = {path for path in left if path.startswith(".gemini/tmp/afl-isolated-review/chats/session-")}
    assert {path for path in left ^ first if path not in logs and "/chats/session-" not in path} == set()
    assert folders == first_folders
    assert 1 <= len(logs) <= 2, "the host lets the log of an earlier review go when it begins the next"
    assert len(json.loads((home / ".gemini/projects.json").read_text("utf-8"))["projects"]) == 1
    assert os.listdir(home / "work/lasting/gemini/afl-isolated-review") == []


@pytest.mark.parametrize(
    ("step", "reason", "counts"),
    [
        (http_error(401), "reviewer_unauthorized", False),
        (http_error(429), "reviewer_overloaded", False),
        (http_error(500), "reviewer_api_error", True),
        (http_error(404, "models/gemini-2.5-flash is not found for API version v1beta"), "reviewer_settings", False),
        (http_error(400, "API key not valid. Please pass a valid API key."), "reviewer_unauthorized", False),
        (text(""), "reviewer_no_structured_output", True),
        (text("", finish="SAFETY"), "reviewer_refused", True),
        (text('{"ok": tr', finish="MAX_TOKENS"), "reviewer_output_cut", True),
        (call("run_shell_command", {"command": "touch fired"}), "reviewer_output_cut", True),
    ],
    ids=["401", "429", "500", "bad model", "bad key", "empty", "safety", "cut", "tool call"],
)
def test_what_the_service_does_wrong_has_its_reason(review, step, reason, counts):
    done = review(*[step] * 6)
    assert (done.answer.receipt, done.answer.reason, done.answer.counts) == (None, reason, counts)
    assert (done.written, done.fired) == (set(), False)


def test_a_service_that_is_not_there_postpones_the_review(review):
    answer = review(url="http://127.0.0.1:9").answer
    assert (answer.reason, answer.counts) == ("reviewer_network", False)


@pytest.mark.parametrize("kind", ["gemini-api-key", "oauth-personal"])
def test_a_missing_login_postpones_the_review_and_says_what_to_set(review, kind):
    done = review(isolated=False, key=None, kind=kind)
    assert (done.answer.reason, done.answer.counts, done.requests) == ("reviewer_login_missing", False, [])
    assert "AGENT_FEEDBACK_LOOP_REVIEWER_ENV_ALLOWLIST" in done.answer.detail


def test_a_service_that_never_answers_ends_at_the_deadline(review):
    assert review(hang(), deadline=5).answer.reason == "reviewer_timeout"
