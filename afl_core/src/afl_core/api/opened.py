"""An open memory file: its connections, how its contents stand in it, its telemetry, and what this handle may do. `Memory` is what is done with it."""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from sqlite3 import Connection
from types import TracebackType
from typing import Any, NamedTuple, Self

from afl_core.api.connections import Connections
from afl_core.api.errors import understood
from afl_core.api.given import composed, path_of, shaped, text, used
from afl_core.api.reserved import demand, is_reserved, narrowed, refuse_reserved
from afl_core.memory import erase, evidence, index, write
from afl_core.memory.rank import DEFAULT, Ranked, Weights
from afl_core.memory.telemetry import Telemetry, mode_of
from afl_core.model.clock import Clock, steady
from afl_core.model.errors import ModelError, StoreError
from afl_core.model.grain import DEFAULT_NS, Grain
from afl_core.store import grains, inherited
from afl_core.store.connection import BUSY_MS, FRONT_BUSY_MS, is_in_a_read, reading
from afl_core.store.cover import PLAIN, Cover
from afl_core.store.migrate import drop_backups, open_or_create
from afl_core.store.telemetry import SIDECAR, Recalled
from afl_core.store.trouble import explain
from afl_core.store.under_way import alone, forgetting
from afl_core.vault import content

ADDRESS_DIGITS = 64
"""Hexadecimal digits of an address."""
ANY_NS = "*"
"""As a namespace to read: every one."""


class _Rest(NamedTuple):
    """What forgets left over up to the operation `upto`. `anew`: the files are to be made anew whatever is known to be left."""

    upto: int
    addresses: list[str]
    anew: bool


