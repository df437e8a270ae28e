"""Every scenario of the suite, played once by a person's keys on the real Claude Code, and what it left checked by the same rules."""

from __future__ import annotations

import capture_world
import claude_stage
import pytest

from afl_core.testing.contracts.scenarios import RULES, CannotTell, HostScenarios

pytestmark = [pytest.mark.real_cli, pytest.mark.slow]


class TestOnTheRealCli(HostScenarios):
    """The suite over what was just recorded."""

    host = "claude"

    @pytest.fixture(autouse=True)
    def _stage(self, played, claude_bin):
        self._played_on = lambda scenario: played(scenario, claude_bin)

    def plugins(self):
        return capture_world.PLUGINS

    def recording(self, scenario):
        if scenario not in claude_stage.SCENES:
            return CannotTell("Escape before any output gives the prompt back to the person: it is withdrawn, not interrupted")
        return self._played_on(scenario)


def test_every_scenario_but_one_is_played():
    assert set(RULES) - set(claude_stage.SCENES) == {"interrupted_before_output"}
