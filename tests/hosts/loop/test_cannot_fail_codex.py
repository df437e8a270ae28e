"""The configured command cannot fail: with any part of it removed, also under a live session, the real Codex CLI answers as if it were not there."""

from __future__ import annotations

import pytest

from afl_core.testing.openai_api import shell

pytestmark = pytest.mark.real_cli


def test_a_headless_run_makes_one_request_and_answers_normally(runs_headless_without):
    assert runs_headless_without("codex") == (0, "Hello from the model.", 1)


def test_a_session_started_before_the_removal_goes_on(goes_on_without):
    assert goes_on_without("codex") == ["first question", "second question", "third question"]


def test_a_headless_run_whose_agent_removes_it_goes_on(loses_the_pack_while_it_runs):
    assert loses_the_pack_while_it_runs("codex", shell) == (0, "All is tidy.", 2)
