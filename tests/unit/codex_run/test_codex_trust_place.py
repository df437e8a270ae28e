"""Which server is asked, and with which environment, so that it looks where the host itself looks."""

from __future__ import annotations

import pathlib

import pytest

from afl_core.spec.host import HostPlace
from afl_core.spec.trust import AsksTrust
from afl_providers_codex import trust
from afl_providers_codex.trust import CodexTrust


@pytest.fixture
def place():
    return HostPlace(
        pathlib.Path("/home/dev/.codex"), pathlib.Path("/home/dev/.codex/hooks.json"), pathlib.Path("/opt/bin/codex"), present=True
    )


def test_it_satisfies_the_contract():
    assert isinstance(CodexTrust(), AsksTrust)


def test_the_named_command_is_the_only_one(place, monkeypatch, tmp_path):
    app = tmp_path / "codex"
    app.write_text("#!/bin/sh\n")
    app.chmod(0o755)
    monkeypatch.setattr(trust, "APPS", (str(app), str(tmp_path / "missing")))
    named = {"AGENT_FEEDBACK_LOOP_CODEX_COMMAND": "/opt/bin/codex"}
    assert CodexTrust().trust_commands(place, named) == (("/opt/bin/codex", "app-server"),)
    assert CodexTrust().trust_commands(place, {}) == (("/opt/bin/codex", "app-server"), (str(app), "app-server"))


def test_without_a_found_command_the_name_is_tried():
    place = HostPlace(pathlib.Path("/x"), pathlib.Path("/x/hooks.json"), None, present=True)
    assert CodexTrust().trust_commands(place, {})[0] == ("codex", "app-server")
    assert CodexTrust().trust_commands(place, {"AGENT_FEEDBACK_LOOP_CODEX_COMMAND": "mine"}) == (("mine", "app-server"),)


def test_the_directory_is_named_only_where_it_has_to_be(place):
    usual = CodexTrust().trust_environment
    assert usual(place, {"HOME": "/home/dev"}) == {}
    assert usual(place, {"HOME": "/home/dev", "CODEX_HOME": "/home/dev/.codex"}) == {}
    assert usual(place, {"HOME": "/home/other"}) == {"CODEX_HOME": "/home/dev/.codex"}


def test_trust_is_kept_in_the_persons_configuration(place):
    assert CodexTrust().trust_store(place) == pathlib.Path("/home/dev/.codex/config.toml")
