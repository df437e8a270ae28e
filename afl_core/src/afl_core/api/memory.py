"""The public memory: one file of typed, content-addressed, undoable grains. Python values in and out; safe for many threads and processes.

>>> import tempfile, os
>>> memory = Memory(os.path.join(tempfile.mkdtemp(), "notes.afl"))
>>> address = memory.add_fact("acme", "deploy_target", "us-east-1", confidence=0.9)
>>> memory.recall("acme")[0]["object"]
'us-east-1'
>>> memory.close()
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import count
from types import TracebackType
from typing import Any, Self

from afl_core.api.connections import Connections
from afl_core.api.reserved import demand, narrowed, refuse_reserved
from afl_core.memory import erase, index, write
from afl_core.memory.assemble import Source, assemble
from afl_core.memory.rank import DEFAULT, Ranked, Weights
from afl_core.memory.recall import Where
from afl_core.memory.recall import recall as find_about
from afl_core.memory.recall import search as find_text
from afl_core.memory.signatures import signature
from afl_core.memory.telemetry import Telemetry, mode_of
from afl_core.model.clock import Clock, now_ms
from afl_core.model.codec import loads
from afl_core.model.errors import ModelError, StoreError
from afl_core.model.grain import DEFAULT_NS, Grain, GrainType, HeadKey, make
from afl_core.store import grains
from afl_core.store.cover import PLAIN, Cover
from afl_core.store.migrate import open_or_create
from afl_core.store.telemetry import Recalled

__all__ = ["Memory"]

ANY_NS = "*"
"""As a namespace to read: every one."""
HISTORY = 512
"""Grains of one history."""
_CALLS = count()

Value = dict[str, Any]


class Memory:
    """A memory file. Use as a context manager, or call `close`.

    `ns`: the namespace that is written, and read where none is named. `actor`: who acts, for the audit. `passphrase`: contents are sealed with
    it. `telemetry`: off, aggregate or full. `index_text`: whether free text can be searched. `scopes`: what this handle may do, of read, write,
    forget, review and apply; they narrow, never widen. `weights`: how recalls are put in order.

    Every error is an `AflError` with a code, a sentence and the next step. A file that another process is writing is waited for.
    """

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
        clock: Clock = now_ms,
    ) -> None:
        self.path = os.path.abspath(os.fspath(path))
        self.ns, self.actor, self.index_text, self.weights = ns, actor, index_text, weights
        self.scopes = narrowed(None, scopes)
        self._clock = clock
        mode = mode_of(telemetry)
        open_or_create(self.path, clock=clock)
        self._files = Connections(self.path)
        try:
            self._cover: Cover = self._unlock(passphrase)
        except BaseException:
            self._files.close()
            raise
        self._telemetry = Telemetry(f"{self.path}.telemetry.db", mode, clock, self._cover)
        self._unindexed = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Write what telemetry holds and close the file. What is not indexed yet is indexed at the next search."""
        self._telemetry.close()
        self._files.close()

    # -------------------------------------------------------------------------------------------------------------------------------- writing

    def add(self, type: str, fields: Mapping[str, Any] | None = None, **more: Any) -> str:
        """Store a grain; gives its address. One that is there already is left as it is. Raises `ModelError` naming the field that is wrong."""
        grain = self._made(type, {**(fields or {}), **more})
        with self._writing() as db:
            write.add(db, grain, cover=self._cover)
        self._index_later(1)
        return grain.hash

    def add_fact(self, subject: str, relation: str, object: str, confidence: float | None = None, **more: Any) -> str:
        """Store a fact; where the newest one of its subject and relation already says exactly this, gives that one's address."""
        fields = {"subject": subject, "relation": relation, "object": object, "confidence": confidence, **more}
        grain = self._made(GrainType.FACT.value, fields)
        key = HeadKey(grain.ns, grain.fields["subject"], grain.fields["relation"])
        with self._writing() as db:
            for head in grains.heads(db, key, self._cover):
                there = grains.get(db, head, self._cover)
                if there is not None and _same_but_time(there.grain, grain):
                    return head
            write.add(db, grain, cover=self._cover)
        self._index_later(1)
        return grain.hash

    def add_batch(self, many: Iterable[Mapping[str, Any]]) -> list[str]:
        """Store grains, each a mapping with `type` and its fields, in one transaction: all or none. Gives their addresses in order."""
        made = [self._made(str(one.get("type", "")), {key: value for key, value in one.items() if key != "type"}) for one in many]
        with self._writing() as db:
            write.add_all(db, made, cover=self._cover)
        self._index_later(len(made))
        return [grain.hash for grain in made]

    def record_tool_call(
        self,
        name: str,
        result: str,
        is_error: bool = False,
        thread: str | None = None,
        call_id: str | None = None,
        input: str | None = None,
        **more: Any,
    ) -> str:
        """Store one call of a tool; every call is a grain of its own. `input`: JSON text. `thread`: the session it belongs to."""
        call = call_id or f"auto:{os.getpid()}-{time.monotonic_ns()}-{next(_CALLS)}"
        given = None if input is None else loads(input, "input")
        fields = {
            "tool_name": name,
            "tool_content": result,
            "is_error": is_error,
            "session_id": thread,
            "tool_call_id": call,
            "input": given,
        }
        grain = self._made(GrainType.TOOL.value, {**fields, **more})
        with self._writing() as db:
            if not write.record_call(db, grain, signature(result) if is_error else None, cover=self._cover):
                raise StoreError("this value was forgotten and stays out, also in another spelling", code="AFL-STORE-030")
        self._index_later(1)
        return grain.hash

    def supersede(self, old: str, fields: Mapping[str, Any] | None = None, **more: Any) -> str:
        """Put a new grain of the same type in the place of a live one; what is not given is taken over. Gives the new address."""
        there = self.get(old)
        kept = {key: value for key, value in there["fields"].items() if key not in ("created_at", "derived_from")}
        grain = self._made(there["type"], {**kept, **(fields or {}), **more})
        with self._writing() as db:
            write.supersede(db, there["hash"], grain, cover=self._cover)
        self._index_later(1)
        return grain.hash

    def supersede_by(self, loser: str, winner: str) -> None:
        """Let a grain that is there already take the place of another one; nothing is copied."""
        loser, winner = self._address(loser), self._address(winner)
        with self._writing() as db:
            self._refuse_owned(db, loser)
            write.link(db, loser, winner, self._clock(), cover=self._cover)

    def retract(self, hash: str) -> None:
        """Take a grain back: it stays in its history and is recalled no more. Adding it again brings it back."""
        hash = self._address(hash)
        with self._writing() as db:
            self._refuse_owned(db, hash)
            write.retract(db, hash, now=self._clock(), cover=self._cover)

    def merge_heads(self, subject: str, relation: str, object: str, ns: str | None = None, **more: Any) -> str:
        """End a fork: one fact takes the place of all heads of a subject and relation. Gives its address."""
        where = ns or self.ns
        with self._writing() as db:
            key = HeadKey(where, subject, relation)
            tips = grains.heads(db, key, self._cover)
            context = {"merge_parents": tips}
            fields = {"subject": subject, "relation": relation, "object": object, "namespace": where, "context": context, **more}
            hash = write.merge(db, key, self._made(GrainType.FACT.value, fields), cover=self._cover)
        self._index_later(1)
        return hash

    def forget(self, hash: str, *, keep_out: bool = False, dry_run: bool = False) -> list[str]:
        """Erase a grain: row, index, telemetry, and its bytes. Gives the addresses (to be) erased. `keep_out`: its value stays out from now on."""
        demand(self.scopes, "forget")
        return self._erase([self._address(hash)], [], keep_out=keep_out, dry_run=dry_run)

    def forget_subject(self, subject: str, ns: str | None = None, *, keep_out: bool = False, dry_run: bool = False) -> list[str]:
        """Erase every fact about a subject and its parts (`pat`, `pat#visit1`, never `patricia`), and what telemetry knows of it."""
        demand(self.scopes, "forget")
        found = erase.subject_hashes(self._files.reader(), subject, ns or self.ns, self._cover)
        return self._erase(found, [subject], keep_out=keep_out, dry_run=dry_run)

    # -------------------------------------------------------------------------------------------------------------------------------- reading

    def get(self, hash: str) -> Value:
        """One grain by its address or the beginning of it, live or not: hash, type, superseded_by, derived_from and its fields."""
        demand(self.scopes, "read")
        there = grains.get(self._files.reader(), self._address(hash), self._cover)
        if there is None:
            raise StoreError(f"there is no grain {hash[:12]}", code="AFL-STORE-020", hint="use the hash of a grain that is there")
        return _told(there)

    def recall(  # noqa: PLR0913 - what narrows a recall, each by name
        self,
        subject: str | None = None,
        relation: str | None = None,
        k: int = 16,
        *,
        type: str | None = None,
        ns: str | None = None,
        run_id: str | None = None,
        tool_name: str | None = None,
        tool_call_id: str | None = None,
        session_id: str | None = None,
    ) -> list[Value]:
        """Live grains about something, best first: sure and recent ones before others. Each value holds `score`, `hash`, `type` and its fields."""
        demand(self.scopes, "read")
        began = time.perf_counter_ns()
        spaces = self._spaces(ns)
        where = Where(spaces, subject, relation, type, tool_name, tool_call_id, session_id)
        found = find_about(self._files.reader(), where, self._clock(), k, cover=self._cover, weights=self.weights)
        self._note(spaces, subject, relation, None, found, run_id, began)
        return [_scored(one) for one in found]

    def search(self, query: str, k: int = 16, *, type: str | None = None, ns: str | None = None, run_id: str | None = None) -> list[Value]:
        """Live grains whose text holds a telling word of the query, best first."""
        demand(self.scopes, "read")
        began = time.perf_counter_ns()
        spaces = self._spaces(ns)
        found = self._find_text(query, Where(spaces, type=type), k)
        self._note(spaces, None, None, query, found, run_id, began)
        return [_scored(one) for one in found]

    def assemble(
        self, sources: Sequence[Mapping[str, Any]], budget: int = 400, k: int = 16, *, limit: int | None = None, run_id: str | None = None
    ) -> Value:
        """Whole grains for a prompt under a token budget that the sources share by weight.

        A source is a mapping of subject, relation, query, ns and weight, each optional. `limit`: counts grains instead of tokens.
        """
        demand(self.scopes, "read")
        made = [self._source(one, number, k, run_id) for number, one in enumerate(sources)]
        chosen = assemble(made, budget if limit is None else limit, by_grains=limit is not None)
        self._telemetry.budget(overflow=bool(chosen.dropped))
        unit = "tokens" if limit is None else "grains"
        return {
            "text": "\n".join(chosen.lines),
            "grains": [one.stored.grain.hash for one in chosen.grains],
            "dropped": [{"hash": one.hash, "source": one.source, unit: one.cost} for one in chosen.dropped],
            "budget": {"unit": unit, "limit": budget if limit is None else limit, "used": chosen.used},
        }

    def latest(self, subject: str, relation: str, ns: str | None = None) -> Value | None:
        """The newest fact of a subject and relation; of a fork's heads the one made last."""
        heads = self._heads(HeadKey(ns or self.ns, subject, relation))
        return _told(heads[0]) if heads else None

    def history(self, subject: str, relation: str, ns: str | None = None) -> list[Value]:
        """What was said of a subject and relation before, newest first, live or not; at most 512 grains."""
        demand(self.scopes, "read")
        rows = grains.about(self._files.reader(), HeadKey(ns or self.ns, subject, relation), HISTORY, self._cover)
        return [_told(one) for one in rows]

    def forks(self, ns: str | None = None) -> list[Value]:
        """Things with more than one head: namespace, subject, relation and the heads, the one made last first."""
        demand(self.scopes, "read")
        found: dict[HeadKey, list[grains.Stored]] = {}
        for one in grains.forked(self._files.reader(), self._spaces(ns), self._cover):
            key = one.grain.head_key
            if key is not None:
                found.setdefault(key, []).append(one)
        return [
            {"namespace": key.ns, "subject": key.subject, "relation": key.relation, "heads": [_told(one) for one in _newest_first(heads)]}
            for key, heads in found.items()
        ]

    def verify(self, *, progress: Callable[[int], None] = lambda _done: None) -> Value:
        """Check the whole file: SQLite's own check, every address against its content, every link, head and index row."""
        demand(self.scopes, "read")
        from afl_core.memory.verify import verify

        return verify(self._files.reader(), self._cover, progress=progress)

    def stats(self) -> Value:
        """Counts by type and namespace, sizes in bytes, what waits to be indexed."""
        demand(self.scopes, "read")
        from afl_core.memory.verify import stats

        return {**stats(self._files.reader()), "path": self.path, "bytes": _size(self.path), "telemetry": self._telemetry.mode}

    def telemetry(self, days: int = 30, ns: str | None = None) -> Value:
        """What was recalled and asked in the last days: access, queries and budget."""
        demand(self.scopes, "read")
        from afl_core.memory.telemetry_view import view

        return view(self._telemetry, self._clock(), days, ns)

    def flush(self) -> None:
        """Index what waits and write what telemetry holds."""
        if self.index_text and "write" in self.scopes:
            index.refresh(self._files.reader(), self._cover)
        self._telemetry.flush()

    # -------------------------------------------------------------------------------------------------------------------------------- inside

    def _unlock(self, passphrase: str | None) -> Cover:
        if passphrase is not None:
            from afl_core.vault.content import unlock

            with self._files.writer(durable=True) as db:
                return unlock(db, passphrase)
        from afl_core.store.status import meta

        if meta(self._files.reader(), "content_salt"):
            raise StoreError(f"the contents of {self.path} are sealed", code="AFL-STORE-034", hint="open it with its passphrase")
        return PLAIN

    def _writing(self) -> Any:
        demand(self.scopes, "write")
        return self._files.writer()

    def _made(self, type: str, fields: Mapping[str, Any]) -> Grain:
        try:
            kind = GrainType(type)
        except ValueError as bad:
            known = ", ".join(one.value for one in GrainType)
            raise ModelError(f"{type!r} is no type of a grain; there are {known}", code="AFL-MODEL-003") from bad
        grain = make(kind, {"namespace": self.ns, **{key: value for key, value in fields.items() if value is not None}}, self._clock())
        refuse_reserved(grain.ns)
        return grain

    def _refuse_owned(self, db: Any, hash: str) -> None:
        there = grains.get(db, hash, self._cover)
        if there is not None:
            refuse_reserved(there.grain.ns)

    def _address(self, hash: str) -> str:
        if len(hash) == 64:
            return hash
        if len(hash) < 6 or not all(digit in "0123456789abcdef" for digit in hash):
            raise StoreError(f"{hash!r} is no address of a grain", code="AFL-STORE-020", hint="give at least 6 of its hexadecimal digits")
        found = grains.addressed(self._files.reader(), hash)
        if len(found) > 1:
            raise StoreError(
                f"{hash} means several grains: {', '.join(one[:12] for one in found)}", code="AFL-STORE-035", hint="give more digits"
            )
        return found[0] if found else hash

    def _spaces(self, ns: str | None) -> tuple[str, ...] | None:
        return None if ns == ANY_NS else (ns or self.ns,)

    def _index_later(self, added: int) -> None:
        self._unindexed += added
        if self.index_text and self._unindexed >= index.WAITING:
            self._unindexed = 0
            index.refresh(self._files.reader(), self._cover)

    def _find_text(self, query: str, where: Where, most: int) -> list[Ranked]:
        if not self.index_text:
            raise StoreError("this memory was opened without its text index", code="AFL-STORE-036", hint="open it with index_text=True")
        db = self._files.reader()
        if index.waiting(db):
            index.refresh(db, self._cover)
            self._unindexed = 0
        return find_text(db, query, where, self._clock(), most, cover=self._cover, weights=self.weights)

    def _source(self, given: Mapping[str, Any], number: int, most: int, run_id: str | None) -> Source:
        if unknown := given.keys() - {"subject", "relation", "query", "ns", "weight"}:
            raise ModelError(f"source {number} has an unknown key {min(unknown)!r}", code="AFL-MODEL-008")
        began = time.perf_counter_ns()
        spaces = self._spaces(given.get("ns"))
        where = Where(spaces, given.get("subject"), given.get("relation"))
        query = given.get("query")
        if query:
            found = self._find_text(query, where, most)
        else:
            found = find_about(self._files.reader(), where, self._clock(), most, cover=self._cover, weights=self.weights)
        self._note(spaces, where.subject, where.relation, query or None, found, run_id, began)
        return Source(tuple(found), float(given.get("weight", 1.0)))

    def _note(
        self,
        spaces: tuple[str, ...] | None,
        subject: str | None,
        relation: str | None,
        query: str | None,
        found: Sequence[Ranked],
        run_id: str | None,
        began: int,
    ) -> None:
        if self._telemetry.mode == "off":
            return
        latency = (time.perf_counter_ns() - began) // 1_000
        hashes = tuple(one.stored.grain.hash for one in found)
        ns = ANY_NS if spaces is None else spaces[0]
        self._telemetry.recalled(Recalled(self._clock(), ns, subject, relation, query, hashes, latency, run_id))

    def _heads(self, key: HeadKey) -> list[grains.Stored]:
        demand(self.scopes, "read")
        db = self._files.reader()
        tips = (grains.get(db, hash, self._cover) for hash in grains.heads(db, key, self._cover))
        return _newest_first([tip for tip in tips if tip is not None])

    def _erase(self, hashes: Sequence[str], texts: Sequence[str], *, keep_out: bool, dry_run: bool) -> list[str]:
        db = self._files.reader()
        for hash in hashes:
            if grains.place_of(db, hash) is None:
                raise StoreError(f"there is no grain {hash[:12]}", code="AFL-STORE-020", hint="use the hash of a grain that is there")
            self._refuse_owned(db, hash)
        if dry_run or not hashes:
            return list(hashes)
        said = list(texts)
        with self._files.writer(durable=True) as db:
            for hash in hashes:
                gone = erase.forget(db, hash, self._clock(), keep_out=keep_out, cover=self._cover)
                if gone.grain.head_key is not None and len(hashes) == 1:
                    said.append(str(gone.grain.fields.get("object", "")))
        self._telemetry.scrub(hashes, said)
        erase.sweep(db)
        return list(hashes)


def _newest_first(heads: Sequence[grains.Stored]) -> list[grains.Stored]:
    return sorted(heads, key=lambda one: (one.grain.created_ms, one.grain.hash), reverse=True)


def _same_but_time(left: Grain, right: Grain) -> bool:
    return {**left.fields, "created_at": 0} == {**right.fields, "created_at": 0}


def _told(there: grains.Stored) -> Value:
    grain = there.grain
    return {
        "hash": grain.hash,
        "type": grain.type.value,
        "superseded_by": there.superseded_by,
        "derived_from": there.derived_from,
        "fields": dict(grain.fields),
        **{key: value for key, value in grain.fields.items() if key not in ("type", "hash", "fields")},
    }


def _scored(one: Ranked) -> Value:
    return {**one.stored.grain.fields, "hash": one.stored.grain.hash, "type": one.stored.grain.type.value, "score": one.score}


def _size(path: str) -> int:
    return sum(os.path.getsize(path + end) for end in ("", "-wal", ".telemetry.db") if os.path.exists(path + end))
