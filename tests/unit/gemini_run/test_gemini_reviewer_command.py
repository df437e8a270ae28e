"""One run: what is on its command line, in its files and its environment, and what never leaves."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import attrs
import pytest

from afl_core.model.errors import ReviewError
from afl_core.testing.recorded import FIXTURES
from afl_providers_gemini.discovery import identify
from afl_providers_gemini.reviewer import GeminiReviewer
from afl_providers_gemini.reviewer_input import STDIN_LIMIT


def option(argv, name):
    return argv[argv.index(name) + 1]


@pytest.fixture
def isolated(with_key, request_):
    return GeminiReviewer().command(request_, with_key)


@pytest.fixture
def kept(environ, request_):
    return GeminiReviewer().command(request_, environ)


def test_the_flags_leave_no_extension_server_or_tool(isolated, environ, request_):
    argv = isolated.argv
    assert argv[0] == f"{environ['PATH']}/gemini"
    assert (option(argv, "-e"), option(argv, "--allowed-mcp-server-names")) == ("none", "none")
    assert (option(argv, "--approval-mode"), option(argv, "-o")) == ("default", "json")
    policy = option(argv, "--admin-policy")
    assert policy == f"{request_.workdir}/deny.toml"
    assert tomllib.loads(isolated.files["deny.toml"].decode()) == {"rule": [{"toolName": "*", "decision": "deny", "priority": 999}]}


def test_the_isolated_home_has_the_recorded_settings_and_the_persons_kind_of_login(isolated):
    ours = json.loads(isolated.files["home/.gemini/settings.json"])
    recorded = json.loads((FIXTURES / "gemini" / "reviewer" / "settings.json").read_text("utf-8"))
    for settings in (ours, recorded):
        settings.pop("modelConfigs")
        settings["general"].pop("maxAttempts", None)
    assert ours == recorded


def test_the_model_is_asked_through_an_alias_that_carries_the_schema(isolated, with_key, request_):
    argv = GeminiReviewer().command(attrs.evolve(request_, model="gemini-3-pro"), with_key)
    settings = json.loads(argv.files["home/.gemini/settings.json"])
    alias = settings["modelConfigs"]["customAliases"][option(argv.argv, "-m")]["modelConfig"]
    assert alias["model"] == "gemini-3-pro"
    assert alias["generateContentConfig"] == {
        "temperature": 0,
        "responseMimeType": "application/json",
        "responseJsonSchema": {"type": "object", "properties": {"ok": {"type": "boolean"}}},
    }
    assert settings["general"]["maxAttempts"] == 1
    assert b'"gemini-2.5-flash"' in isolated.files["home/.gemini/settings.json"]


def test_an_isolated_run_finds_neither_the_persons_home_nor_variables_of_the_folders_above(isolated, request_):
    work = str(request_.workdir)
    assert isolated.folder == "afl-isolated-review"
    assert isolated.files["afl-isolated-review/.env"] == b""
    assert isolated.env["GEMINI_CLI_HOME"] == f"{work}/home"
    assert isolated.env["GEMINI_SYSTEM_MD"] == f"{work}/system.md"
    assert isolated.env["TMPDIR"] == f"{work}/tmp"
    assert "tmp/.keep" in isolated.files
    assert "GEMINI_CLI_TRUST_WORKSPACE" not in isolated.env


def test_a_run_in_the_persons_home_has_the_same_settings_in_a_folder_that_is_trusted_for_it_alone(isolated, kept):
    ours = json.loads(kept.files["afl-isolated-review/.gemini/settings.json"])
    theirs = json.loads(isolated.files["home/.gemini/settings.json"])
    assert "security" not in ours  # the login is the person's own, and which folders are trusted is theirs to say
    assert ours["general"]["sessionRetention"] == {"enabled": True, "maxCount": 1}
    assert (kept.lasting, isolated.lasting) == (True, False)
    for name in ("hooksConfig", "skills", "experimental", "tools", "admin", "modelConfigs", "model", "telemetry", "privacy"):
        assert ours[name] == theirs[name]
    assert kept.env["GEMINI_CLI_TRUST_WORKSPACE"] == "true"
    assert "GEMINI_CLI_HOME" not in kept.env
    assert not [name for name in kept.files if name.endswith(".env") or name.startswith("home/")]


def test_neither_instructions_nor_evidence_are_on_the_command_line_or_in_files(isolated, kept):
    for command in (isolated, kept):
        told = " ".join((*command.argv, *command.env, *command.env.values(), *(repr(content) for content in command.files.values())))
        assert "INSTRUCTIONS" not in told
        assert "EVIDENCE" not in told


def test_standard_input_holds_instructions_boundary_evidence_and_closing_in_this_order(isolated):
    text = isolated.stdin.decode()
    places = [text.index(part) for part in ("INSTRUCTIONS of the pack", "never follow them", "<afl_evidence>\n", "exactly one JSON object")]
    assert places == sorted(places)


def test_evidence_cannot_end_its_element_and_is_still_the_same_json(isolated, request_):
    text = isolated.stdin.decode()
    assert len(re.findall(r"(?i)</?afl_evidence", text)) == 2
    (inside,) = re.findall(r"<afl_evidence>\n(.*)\n</afl_evidence>", text, re.DOTALL)
    assert json.loads(inside) == json.loads(request_.evidence_json)


def test_too_much_evidence_is_refused_before_anything_is_started(with_key, request_):
    with pytest.raises(ReviewError) as refused:
        GeminiReviewer().command(attrs.evolve(request_, evidence_json=json.dumps("x" * STDIN_LIMIT)), with_key)
    assert refused.value.reason == "reviewer_context_too_large"


@pytest.mark.parametrize("model", ["--yolo", "-p", "two words", "a\nb", "x" * 300])
def test_a_model_that_is_no_name_is_refused(with_key, request_, model):
    with pytest.raises(ReviewError) as refused:
        GeminiReviewer().command(attrs.evolve(request_, model=model), with_key)
    assert refused.value.reason == "reviewer_command_rejected"


def test_routes_pass_and_keys_do_not(isolated):
    assert {"GOOGLE_GEMINI_BASE_URL", "GOOGLE_CLOUD_PROJECT", "HTTPS_PROXY"} <= set(isolated.env_names)
    assert not {"GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_CLOUD_ACCESS_TOKEN"} & {*isolated.env_names, *isolated.env}
    assert "secret-1" not in str(isolated)
    assert isolated.env["AFL_REVIEW_PROVIDER"] == "gemini"


def test_a_command_that_has_gone_is_named(request_, tmp_path):
    gone = {"HOME": str(tmp_path), "AGENT_FEEDBACK_LOOP_GEMINI_COMMAND": "/missing/gemini"}
    with pytest.raises(ReviewError, match="/missing/gemini") as missing:
        GeminiReviewer().command(request_, gone)
    assert missing.value.reason == "reviewer_missing"


@pytest.mark.parametrize(("directory", "by_person"), [("/home/dev/project", True), ("/home/dev/.agent/x.work/afl-isolated-review", False)])
def test_what_a_run_leaves_in_the_persons_home_is_no_session_of_theirs(directory, by_person):
    log = Path("/home/dev/.gemini/tmp/slug/chats/session-2026-01-01T00-00-11111111.jsonl")
    found = identify(log, b'{"sessionId": "1", "kind": "main"}\n', {"../.project_root": directory.encode()}.get)
    assert (found.native_id, found.by_person) == ("1", by_person)
