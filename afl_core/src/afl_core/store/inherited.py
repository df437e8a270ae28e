"""What a forked child inherits and must not touch: SQLite forbids to use, and even to close, a connection of the parent."""

from __future__ import annotations

import os
import sqlite3
import weakref
from collections.abc import Callable, Iterable
from typing import Any, Final, TypeVar

Owner = TypeVar("Owner")

_KEPT: Final[list[sqlite3.Connection]] = []
"""Connections of parents: held until the process ends, so that nothing closes them."""

_TOLD: Final[weakref.WeakKeyDictionary[Any, Callable[[Any], None]]] = weakref.WeakKeyDictionary()
"""Objects that live, and what each does in a child."""


def keep(connections: Iterable[sqlite3.Connection]) -> None:
    """Never use or close these again."""
    _KEPT.extend(connections)


def after_fork(owner: Owner, tell: Callable[[Owner], None]) -> None:
    """Call a function with an object in every child this process forks, as long as the object lives."""
    _TOLD[owner] = tell


def _tell() -> None:
    for owner, tell in list(_TOLD.items()):
        tell(owner)


if hasattr(os, "register_at_fork"):  # there is no fork on Windows
    os.register_at_fork(after_in_child=_tell)
