"""What `afl.plugins` finds here: one host adapter and one reviewer."""

from __future__ import annotations

from afl_core.spec.host import HostAdapter
from afl_core.spec.marker import hookimpl
from afl_core.spec.reviewer import Reviewer
from afl_providers_gemini.host import GeminiHost
from afl_providers_gemini.reviewer import GeminiReviewer

AFL_API_VERSION = 1


@hookimpl
def afl_hosts() -> list[HostAdapter]:
    """Gemini CLI."""
    return [GeminiHost()]


@hookimpl
def afl_reviewers() -> list[Reviewer]:
    """Gemini CLI, isolated."""
    return [GeminiReviewer()]
