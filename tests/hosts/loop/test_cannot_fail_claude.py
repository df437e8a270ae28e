"""The configured command cannot fail: with any part of it removed, also under a live session, the real Claude Code answers as if it were not there."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.real_cli


def test_a_headless_run_makes_one_request_and_answers_normally(runs_headless_without):
    assert runs_headless_without("claude") == (0, "Hello from the model.", 1)


def test_a_session_started_before_the_removal_goes_on(goes_on_without):
    assert goes_on_without("claude") == ["first question", "second question", "third question"]
