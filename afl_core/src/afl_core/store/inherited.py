"""What a forked child inherits and must not touch: SQLite forbids to use, and even to close, a connection of the parent."""

from __future__ import annotations

import os
import sqlite3
import weakref
from collections.abc import Callable, Iterable
from typing import Any, Final

_KEPT: Final[list[sqlite3.Connection]] = []
"""Connections of parents: held until the process ends, so that nothing closes them."""

_TOLD: Final[set[weakref.WeakMethod[Any]]] = set()


def keep(connections: Iterable[sqlite3.Connection]) -> None:
    """Never use or close these again."""
    _KEPT.extend(connections)


def after_fork(method: Callable[[], None]) -> None:
    """Call a method of an object in every child this process forks, as long as the object lives."""
    _TOLD.add(weakref.WeakMethod(method, _TOLD.discard))


def _tell() -> None:
    for held in list(_TOLD):
        if (call := held()) is not None:
            call()


if hasattr(os, "register_at_fork"):  # there is no fork on Windows
    os.register_at_fork(after_in_child=_tell)
