"""Finding the real CLI, and what its sandbox prepares."""

from __future__ import annotations

import json
import sys

import pytest

from afl_core.testing.claude_cli import API_KEY, ClaudeSandbox, find_claude
from afl_core.testing.failure import KitError
from afl_core.testing.recorded import project_slug


def executable(path):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n", encoding="utf-8")
    path.chmod(0o755)
    return path


@pytest.fixture
def cached(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("AFL_CLAUDE_BIN", raising=False)
    return tmp_path / "cache/agent-feedback-loop/hosts/claude-2.1.332/node_modules/.bin/claude"


def test_the_binary_named_by_the_environment_is_found_before_the_cached_one(cached, tmp_path, monkeypatch):
    executable(cached)
    assert find_claude() == cached
    named = executable(tmp_path / "named")
    monkeypatch.setenv("AFL_CLAUDE_BIN", str(named))
    assert find_claude() == named


def test_without_a_cache_setting_the_home_is_searched(cached, tmp_path, monkeypatch):
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    expected = executable(tmp_path / ".cache/agent-feedback-loop/hosts/claude-2.1.332/node_modules/.bin/claude")
    assert find_claude() == expected


def test_nothing_or_something_that_cannot_run_is_not_found(cached, monkeypatch, tmp_path):
    assert find_claude() is None
    executable(cached).chmod(0o644)
    assert find_claude() is None
    monkeypatch.setenv("AFL_CLAUDE_BIN", str(tmp_path))
    assert find_claude() is None


@pytest.fixture
def stand_in(tmp_path):
    """A sandbox around a small program in place of the CLI."""

    def make(source):
        program = executable(tmp_path / "program")
        program.write_text(f"#!{sys.executable}\n{source}\n", encoding="utf-8")
        return ClaudeSandbox(tmp_path / "home", tmp_path / "project", "http://127.0.0.1:9", program, environment={"EXTRA": "1"})

    return make


def test_the_scratch_home_settles_every_first_run_question(stand_in):
    sandbox = stand_in("")
    state = json.loads((sandbox.home / ".claude.json").read_text(encoding="utf-8"))
    assert state["hasCompletedOnboarding"] is True
    assert state["customApiKeyResponses"]["approved"] == [API_KEY[-20:]]
    assert state["projects"][str(sandbox.project)]["hasTrustDialogAccepted"] is True
    assert not sandbox.settings_path.exists()


def test_the_program_gets_only_the_sandboxes_environment(stand_in, monkeypatch):
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", "/elsewhere")
    run = stand_in("import json,os; print(json.dumps(dict(os.environ)))").headless("hello")
    assert run.envelope["ANTHROPIC_BASE_URL"] == "http://127.0.0.1:9"
    assert run.envelope["EXTRA"] == "1"
    assert "CLAUDE_CONFIG_DIR" not in run.envelope
    assert run.envelope["HOME"].endswith("home")


def test_a_headless_run_has_its_arguments_status_and_output(stand_in):
    run = stand_in("import sys; print(sys.argv[1:], sys.stdin.read()); sys.exit(3)").headless("hi", "--x", resume="s-1", stdin="material")
    assert run.returncode == 3
    assert run.stdout.strip() == str(["-p", "hi", "--output-format", "json", "--resume", "s-1", "--x"]) + " material"
    with pytest.raises(KitError, match="no JSON result"):
        _ = run.session_id


def test_a_headless_run_that_does_not_end_is_killed_and_told(stand_in):
    with pytest.raises(KitError, match=r"did not end within 0\.5 s"):
        stand_in("import time; time.sleep(600)").headless("hi", timeout=0.5)


def test_an_interactive_start_without_a_prompt_is_told_with_its_screen(stand_in):
    with pytest.raises(KitError, match=r"(?s)the program ended.*broken"):
        stand_in("print('broken')").interactive()


def test_transcripts_are_those_of_sessions_and_not_of_subagents(stand_in):
    sandbox = stand_in("")
    folder = sandbox.config / "projects" / project_slug(sandbox.project)
    (folder / "s" / "subagents").mkdir(parents=True)
    (folder / "s" / "subagents" / "agent-1.jsonl").touch()
    with pytest.raises(KitError, match="0 transcripts"):
        sandbox.records()
    (folder / "s.jsonl").write_text('{"type":"user"}\n', encoding="utf-8")
    assert sandbox.transcripts() == [folder / "s.jsonl"]
    assert sandbox.records() == [{"type": "user"}]
