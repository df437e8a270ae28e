"""Facts, one JSON object a line: `subject`, `relation`, `object`, and whatever else a fact may hold."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from typing import Any

from afl_core.exchange.access import Access, Progress, Redact, unchanged
from afl_core.exchange.errors import Unfit
from afl_core.exchange.files import Source
from afl_core.exchange.report import Report, Tally
from afl_core.exchange.rows import ALREADY, Draft, json_rows, store_drafts, told
from afl_core.exchange.times import time_of
from afl_core.memory import write
from afl_core.model.codec import compact
from afl_core.model.errors import AflError
from afl_core.model.grain import Grain, GrainType, make
from afl_core.store import grains

FACTS = "facts"
LOOKED_AT = 512
"""Of a thing's grains, so many of the newest are compared with a row that names no time."""

_NAMES = ("subject", "relation", "object")


def import_facts(access: Access, source: Source, *, progress: Progress, redact: Redact = unchanged) -> Report:
    """Store the facts of a file, in its order: of several of one subject and relation the last is the newest.

    A row that names no `created_at` changes nothing where a fact, live or not, already says exactly the same. `redact`: what its fields pass first;
    a row that it refuses is not stored.
    """
    tally = Tally()

    def judge(db: sqlite3.Connection, draft: Draft) -> str:
        key = draft.grain.head_key
        if draft.timed or key is None:
            return ""
        there = grains.about(db, key, LOOKED_AT, access.cover)
        return ALREADY if any(_alike(one.grain, draft.grain) for one in there) else ""

    def put(db: sqlite3.Connection, draft: Draft) -> object:
        return write.add(db, draft.grain, cover=access.cover)

    drafts = _drafts(access, source, tally, redact)
    store_drafts(access, drafts, lambda: source.done, tally, judge, put, told(source, progress))
    return tally.report(FACTS, source.path)


def _drafts(access: Access, source: Source, tally: Tally, redact: Redact) -> Iterator[Draft]:
    for number, row in json_rows(source, tally):
        try:
            fields = dict(redact(_fields(row)))
            made = make(GrainType.FACT, {"namespace": access.ns, **fields}, access.clock())
            yield Draft(number, made, fields.get("created_at") is not None)
        except (AflError, Unfit) as bad:
            tally.skip(number, bad)


def _fields(row: Mapping[str, Any]) -> dict[str, Any]:
    kind = row.get("type", GrainType.FACT.value)
    if kind != GrainType.FACT.value:
        raise Unfit(f"type {str(kind)[:40]!r} is no fact")
    fields = {name: value for name, value in row.items() if name != "type" and value is not None}
    for name in _NAMES:
        if isinstance(fields.get(name), bool | int | float):
            fields[name] = compact(fields[name])
    if "created_at" in fields:
        fields["created_at"] = time_of(fields["created_at"])
        if fields["created_at"] is None:
            raise Unfit(f"created_at cannot be read: {str(row['created_at'])[:60]!r}")
    return fields


def _alike(left: Grain, right: Grain) -> bool:
    return left.type is right.type and {**left.fields, "created_at": 0} == {**right.fields, "created_at": 0}
