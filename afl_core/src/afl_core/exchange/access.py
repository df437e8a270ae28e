"""What an import or export needs of an open memory."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Callable, Mapping
from typing import Any, Protocol

import attrs

from afl_core.model.clock import Clock
from afl_core.store.cover import Cover

Progress = Callable[[int, int], None]
"""Told how much is done and how much there is: bytes of an import, passes over the file counted each; grains of an export."""


Redact = Callable[[dict[str, Any]], Mapping[str, Any]]
"""What the fields of a row that somebody wrote pass before they are stored. Raises `AflError` for what may not be."""


def unchanged(fields: dict[str, Any]) -> Mapping[str, Any]:
    """As they are."""
    return fields


def silent(_done: int, _whole: int) -> None:
    """Tells nobody."""


class Writer(Protocol):
    """Opens one write transaction."""

    def __call__(self, *, durable: bool = False) -> contextlib.AbstractContextManager[sqlite3.Connection]:
        """`durable`: the commit waits for the disk."""
        ...


@attrs.frozen
class Access:
    """An open memory. `ns`: where rows go that name no namespace. `refuse_reserved` raises for one that has an owner.

    `note_erased` is the audit's row about an erased grain, in the transaction that erases it; `finish_forgetting` then does what else a forget does.
    `forgetting` lets others see that something is being forgotten.
    """

    reader: Callable[[], sqlite3.Connection]
    writer: Writer
    cover: Cover
    clock: Clock
    ns: str
    refuse_reserved: Callable[[str], None]
    note_erased: Callable[[sqlite3.Connection, str], object]
    finish_forgetting: Callable[[], object]
    forgetting: Callable[[], contextlib.AbstractContextManager[object]] = contextlib.nullcontext
    may_forget: bool = True
