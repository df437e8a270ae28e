"""The Codex host keeps the host contract of the public kit."""

from __future__ import annotations

import pytest

from afl_core.spec.host import HostAdapter
from afl_core.testing.conformance.parsing import ParsingContract
from afl_core.testing.contracts.host import HostContract
from afl_core.testing.recorded_codex import OLDER, RecordedCodex
from afl_providers_codex.plugin import afl_hosts

EVERY_RECORD = [
    line
    for release in ("", OLDER)
    for case in RecordedCodex.names("rollouts", release)
    for line in RecordedCodex.rollout(case, release).splitlines()
]


@pytest.mark.parametrize("release", ["", OLDER])
@pytest.mark.parametrize(
    "case", ["interrupted_then_corrected", "steering_mid_stream", "compacted_auto", "resumed", "tool_success_and_failure_with_hook_context"]
)
class TestHost(HostContract):
    """On several recorded sessions, in both formats."""

    case, release = "plain", ""

    @pytest.fixture(autouse=True)
    def _case(self, case: str, release: str) -> None:
        type(self).case, type(self).release = case, release

    def make(self) -> HostAdapter:
        [host] = afl_hosts()
        return host

    def records(self) -> list[bytes]:
        return RecordedCodex.rollout(self.case, self.release).splitlines()


@pytest.mark.parametrize("case", ["code_mode_tools", "command_left_running", "mcp_tool_and_subagent_parent", "migrated.compacted_manual"])
class TestHostOnOtherRollouts(HostContract):
    """On what only the newer host writes."""

    case = "plain"

    @pytest.fixture(autouse=True)
    def _case(self, case: str) -> None:
        type(self).case = case

    def make(self) -> HostAdapter:
        [host] = afl_hosts()
        return host

    def records(self) -> list[bytes]:
        return RecordedCodex.rollout(self.case).splitlines()


class TestHostOnEveryRecord(ParsingContract):
    """On all recorded rollouts of both formats, one after the other."""

    def make(self) -> HostAdapter:
        [host] = afl_hosts()
        return host

    def records(self) -> list[bytes]:
        return EVERY_RECORD
