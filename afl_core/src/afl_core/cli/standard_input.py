"""Standard input for commands that read it or ask: it may be closed, and then they say so."""

from __future__ import annotations

import sys
from typing import TextIO

from afl_core.model.errors import AflError

CLOSED = "AFL-USAGE-004"


def standard_input(hint: str) -> TextIO:
    """What the command reads from; raise `AflError` where the shell closed it."""
    if sys.stdin is None or sys.stdin.closed:
        raise AflError("standard input is closed, so nothing can be read from it", code=CLOSED, hint=hint)
    return sys.stdin


def is_terminal() -> bool:
    """Whether a person is there to be asked."""
    return sys.stdin is not None and not sys.stdin.closed and sys.stdin.isatty()
