"""What `afl.plugins` finds here."""

from __future__ import annotations

from afl_core.spec.host import HostAdapter
from afl_core.spec.marker import hookimpl
from afl_core.spec.reviewer import Reviewer
from afl_providers_codex.host import CodexHost
from afl_providers_codex.reviewer import CodexReviewer

AFL_API_VERSION = 1


@hookimpl
def afl_hosts() -> list[HostAdapter]:
    """Codex CLI."""
    return [CodexHost()]


@hookimpl
def afl_reviewers() -> list[Reviewer]:
    """Codex CLI, isolated."""
    return [CodexReviewer()]
