"""Every scenario of the suite, played once by a person's keys on the real Codex CLI, and what it left checked by the same rules."""

from __future__ import annotations

import codex_stage
import pytest
import test_codex_scenarios as recorded

from afl_core.testing.contracts.scenarios import RULES, CannotTell, HostScenarios

pytestmark = [pytest.mark.real_cli, pytest.mark.slow]
