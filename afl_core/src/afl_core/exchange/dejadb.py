"""Bundles of DejaDB (MGB1): the way out for who used it. Records of op, clock, address, length and grain; a grain is 9 bytes of header and MessagePack.

The bundle is read whole first: a record that is cut short, an address that does not fit its grain or a forgetting without its grain refuses it.
Grains get our addresses; supersessions and what they derive from follow them.
"""

from __future__ import annotations

import hashlib
import sqlite3
import struct
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import attrs

from afl_core.exchange.access import Access, Progress
from afl_core.exchange.batches import batches
from afl_core.exchange.dejadb_names import fields_of
from afl_core.exchange.errors import ExchangeError, Unfit
from afl_core.exchange.files import Source
from afl_core.exchange.report import Report, Tally
from afl_core.memory import erase, tombstones, write
from afl_core.model.errors import AflError
from afl_core.model.grain import MAX_BYTES, Grain, GrainType, make
from afl_core.store import beside, grains, operations

DEJADB_FORMAT = "dejadb"
MAGIC = b"MGB1"
ADD, SUPERSEDE, FORGET = 1, 2, 3
HEADER_BYTES = 9
"""Version, flags, type, two bytes of the namespace's hash, seconds."""

_RECORD = struct.Struct("<Bq32sI")
_TYPES = {
    number: GrainType(name)
    for number, name in enumerate(
        ("fact", "event", "state", "workflow", "tool", "observation", "goal", "reasoning", "consensus", "consent", "skill"), 1
    )
}

Unpack = Callable[[bytes], Any]


@attrs.frozen
class Record:
    """One record; its number counts from 1. `blob` is empty for a grain that was forgotten before the bundle was made."""

    number: int
    op: int
    hash: str
    blob: bytes


def import_dejadb(access: Access, source: Source, *, progress: Progress) -> Report:
    """Take a bundle in. Raises `ExchangeError` when it is damaged, or when the library that reads MessagePack is missing."""
    unpack = _unpacker()
    _check(source, progress)
    tally, taking = Tally(), _Taking(access, unpack)
    db = access.reader()
    beside.begin(db)
    beside.begin_names(db)
    try:
        with access.forgetting():
            for batch in batches(_paired(source), lambda: source.done):
                with beside.step(access.writer(durable=any(one.op == FORGET for one, _ in batch))) as writer:
                    taking.take(writer, batch, tally)
                progress(source.size + source.done, 2 * source.size)
            access.finish_forgetting()
    finally:
        beside.end(db)
    return tally.report(DEJADB_FORMAT, source.path)


def _unpacker() -> Unpack:
    try:
        import msgpack
    except ImportError as bad:
        raise ExchangeError(
            "no library is installed that can read bundles of DejaDB", code="AFL-EXCHANGE-008", hint="run: pip install msgpack"
        ) from bad
    return lambda blob: msgpack.unpackb(blob, raw=False, strict_map_key=True)


# ----------------------------------------------------------------------------------------------------------------------------------- reading


def _records(source: Source) -> Iterator[Record]:
    """The records from the start. Raises `ExchangeError` for one that is cut short or cannot be."""
    source.start()
    source.read(len(MAGIC))
    number = 0
    while head := source.read(_RECORD.size):
        number += 1
        if len(head) < _RECORD.size:
            raise _damaged(source, number, "is cut short")
        op, _clock, address, length = _RECORD.unpack(head)
        if op not in (ADD, SUPERSEDE, FORGET) or length > MAX_BYTES or (op == FORGET and length) or (op == SUPERSEDE and not length):
            raise _damaged(source, number, "is none that DejaDB writes")
        blob = source.read(length)
        if len(blob) < length:
            raise _damaged(source, number, "is cut short")
        yield Record(number, op, address.hex(), blob)


def _check(source: Source, progress: Progress) -> None:
    if not source.start().startswith(MAGIC):
        raise ExchangeError(f"{source.path} is no bundle of DejaDB", code="AFL-EXCHANGE-002", hint="name its format with --format")
    gone: set[str] = set()
    for record in _records(source):
        if record.blob and hashlib.sha256(record.blob).hexdigest() != record.hash:
            raise _damaged(source, record.number, "holds a grain that its address does not fit")
        if record.op == ADD and not record.blob:
            gone.add(record.hash)
        elif record.op == FORGET:
            gone.discard(record.hash)
        if record.number % 1_000 == 0:
            progress(source.done, 2 * source.size)
    if gone:
        raise ExchangeError(
            f"{source.path} is damaged: it holds no grain {min(gone)[:12]} and does not say that it was forgotten",
            code="AFL-EXCHANGE-009",
            hint="copy it again, or make it anew with DejaDB; nothing was imported",
        )


def _damaged(source: Source, number: int, what: str) -> ExchangeError:
    return ExchangeError(
        f"{source.path} is damaged: record {number} {what}",
        code="AFL-EXCHANGE-009",
        hint="copy it again, or make it anew with DejaDB; nothing was imported",
    )


def _paired(source: Source) -> Iterator[tuple[Record, bool]]:
    """The records that matter, and of an addition whether it is the new half of a supersession: its second record follows at once."""
    for one, after in pairwise(_with_end(source)):
        if one.op == ADD and one.blob:
            yield one, after.op == SUPERSEDE and after.hash == one.hash
        elif one.op != ADD:
            yield one, False


