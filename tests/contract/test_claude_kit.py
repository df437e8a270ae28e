"""The Claude provider keeps the host and reviewer contracts of the public kit."""

from __future__ import annotations

import pathlib
from collections.abc import Mapping

import pytest

from afl_core.spec.host import HostAdapter
from afl_core.spec.reviewer import Reviewer
from afl_core.testing.conformance.parsing import ParsingContract
from afl_core.testing.contracts.host import HostContract
from afl_core.testing.contracts.reviewer import ReviewerContract
from afl_core.testing.recorded import Recorded
from afl_providers_claude.plugin import afl_hosts, afl_reviewers

EVERY_RECORD = [line for case in Recorded.names("transcripts") for line in Recorded.transcript(case).splitlines()]


@pytest.mark.parametrize(
    "case", ["interrupted_text", "interrupted_tool", "denied_feedback", "steering", "compacted", "tools", "subagent_bg"]
)
class TestHost(HostContract):
    """On several recorded sessions."""

    @pytest.fixture(autouse=True)
    def _case(self, case: str) -> None:
        type(self).case = case

    case = "plain"

    def make(self) -> HostAdapter:
        [host] = afl_hosts()
        return host

    def records(self) -> list[bytes]:
        return Recorded.transcript(self.case).splitlines()


class TestHostOnEveryRecord(ParsingContract):
    """On all recorded sessions, one after the other."""

    def make(self) -> HostAdapter:
        [host] = afl_hosts()
        return host

    def records(self) -> list[bytes]:
        return EVERY_RECORD


class TestReviewer(ReviewerContract):
    """With a command that only exists."""

    def make(self) -> Reviewer:
        [reviewer] = afl_reviewers()
        return reviewer

    def environment(self, directory: pathlib.Path) -> Mapping[str, str]:
        command = directory / "claude"
        command.write_text("#!/bin/sh\n", "utf-8")
        command.chmod(0o700)
        return {"HOME": str(directory), "PATH": str(directory)}
