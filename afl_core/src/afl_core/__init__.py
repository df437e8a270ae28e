"""Agent Feedback Loop: feedback memory for coding agents.

Importing this package costs nothing: every room is imported where it is used, `Memory` and `AflError` when they are first asked for.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:  # spelled out: importing typing would cost more than this file
    from afl_core.api.memory import Memory
    from afl_core.model.errors import AflError

__all__ = ["AflError", "Memory", "__version__"]
__version__ = "0.1.0"

_ROOMS = {"AflError": "afl_core.model.errors", "Memory": "afl_core.api.memory"}


def __getattr__(name: str) -> object:
    if name not in _ROOMS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    found = getattr(importlib.import_module(_ROOMS[name]), name)
    globals()[name] = found
    return found
