"""What can happen in a turn, played once by a person's keys on the real Codex CLI, and what it left checked by the rules of the suite."""

from __future__ import annotations

import capture_world
import codex_stage
import pytest

from afl_core.testing.contracts.scenarios import RULES, CannotTell, HostScenarios

pytestmark = [pytest.mark.real_cli, pytest.mark.slow]


class TestTurnsOnTheRealCli(HostScenarios):
    """The suite over what was just recorded."""

    host = "codex"

    @pytest.fixture(autouse=True)
    def _stage(self, played, codex_bin):
        self._played_on = lambda scene: played(scene, codex_bin)

    def plugins(self):
        return capture_world.CODEX_PLUGINS

    def recording(self, scenario):
        if scenario in codex_stage.CANNOT:
            return CannotTell(codex_stage.CANNOT[scenario])
        if scenario in codex_stage.OF_SESSIONS:
            return CannotTell("it happens to a whole session, which the file beside this one plays")
        return self._played_on(codex_stage.SCENES[scenario])


def test_every_scenario_is_played_or_there_is_a_reason():
    assert set(RULES) == set(codex_stage.SCENES) | set(codex_stage.SAME_SCENE) | set(codex_stage.CANNOT)
