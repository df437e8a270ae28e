"""Every scenario of the suite, played once by a person's keys on the real Gemini CLI, and what it left checked by the same rules."""

from __future__ import annotations

import capture_world
import gemini_stage
import pytest

from afl_core.plugins.discovery import Found
from afl_core.testing.contracts.scenarios import RULES, CannotTell, HostScenarios

pytestmark = [pytest.mark.real_cli, pytest.mark.slow]

PLUGINS = (*capture_world.PLUGINS, Found("gemini", "afl_providers_gemini.plugin", "afl-providers-gemini", "0"))


class TestOnTheRealCli(HostScenarios):
    """The suite over what was just recorded."""

    host = "gemini"

    @pytest.fixture(autouse=True)
    def _stage(self, played, gemini_bin):
        self._played_on = lambda scenario: played(scenario, gemini_bin)

    def plugins(self):
        return PLUGINS

    def recording(self, scenario):
        if scenario not in gemini_stage.SCENES:
            return CannotTell("Escape before any output ends the turn, and leaves what it leaves of one that a person objects to")
        return self._played_on(scenario)


def test_every_scenario_but_one_is_played():
    assert set(RULES) - set(gemini_stage.SCENES) == {"withdrawn"}
