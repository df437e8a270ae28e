"""Rows of an import in small transactions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

AT_ONCE = 200
"""Rows of one transaction: the write lock is held for a few milliseconds, so that hooks beside an import hardly wait."""
BYTES_AT_ONCE = 1_048_576
"""Or so many bytes of them, when they are long."""

T = TypeVar("T")


def batches(rows: Iterable[T], done: Callable[[], int]) -> Iterator[list[T]]:
    """Rows in pieces; `done`: how many bytes were read."""
    batch: list[T] = []
    began = done()
    for row in rows:
        batch.append(row)
        if len(batch) >= AT_ONCE or done() - began >= BYTES_AT_ONCE:
            yield batch
            batch, began = [], done()
    if batch:
        yield batch
