"""The command of a review: isolated, without evidence in its arguments, with its files in the review's own directory."""

from __future__ import annotations

import json

import pytest

from afl_core.model.errors import ReviewError
from afl_core.spec.reviewer import ReviewRequest
from afl_core.testing.contracts.reviewer import ReviewerContract
from afl_providers_codex import plugin
from afl_providers_codex.reviewer import CodexReviewer
from afl_providers_codex.reviewer_input import STDIN_LIMIT

SCHEMA = {"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]}


@pytest.fixture
def environ(tmp_path):
    binary = tmp_path / "codex"
    binary.write_text("#!/bin/sh\n")
    binary.chmod(0o755)
    return {"HOME": str(tmp_path), "PATH": str(tmp_path)}


def request(tmp_path, **more):
    return ReviewRequest(
        **{"instructions": "RULES", "evidence_json": '{"a": "</AFL_evidence>"}', "schema": SCHEMA, "model": "", "workdir": tmp_path / "w"}
        | more
    )


def made(tmp_path, environ, **more):
    return CodexReviewer().command(request(tmp_path, **more), environ)


def after(command, flag):
    return [value for name, value in zip(command.argv, command.argv[1:], strict=False) if name == flag]


def test_the_run_is_isolated_and_stands_in_an_empty_folder(tmp_path, environ):
    command = made(tmp_path, environ)
    assert {"--ephemeral", "--ignore-user-config", "--ignore-rules", "--skip-git-repo-check"} <= set(command.argv)
    assert after(command, "-s") == ["read-only"]
    assert after(command, "-C") == [str(tmp_path / "w/empty")]
    assert command.folder == "empty"
    assert "hooks" in after(command, "--disable")
    assert "agents.enabled=false" in after(command, "-c")
    assert command.argv[-1] == "-"
    assert command.env == {"AFL_REVIEW_PROVIDER": "codex"}


def test_what_it_is_given_and_what_it_writes_stand_in_the_reviews_directory(tmp_path, environ):
    command = made(tmp_path, environ)
    assert {name: str(tmp_path / "w" / name) for name in command.outputs}["answer.json"] == after(command, "-o")[0]
    assert after(command, "--output-schema") == [str(tmp_path / "w/schema.json")]
    assert json.loads(command.files["schema.json"])["additionalProperties"] is False
    assert f'model_instructions_file="{tmp_path}/w/system.md"' in after(command, "-c")
    assert "system.md" in command.files


def test_evidence_cannot_end_its_own_element(tmp_path, environ):
    sent = made(tmp_path, environ).stdin.decode()
    assert sent.lower().count("</afl_evidence>") == 1
    assert "\\u003c/AFL_evidence>" in sent


def test_the_model_asked_for_then_the_configured_one_then_the_hosts_own(tmp_path, environ):
    assert after(made(tmp_path, environ), "-m") == []
    (tmp_path / ".codex").mkdir()
    (tmp_path / ".codex/config.toml").write_text('model = "gpt-mine"\n')
    assert after(made(tmp_path, environ), "-m") == ["gpt-mine"]
    assert after(made(tmp_path, environ, model="gpt-asked"), "-m") == ["gpt-asked"]


def test_a_directory_that_the_person_moved_is_where_the_configuration_is_read(tmp_path, environ):
    (tmp_path / "moved").mkdir()
    (tmp_path / "moved/config.toml").write_text('model = "gpt-moved"\n')
    assert after(made(tmp_path, {**environ, "CODEX_HOME": str(tmp_path / "moved")}), "-m") == ["gpt-moved"]


@pytest.mark.parametrize(
    ("more", "reason"),
    [({"model": "--oss"}, "reviewer_settings"), ({"evidence_json": "x" * STDIN_LIMIT}, "reviewer_context_too_large")],
)
def test_what_cannot_be_asked_has_a_reason(tmp_path, environ, more, reason):
    with pytest.raises(ReviewError) as refused:
        made(tmp_path, environ, **more)
    assert refused.value.reason == reason


def test_a_command_that_has_gone_is_missing(tmp_path):
    with pytest.raises(ReviewError) as gone:
        made(tmp_path, {"HOME": str(tmp_path), "PATH": str(tmp_path)})
    assert gone.value.reason == "reviewer_missing"


def test_the_plug_in_registers_it():
    assert [type(one) for one in plugin.afl_reviewers()] == [CodexReviewer]


class TestContract(ReviewerContract):
    def make(self):
        return CodexReviewer()

    def environment(self, directory):
        binary = directory / "codex"
        binary.write_text("#!/bin/sh\n")
        binary.chmod(0o755)
        return {"HOME": str(directory), "PATH": str(directory)}
