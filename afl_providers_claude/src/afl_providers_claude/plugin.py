"""What `afl.plugins` finds here: one host adapter and one reviewer."""

from __future__ import annotations

from afl_core.spec.host import HostAdapter
from afl_core.spec.marker import hookimpl
from afl_core.spec.reviewer import Reviewer
from afl_providers_claude.host import ClaudeHost
from afl_providers_claude.reviewer import ClaudeReviewer

AFL_API_VERSION = 1


@hookimpl
def afl_hosts() -> list[HostAdapter]:
    """Claude Code."""
    return [ClaudeHost()]


@hookimpl
def afl_reviewers() -> list[Reviewer]:
    """Claude Code, isolated."""
    return [ClaudeReviewer()]