class Opened:
    """What `Memory` stands on. Safe for many threads; a forked child opens its own connections."""

    def __init__(  # noqa: PLR0913 - what a memory is, each by name
        self,
        path: str | os.PathLike[str],
        ns: str = DEFAULT_NS,
        actor: str = "user:local",
        passphrase: str | None = None,
        telemetry: str = "aggregate",
        index_text: bool = True,
        scopes: Collection[str] | None = None,
        *,
        weights: Weights = DEFAULT,
        clock: Clock | None = None,
    ) -> None:
        self.path = path_of(path)
        text(ns, "ns")
        text(actor, "actor")
        if passphrase is not None:
            text(passphrase, "passphrase")
            if not passphrase:
                raise ModelError("passphrase is empty", code="AFL-MODEL-010", hint="leave it out for a memory in clear")
        if not isinstance(weights, Weights):
            raise ModelError("weights are no Weights", code="AFL-MODEL-010", hint="give afl_core.memory.rank.Weights")
        self.ns, self.actor, self.index_text, self.weights = composed(ns), actor, index_text, weights
        self._free_ns = None if is_reserved(self.ns) else self.ns
        self.scopes = narrowed(None, scopes)
        self._clock = steady() if clock is None else clock
        self._unindexed = 0
        self._forgets = threading.RLock()
        """Forgets of this handle take turns: one that goes on is not taken for one that broke off."""
        self._stays = self._used = True
        """Whether it is noted that the file stays in clear, or it is sealed; and whether anything was ever written to it."""
        inherited.after_fork(self, Opened._after_fork)
        with inherited.CALLS:
            self._open(passphrase, mode_of(telemetry))

    def _open(self, passphrase: str | None, telemetry: str) -> None:
        try:
            open_or_create(self.path, clock=self._clock)
        except OSError as bad:
            raise understood(bad) from bad
        except sqlite3.Error as bad:
            raise explain(bad, self.path) from bad
        self._files = Connections(self.path)
        try:
            self._cover: Cover = self._unlock(passphrase)
            self._telemetry = Telemetry(self.path + SIDECAR, telemetry, self._clock, self._cover, lambda: self._files.read(_last_forget))
            self._finish_at_opening()
        except BaseException:
            self._files.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Write what telemetry holds and close the file; may be called again. What is not indexed yet is indexed at the next search."""
        self._telemetry.close()
        with inherited.CALLS:
            self._files.close()

    @used
    def is_a_homes(self) -> bool:
        """Whether the file is the store of a home, this one's or another's, or a copy of one."""
        return content.is_a_homes(self._files.reader())

    @used
    def flush(self) -> None:
        """Index what waits and write what telemetry holds."""
        if self.index_text:
            self._index()
        self._telemetry.flush()

    # --------------------------------------------------------------------------------------------------------------------------------- inside

    def _unlock(self, passphrase: str | None) -> Cover:
        db = self._files.reader()
        if passphrase is not None:
            if not content.is_sealed(db):
                with self._files.writer(durable=True):
                    content.begin(db, passphrase)
            return content.unlock(db, passphrase)
        with reading(db):
            self._refuse_sealed(db)
            self._stays, self._used = content.stays_in_clear(db), content.is_used_in_clear(db)
        return PLAIN

    def _refuse_sealed(self, db: Connection) -> None:
        if content.is_sealed(db):
            raise StoreError(f"the contents of {self.path} are sealed", code="AFL-STORE-034", hint="open it with its passphrase")

    def _stay_as_it_is(self) -> None:
        """Before the first thing is written: a file that nothing was ever written to may still be sealed by somebody who opens it with a passphrase."""
        if not self._stays:
            with self._files.writer() as db:
                self._refuse_sealed(db)
                content.use_in_clear(db)
            self._stays = self._used = True

    def _is_in_use(self) -> bool:
        """Whether somebody has written to it in clear by now: before that no question is kept, for who seals it would find it in clear."""
        db = self._files.reader()
        with reading(db):
            self._used = content.is_used_in_clear(db)
        return self._used

    def _writing(self, *, durable: bool = False) -> AbstractContextManager[Connection]:
        demand(self.scopes, "write")
        self._stay_as_it_is()
        return self._files.writer(durable=durable)

    def _added(self, grain: Grain) -> bool:
        """Whether a grain could be added as it is; False: something has to be looked at first."""
        demand(self.scopes, "write")
        if not self._stays:
            self._stay_as_it_is()
        return self._files.in_turn(write.add_unopposed, grain, self._cover)

    def _made(self, type: Any, fields: Mapping[str, Any]) -> Grain:
        grain = self._shaped(type, fields)
        if grain.fields["namespace"] != self._free_ns:
            refuse_reserved(grain.ns)
        return grain

    def _shaped(self, type: Any, fields: Mapping[str, Any]) -> Grain:
        return shaped(type, fields, self._clock(), self.ns)

    def _there(self, db: Connection, address: str) -> grains.Stored:
        there = grains.get(db, address, self._cover)
        if there is None:
            raise StoreError(f"there is no grain {address[:12]}", code="AFL-STORE-020", hint="use the hash of a grain that is there")
        return there

    def _mine(self, db: Connection, address: str) -> grains.Stored:
        """A grain that this handle may change: it stands in no namespace that has an owner."""
        there = self._there(db, address)
        refuse_reserved(there.grain.ns)
        return there

    def _address(self, beginning: str) -> str:
        named, beginning = beginning, beginning.strip().lower()
        if not 6 <= len(beginning) <= ADDRESS_DIGITS or not all(digit in "0123456789abcdef" for digit in beginning):
            raise StoreError(f"{named!r} is no address of a grain", code="AFL-STORE-020", hint="give at least 6 of its hexadecimal digits")
        if len(beginning) == ADDRESS_DIGITS:
            return beginning
        found = grains.addressed(self._files.reader(), beginning)
        if len(found) > 1:
            raise StoreError(
                f"{beginning} means several grains: {', '.join(one[:12] for one in found)}", code="AFL-STORE-035", hint="give more digits"
            )
        return found[0] if found else beginning

    def _spaces(self, ns: str | None) -> tuple[str, ...] | None:
        named = ns or self.ns
        return None if named == ANY_NS else (named,)

    # ------------------------------------------------------------------------------------------------------------------------------- the index

    def _index_later(self, added: int, progress: Callable[[int], None] = lambda _left: None) -> None:
        self._unindexed += added
        if self.index_text and self._unindexed >= index.WAITING:
            self._index(progress)

    @used
    def _index(self, progress: Callable[[int], None] = lambda _left: None) -> None:
        """`progress` is told how many grains are left, before the first and after each few hundred."""
        self._unindexed = 0
        db = self._files.reader()
        progress(index.waiting(db))
        index.refresh(db, self._cover, turn=self._files.writer, progress=progress)

    def _ready_to_search(self) -> Connection:
        if not self.index_text:
            raise StoreError("this memory was opened without its text index", code="AFL-STORE-036", hint="open it with index_text=True")
        db = self._files.reader()
        if index.waiting(db):
            self._index()
        return db

    # ------------------------------------------------------------------------------------------------------------------------------- telemetry

    def _note(
        self,
        spaces: tuple[str, ...] | None,
        subject: str | None,
        relation: str | None,
        query: str | None,
        found: Sequence[Ranked],
        run_id: str | None,
        began: tuple[int, int],
    ) -> None:
        if self._telemetry.mode == "off" or not (self._used or self._is_in_use()):
            return
        at_ns, forgets = began
        latency = (time.perf_counter_ns() - at_ns) // 1_000
        addresses = tuple(one.stored.grain.hash for one in found)
        ns = ANY_NS if spaces is None else spaces[0]
        self._telemetry.recalled(Recalled(self._clock(), ns, subject, relation, query, addresses, latency, run_id, forgets))

    def _beginning(self) -> tuple[int, int]:
        """When a question begins (ns), and what was forgotten last by then: looked up before anything is found, so that nothing is kept of what goes meanwhile."""
        return time.perf_counter_ns(), 0 if self._telemetry.mode == "off" else erase.last(self._files.reader())

    # ------------------------------------------------------------------------------------------------------------------------------ forgetting

    def _erase(
        self,
        addresses: Sequence[str],
        texts: Sequence[str],
        *,
        keep_out: bool,
        must_be_there: bool,
        noted: Callable[[Connection, int, int], object],
    ) -> list[str]:
        """Forget, in an order that may break off anywhere: rows and audit in one transaction, then telemetry, then the bytes. Gives what was erased.

        `must_be_there`: a grain that somebody else forgot meanwhile is an error. `noted` is told the time and how many were erased.
        """
        with self._forgets, forgetting(self.path):
            self._telemetry.flush()
            with self._files.writer(durable=True) as db:
                now = self._clock()
                unswept = erase.pending(db)  # of a forget that broke off, or of another process's that goes on
                left = [one for one in addresses if must_be_there or grains.place_of(db, one) is not None]
                gone = [erase.forget(db, address, now, keep_out=keep_out, cover=self._cover) for address in left]
                stretches = {name for one in gone for name in evidence.forget_call(db, one.grain)}
                words = erase.gone_words(db, gone, self._cover)
                upto = erase.last(db)
                if gone:
                    noted(db, now, len(gone))
            try:
                evidence.drop(self.path, stretches, self._files.writer)
            except OSError as bad:  # the upkeep tries it again; the rest is done by the next forget, sweep or opening
                raise understood(bad) from bad
            self._telemetry.scrub([*unswept, *addresses], texts, words, questions=bool(unswept))
            self._sweep(upto)
        return left

    def _finish_forgetting(self) -> bool:
        """Do what a forget that broke off left over. False when there was nothing."""
        with self._forgets, forgetting(self.path):
            return self._finish(self._rest())

    def _finish_at_opening(self) -> None:
        """The same, unless somebody is at it, and without waiting long for who is in the way: `stats` tells what is left."""
        db = self._files.reader()
        if not erase.pending(db) and not erase.is_to_be_made_anew(db):
            return
        with self._forgets, alone(self.path) as share:
            if share is None:
                return
            rest = self._rest()  # while nobody else can begin: what is left now is nobody's who lives
            share()
            db.execute(f"PRAGMA busy_timeout = {FRONT_BUSY_MS}")
            try:
                self._finish(rest, FRONT_BUSY_MS)
            except StoreError:  # the next forget, sweep or opening does it
                return
            finally:
                db.execute(f"PRAGMA busy_timeout = {BUSY_MS}")

    def _rest(self) -> _Rest:
        with reading(db := self._files.reader()):
            return _Rest(erase.last(db), erase.pending(db), erase.is_to_be_made_anew(db))

    def _finish(self, rest: _Rest, busy_ms: int = BUSY_MS) -> bool:
        """What was said is not known any more, so every question goes, unless nothing is known to be left."""
        if rest.addresses or rest.anew:
            self._telemetry.scrub(rest.addresses, (), questions=bool(rest.addresses), busy_ms=busy_ms)
            self._sweep(rest.upto)
        return bool(rest.addresses) or rest.anew

    def _sweep(self, upto: int) -> None:
        try:
            drop_backups(self.path)
        except OSError as bad:
            raise StoreError(
                f"the grains are deleted, but a copy of the file from before its migration is not: {bad}",
                code="AFL-STORE-032",
                hint="delete it, or run: afl sweep (or call sweep())",
            ) from bad
        begins_anew = erase.sweep(self._files.reader(), upto, self._files.writer, self._files.in_turn)
        if begins_anew and self.index_text:
            self._index()

    def _after_fork(self) -> None:
        self._forgets = threading.RLock()


def _last_forget(db: Connection) -> int | None:
    """Not from inside of a reading: that looks at the file as it was when it began."""
    return None if is_in_a_read(db) else erase.last(db)
