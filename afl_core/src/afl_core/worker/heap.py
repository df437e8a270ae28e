"""What a process that reads transcripts has loaded stays as long as the process: the collector need not go through it again and again."""

from __future__ import annotations

import contextlib
import gc

from afl_core.api.home import Home
from afl_core.model.errors import AflError


def hold_loaded(home: Home) -> None:
    """Load what reading needs and take it out of the collector's sight. For processes of their own only: what is garbage by then stays too."""
    with contextlib.suppress(AflError):  # what is wrong is said by whoever uses it, for every session that it stops
        _loaded = home.registry.hosts(), home.chain
    gc.freeze()
