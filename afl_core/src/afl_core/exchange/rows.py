"""Rows that other programs wrote, one JSON object a line: read with suspicion, a bad one never stops the others, stored in small transactions."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

import attrs

from afl_core.exchange.access import Access, Progress
from afl_core.exchange.batches import batches
from afl_core.exchange.files import Source, text_of
from afl_core.exchange.report import Tally
from afl_core.memory import tombstones
from afl_core.model.errors import AflError
from afl_core.model.grain import Grain
from afl_core.model.json_values import DECODER
from afl_core.store import beside, grains

MAX_ROW_BYTES = 16_777_216
"""A longer line is skipped unread."""

ALREADY: Final = "already"


@attrs.frozen
class Draft:
    """A grain that a row asks for. `timed`: the row says when it was made, so that its address is the same at every import."""

    line: int
    grain: Grain
    timed: bool


Judge = Callable[[sqlite3.Connection, Draft], str]
"""Whether a draft is there: `ALREADY`, a reason against it, or ''."""
Write = Callable[[sqlite3.Connection, Draft], object]


def json_rows(source: Source, tally: Tally) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """The objects of a file with the numbers of their lines; anything else is skipped with its reason. Blank lines are nothing."""
    for number, line in source.lines(MAX_ROW_BYTES):
        if line is not None and not line.strip():
            continue
        tally.rows += 1
        if line is None:
            tally.skip(number, f"the line is longer than {MAX_ROW_BYTES} bytes")
            continue
        text = text_of(line, number, source.path)
        try:
            row = DECODER.decode(text.strip())
        except (ValueError, RecursionError) as bad:
            tally.skip(number, f"it is not JSON: {_short(bad)}")
            continue
        if isinstance(row, dict):
            yield number, row
        else:
            tally.skip(number, "it is not a JSON object")


def _short(bad: Exception) -> str:
    return str(bad)[:200]


def store_drafts(
    access: Access,
    drafts: Iterable[Draft],
    done: Callable[[], int],
    tally: Tally,
    judge: Judge,
    write: Write,
    progress: Callable[[], None],
) -> None:
    """Store what is new and may come in."""
    db = access.reader()
    beside.begin(db)
    try:
        for batch in batches(drafts, done):
            with beside.step(access.writer()) as writer:
                _store(writer, access, batch, tally, judge, write)
            progress()
    finally:
        beside.end(db)


def _store(db: sqlite3.Connection, access: Access, batch: list[Draft], tally: Tally, judge: Judge, write: Write) -> None:
    for draft in batch:
        found = _refusal(db, access, draft.grain) or judge(db, draft)
        if found == ALREADY:
            tally.already += 1
        elif found:
            tally.skip(draft.line, found)
        else:
            write(db, draft)
            tally.added += 1


def _refusal(db: sqlite3.Connection, access: Access, grain: Grain) -> str:
    """`ALREADY` for an address that is here, live or not: what somebody took back does not return with a file."""
    try:
        access.refuse_reserved(grain.ns)
        if grains.place_of(db, grain.hash) is not None:
            return ALREADY
        tombstones.refuse_buried(db, grain, access.cover)
    except AflError as bad:
        return bad.sentence
    return "it was forgotten here" if beside.was_forgotten(db, grain.hash) else ""


def told(source: Source, progress: Progress) -> Callable[[], None]:
    """A word of progress after each transaction."""
    return lambda: progress(source.done, source.size)
