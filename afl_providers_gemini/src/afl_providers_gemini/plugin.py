"""What `afl.plugins` finds here: one host adapter."""

from __future__ import annotations

from afl_core.spec.host import HostAdapter
from afl_core.spec.marker import hookimpl
from afl_providers_gemini.host import GeminiHost

AFL_API_VERSION = 1


@hookimpl
def afl_hosts() -> list[HostAdapter]:
    """Gemini CLI."""
    return [GeminiHost()]
