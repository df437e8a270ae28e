"""What a person types at the real Codex CLI's screen while the agent works, and what it is taken for."""

from __future__ import annotations

import pytest
from loop_sides import CORRECTION, PATIENCE_S, wait

from afl_core.testing import codex_keys
from afl_core.testing.openai_api import Step, shell, text

pytestmark = pytest.mark.real_cli

SLOW = text("I will use the old API.\n\nIt seems right.\n\nFirst I remove the rest.\n\nThen", chunk=6, pause=0.2, hold=True)
"""Takes longer than the second in which another message counts as an addition to the first."""


def test_words_typed_while_it_writes_are_possible_steering(installed):
    product = installed("codex")
    side = product.codex
    side.review()
    side.api.add(Step(SLOW, last="refactor the module"))
    side.expect("use the new one", "OK, using the new API.\n")
    with side.session() as terminal:
        side.say(terminal, "refactor the module")
        terminal.wait_for("First I remove the rest", timeout=PATIENCE_S)
        side.talk(terminal, CORRECTION, "using the new API")
        assert side.keys.leave(terminal) == 0
    assert product.until(lambda _home: product.signals(), "the signal") == [("possible_steering", "turn_cut")]


def test_words_typed_while_a_command_runs_are_steering(installed):
    product = installed("codex")
    side = product.codex
    side.review()
    started, may_end = product.home / "started", product.home / "may-end"
    side.api.add(Step(shell(f"touch '{started}'; until test -e '{may_end}'; do sleep 0.1; done"), last="refactor the module"))
    side.expect("use the new one", "OK, using the new API.\n")
    side.expect(".", "Still at it.\n", repeat=True)
    with side.session() as terminal:
        side.say(terminal, "refactor the module")
        wait(started.exists, "the command")
        codex_keys.steer(terminal, CORRECTION)
        may_end.touch()
        terminal.wait_for("using the new API", timeout=PATIENCE_S)
        wait(lambda: side.sandbox.completed() == 1, "the end of the turn")
        assert side.keys.leave(terminal) == 0
    assert product.until(lambda _home: product.signals(), "the signal") == [("steering", "tool_call")]
