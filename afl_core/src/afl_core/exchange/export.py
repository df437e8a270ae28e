"""A memory written as a bundle: streamed from one snapshot, in two passes, because the header says what follows it."""

from __future__ import annotations

import hashlib
import heapq
import sqlite3
from collections.abc import Iterator

from afl_core.exchange.access import Access, Progress, silent
from afl_core.exchange.bundle import Header, add_line, event_line, header_line
from afl_core.exchange.errors import ExchangeError
from afl_core.exchange.files import written
from afl_core.model.errors import AflError
from afl_core.model.grain import stored
from afl_core.store import bundles
from afl_core.store.cover import Cover

TOLD_EVERY = 1_000
"""Lines between two words of progress."""


def export_bundle(access: Access, path: str, *, ns: str | None = None, progress: Progress = silent) -> Header:
    """Write the whole memory, or one namespace, to `path` (`-`: standard output); gives the header. Equal stores give equal bytes.

    Contents leave in clear, whatever the memory's passphrase. Raises `ExchangeError` when the file cannot be written or a grain is damaged.
    """
    db = access.reader()
    with bundles.snapshot(db, ns):
        whole = bundles.count(db, ns)
        header = _measured(db, access.cover, ns, progress, whole)
        with written(path) as file:
            file.write(header_line(header))
            for number, (_, line) in enumerate(_lines(db, access.cover, ns, checked=False), 1):
                file.write(line)
                if number % TOLD_EVERY == 0:
                    progress(whole + number, 2 * whole)
    progress(2 * whole, 2 * whole)
    return header


def _measured(db: sqlite3.Connection, cover: Cover, ns: str | None, progress: Progress, whole: int) -> Header:
    """The header of what is there; every address is checked, so that no bundle is written that could not be imported."""
    count = grains = 0
    digest = hashlib.sha256()
    for is_grain, line in _lines(db, cover, ns, checked=True):
        digest.update(line)
        count += 1
        grains += is_grain
        if count % TOLD_EVERY == 0:
            progress(count, 2 * whole)
    return Header(count, grains, ns, digest.hexdigest())


def _lines(db: sqlite3.Connection, cover: Cover, ns: str | None, *, checked: bool) -> Iterator[tuple[bool, bytes]]:
    """Every line, and whether it is a grain: what happened stands behind the grains that were there then."""
    adds = ((row.seq, 0, 0, 0, row.hash, _add(row, cover, checked=checked)) for row in bundles.rows(db, ns))
    others = ((event.at_seq, 1, event.n, event.half, event.hash, event_line(event)) for event in bundles.events(db))
    for _, kind, *_, line in heapq.merge(adds, others):
        yield kind == 0, line


def _add(row: bundles.Row, cover: Cover, *, checked: bool) -> bytes:
    try:
        body = cover.open(row.hash, row.stored)
        found = stored(row.type, body).hash if checked else row.hash
    except (AflError, ValueError) as bad:
        raise _damaged(row, str(bad)) from bad
    if found != row.hash:
        raise _damaged(row, f"what it says has the address {found[:12]}")
    return add_line(row, body, f'"derived_from":"{row.derived_from}"' in body)


def _damaged(row: bundles.Row, why: str) -> ExchangeError:
    return ExchangeError(
        f"grain {row.hash[:12]} is damaged, nothing was exported: {why}",
        code="AFL-EXCHANGE-006",
        hint="erase it with `afl forget ADDRESS` (or put a copy from before in the file's place), then export again",
    )
