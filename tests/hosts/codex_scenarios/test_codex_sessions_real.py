"""What can happen to a session, and what can happen in a turn in yet another way, played once by a person's keys on the real Codex CLI."""

from __future__ import annotations

import capture_world
import codex_stage
import pytest

from afl_core.testing.contracts.scenarios import RULES, CannotTell, HostScenarios

pytestmark = [pytest.mark.real_cli, pytest.mark.slow]


class TestSessionsOnTheRealCli(HostScenarios):
    """The suite over what was just recorded."""

    host = "codex"

    @pytest.fixture(autouse=True)
    def _stage(self, played, codex_bin):
        self._played_on = lambda scene: played(scene, codex_bin)

    def plugins(self):
        return capture_world.CODEX_PLUGINS

    def recording(self, scenario):
        if scenario in codex_stage.OTHER_WAYS:
            return self._played_on(codex_stage.OTHER_WAYS[scenario])
        if RULES[scenario].optional and scenario not in codex_stage.OF_SESSIONS:
            return CannotTell("it happens in one turn, which the file beside this one plays")
        return self._played_on(codex_stage.SCENES[codex_stage.SAME_SCENE.get(scenario, scenario)])
