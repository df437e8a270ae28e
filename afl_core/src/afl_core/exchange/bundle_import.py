"""A bundle into a memory: read whole and checked before anything is written, then joined in small transactions; cut short, it is run again."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Callable, Iterator

from afl_core.exchange.access import Access, Progress
from afl_core.exchange.batches import batches
from afl_core.exchange.bundle import BUNDLE, MAX_HEADER_BYTES, MAX_LINE_BYTES, Add, Forget, Header, Line, Turn, read_header, read_line
from afl_core.exchange.errors import ExchangeError
from afl_core.exchange.files import Source
from afl_core.exchange.join import Join
from afl_core.exchange.report import Report, Tally
from afl_core.model.errors import AflError, ModelError
from afl_core.store import beside, grains, status

RESTORING = "import_restoring"
"""In `meta`: the checksum of the bundle that an empty memory began to take in, so that a second run goes on with all namespaces."""


def import_bundle(access: Access, source: Source, *, progress: Progress) -> Report:
    """Take a bundle in. Raises `ExchangeError` when anything of it is damaged; nothing was written then."""
    tally, join = Tally(), Join(access)
    db = access.reader()
    beside.begin(db)
    try:
        header = check(source, progress, lambda line: beside.set_forgotten_there(db, line.hash))
        restoring = beside.is_blank(db) or status.meta(db, RESTORING) == header.sha256
        with access.forgetting():
            _take_all(access, source, header, join, tally, restoring=restoring, progress=progress)
            access.finish_forgetting()
    finally:
        beside.end(db)
    progress(2 * source.size, 2 * source.size)
    return tally.report(BUNDLE, source.path)


def check(source: Source, progress: Progress, forgotten: Callable[[Forget], object]) -> Header:
    """Read the whole bundle: header, count, checksum, every line and every address. Raises `ExchangeError` for the first thing that is wrong.

    `forgotten` is told of what was forgotten there: it comes late in the file and matters early.
    """
    source.start()
    header = read_header(source.read_line(MAX_HEADER_BYTES), source.path)
    digest, count, adds = hashlib.sha256(), 0, 0
    fault: tuple[int, ModelError] | None = None
    while line := source.read_line(MAX_LINE_BYTES):
        digest.update(line)
        count += 1
        if fault is None:
            try:
                told = read_line(line)
                adds += isinstance(told, Add)
                if isinstance(told, Forget):
                    forgotten(told)
            except ModelError as bad:
                fault = (count + 1, bad)
        if count % 1_000 == 0:
            progress(source.done, 2 * source.size)
    if digest.hexdigest() != header.sha256 or count != header.count:
        raise ExchangeError(
            f"{source.path} is damaged: its header promises {header.count} lines with another checksum than the {count} that follow",
            code="AFL-EXCHANGE-004",
            hint="copy or export it again; an editor or a transfer as text may have changed it; nothing was imported",
        )
    if fault is not None:
        raise ExchangeError(
            f"{source.path} line {fault[0]}: {fault[1].sentence}",
            code="AFL-EXCHANGE-007",
            hint="nothing was imported; export it again with the version that made it",
        ) from fault[1]
    if adds != header.grains:
        raise ExchangeError(f"{source.path} has a damaged header", code="AFL-EXCHANGE-004", hint="export the memory again")
    return header


def _read(source: Source) -> Iterator[tuple[int, Line]]:
    """The lines with their numbers, read once more."""
    source.start()
    source.read_line(MAX_HEADER_BYTES)
    number = 1
    while line := source.read_line(MAX_LINE_BYTES):
        number += 1
        yield number, read_line(line)


def _take_all(access: Access, source: Source, header: Header, join: Join, tally: Tally, *, restoring: bool, progress: Progress) -> None:
    for batch in batches(_read(source), lambda: source.done):
        with beside.step(access.writer(durable=any(isinstance(line, Forget) for _, line in batch))) as db:
            if restoring and tally.rows == 0:
                status.set_meta(db, RESTORING, header.sha256)
            for number, line in batch:
                _take(db, access, join, tally, number, line, restoring=restoring)
        progress(source.size + source.done, 2 * source.size)
    more = True
    while more:
        with beside.step(access.writer()) as db:
            more = join.finish(db)
    if restoring:
        with access.writer(durable=True) as db:
            status.set_meta(db, RESTORING, "")


def _take(db: sqlite3.Connection, access: Access, join: Join, tally: Tally, number: int, line: Line, *, restoring: bool) -> None:
    tally.rows += 1
    if isinstance(line, Add):
        if grains.place_of(db, line.grain.hash) is None and (reason := _refusal(db, access, join, line, restoring=restoring)):
            tally.skip(number, reason)
        elif join.add(db, line):
            tally.added += 1
        else:
            tally.already += 1
    elif reason := _protected(db, access, line, restoring=restoring):
        tally.skip(number, reason)
    elif isinstance(line, Forget):
        if join.forget(db, line):
            tally.erased += 1
        else:
            tally.already += 1
    elif join.turn(db, line):
        tally.changed += 1
    else:
        tally.already += 1


def _protected(db: sqlite3.Connection, access: Access, line: Turn | Forget, *, restoring: bool) -> str:
    """Why a grain that is here stays as it is; '' when it may change. What has an owner is neither erased nor taken back by a file."""
    if isinstance(line, Forget) and not access.may_forget:
        return "this handle may not forget"
    ns = beside.ns_of(db, line.hash)
    return "" if ns is None else _owned(access, ns, restoring=restoring)


def _owned(access: Access, ns: str, *, restoring: bool) -> str:
    if not restoring:
        try:
            access.refuse_reserved(ns)
        except AflError as bad:
            return bad.sentence
    return ""


def _refusal(db: sqlite3.Connection, access: Access, join: Join, line: Add, *, restoring: bool) -> str:
    return line.unfit or _owned(access, line.grain.ns, restoring=restoring) or join.refusal(db, line.grain)
