"""What a person does at the real Gemini CLI's screen when the agent asks, and what it is taken for."""

from __future__ import annotations

import pytest
from loop_sides import CORRECTION, PATIENCE_S

from afl_core.testing.gemini_api import Step, call

pytestmark = pytest.mark.real_cli

ASKS = "Allow"
"""The screen while the person is asked about a command."""


def test_a_refused_command_and_the_words_after_it_are_an_interruption_of_that_call(installed):
    product = installed("gemini")
    side = product.gemini
    side.review()
    side.api.add(Step(call("run_shell_command", {"command": "touch made"}, say="I use the old API."), last="refactor the module"))
    side.expect("use the new one", "OK, using the new API.\n")
    with side.session() as terminal:
        side.say(terminal, "refactor the module")
        terminal.wait_for(ASKS, timeout=PATIENCE_S)
        side.sandbox.press(terminal, "escape", "Request cancelled")
        terminal.wait_gone(ASKS, timeout=PATIENCE_S)
        side.talk(terminal, CORRECTION, "using the new API")
        assert side.keys.leave(terminal) == 0
    assert not (product.project / "made").exists()
    assert product.until(lambda _home: product.signals(), "the signal") == [("interruption", "tool_call")]