def _with_end(source: Source) -> Iterator[Record]:
    yield from _records(source)
    yield Record(0, 0, "", b"")


# ------------------------------------------------------------------------------------------------------------------------------------ taking


class _Taking:
    """Puts records into a memory, each in a transaction of the caller's."""

    def __init__(self, access: Access, unpack: Unpack) -> None:
        self._access, self._unpack, self._cover = access, unpack, access.cover

    def take(self, db: sqlite3.Connection, batch: list[tuple[Record, bool]], tally: Tally) -> None:
        for record, supersedes in batch:
            tally.rows += 1
            try:
                if record.op == ADD:
                    self._add(db, record, tally, supersedes=supersedes)
                elif record.op == SUPERSEDE:
                    self._supersede(db, record, tally)
                else:
                    self._forget(db, record, tally)
            except (AflError, Unfit) as bad:
                tally.skip(record.number, bad)

    def _count(self, db: sqlite3.Connection, grain: Grain, tally: Tally) -> bool:
        """Whether the grain may come in and is not here; raises when it may not."""
        self._access.refuse_reserved(grain.ns)
        if grains.place_of(db, grain.hash) is not None:
            tally.already += 1
            return False
        tombstones.refuse_buried(db, grain, self._cover)
        if beside.was_forgotten(db, grain.hash):
            raise Unfit("it was forgotten here")
        tally.added += 1
        return True

    def _add(self, db: sqlite3.Connection, record: Record, tally: Tally, *, supersedes: bool) -> None:
        grain = self._grain(db, record)
        if self._count(db, grain, tally):
            self._insert(db, grain, supersedes=supersedes)
        beside.set_name(db, record.hash, grain.hash)

    def _insert(self, db: sqlite3.Connection, grain: Grain, *, supersedes: bool) -> None:
        key = grain.head_key
        if not supersedes and key is not None:
            write.add(db, grain, cover=self._cover)  # as there, the newest of plain additions is the head
            return
        write.insert(db, grain, cover=self._cover)
        if key is not None:
            grains.set_heads(db, key, [*grains.heads(db, key, self._cover), grain.hash], self._cover)

    def _supersede(self, db: sqlite3.Connection, record: Record, tally: Tally) -> None:
        new = beside.name_of(db, record.hash)
        old = beside.name_of(db, str(self._body(record).get("df", "")))
        if new is None or grains.place_of(db, new) is None:
            raise Unfit("what it puts in place did not come in")
        there = grains.get(db, old, self._cover) if old is not None else None
        if there is None or old is None:
            raise Unfit("what it supersedes is not in this bundle: make a whole one, not one since a cursor")
        if there.superseded_by is not None or old == new:
            tally.already += 1  # another version took its place: both are heads, a fork
            return
        key = there.grain.head_key
        tips = grains.heads(db, key, self._cover) if key is not None else []
        grains.set_superseded(db, old, new)
        grains.derive(db, new, old)
        operations.log(db, operations.SUPERSEDE, old, new, self._access.clock(), heads=[tip for tip in tips if tip != new])
        if key is not None and old in tips:
            left = [tip for tip in tips if tip != old]
            grains.set_heads(db, key, left or grains.live_of(db, key, self._cover)[:1], self._cover)
        tally.changed += 1

    def _forget(self, db: sqlite3.Connection, record: Record, tally: Tally) -> None:
        ours = beside.name_of(db, record.hash)
        if ours is None or grains.place_of(db, ours) is None:
            tally.already += 1
            return
        if not self._access.may_forget:
            raise Unfit("this handle may not forget")
        erase.forget(db, ours, self._access.clock(), keep_out=False, cover=self._cover)
        self._access.note_erased(db, ours)
        tally.erased += 1

    # ------------------------------------------------------------------------------------------------------------------------------ grains

    def _body(self, record: Record) -> dict[str, Any]:
        header, packed = record.blob[:HEADER_BYTES], record.blob[HEADER_BYTES:]
        if len(header) < HEADER_BYTES or header[0] != 1 or header[1] != 0:
            raise Unfit("its header is of another version, or it is packed or sealed")
        try:
            found = self._unpack(packed)
        except Exception as bad:  # the library has errors of many kinds for what cannot be unpacked
            raise Unfit(f"it cannot be unpacked: {type(bad).__name__}") from bad
        if not isinstance(found, dict):
            raise Unfit("it is no map of fields")
        return found

    def _grain(self, db: sqlite3.Connection, record: Record) -> Grain:
        found = self._body(record)
        kind = _TYPES.get(record.blob[2])
        if kind is None:
            raise Unfit(f"its type {record.blob[2]} is not known")
        fields = fields_of(kind, found)
        fields["derived_from"] = self._ours(db, fields.get("derived_from"))
        if isinstance(related := fields.get("related_to"), list):
            fields["related_to"] = [{**one, "hash": self._ours(db, one.get("hash"))} if isinstance(one, dict) else one for one in related]
        if isinstance(dissent := fields.get("dissent_grains"), list):
            fields["dissent_grains"] = [self._ours(db, one) for one in dissent]
        return make(kind, fields, self._access.clock())

    def _ours(self, db: sqlite3.Connection, theirs: Any) -> Any:
        """Our address of a grain, where it came before; else theirs."""
        return (beside.name_of(db, theirs) or theirs) if isinstance(theirs, str) else theirs
