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
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import count
from typing import Any

from afl_core.api.forgets import Forgets
from afl_core.api.given import amount, checked, composed, fields_of, storable, text, used, words
from afl_core.api.reserved import demand, refuse_reserved
from afl_core.api.told import Value, newest_first, says, scored, told
from afl_core.memory import erase, tombstones, undo, write
from afl_core.memory.assemble import Source, assemble
from afl_core.memory.rank import Ranked
from afl_core.memory.recall import Where
from afl_core.memory.recall import recall as find_about
from afl_core.memory.recall import search as find_text
from afl_core.model.codec import loads
from afl_core.model.errors import ModelError
from afl_core.model.grain import GrainType, HeadKey
from afl_core.store import grains
from afl_core.store.telemetry import SIDECAR

__all__ = ["Memory"]

HISTORY = 512
"""Grains of one history."""
_CALLS = count()


class Memory(Forgets):
    """A memory file. Use as a context manager, or call `close`.

    `ns`: the namespace that is written, and read where none is named. `actor`: who acts, for the audit. `passphrase`: contents are sealed with
    it. `telemetry`: off, aggregate or full. `index_text`: whether free text can be searched. `scopes`: what this handle may do, of read, write,
    forget, review and apply; they narrow, never widen (keeping the text index up to date needs none). `weights`: how recalls are put in order.

    Every error is an `AflError` with a code, a sentence and the next step. A file that another process is writing is waited for.
    """

    # -------------------------------------------------------------------------------------------------------------------------------- writing

    def add(self, type: str, fields: Mapping[str, Any] | None = None, **more: Any) -> str:
        """Store a grain; gives its address. One that is there already is left as it is. Raises `ModelError` naming the field that is wrong."""
        grain = self._made(type, fields_of(fields, more))
        if not self._added(grain):
            with self._writing() as db:
                write.add(db, grain, cover=self._cover)
        self._index_later(1)
        return grain.hash

    def add_fact(self, subject: str, relation: str, object: str, confidence: float | None = None, **more: Any) -> str:
        """Store a fact; where a head of its subject and relation already says all that is given here, gives that one's address."""
        fields = {"subject": subject, "relation": relation, "object": object, "confidence": confidence, **more}
        grain = self._made(GrainType.FACT.value, fields)
        if not self._added(grain):
            key = HeadKey(grain.ns, grain.fields["subject"], grain.fields["relation"])
            with self._writing() as db:
                for head in grains.heads(db, key, self._cover):
                    there = grains.get(db, head, self._cover)
                    if there is not None and says(there.grain, grain):
                        return head
                write.add(db, grain, cover=self._cover)
        self._index_later(1)
        return grain.hash

    @used
    def add_batch(self, many: Iterable[Mapping[str, Any]]) -> list[str]:
        """Store grains, each a mapping with `type` and its fields, in one transaction: all or none. Gives their addresses in order."""
        given = [fields_of(one, {}, f"grain {number}") for number, one in enumerate(many)]
        made = [self._made(one.pop("type", ""), one) for one in given]
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
        if input is not None:
            text(input, "input")
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
        address = grain.hash
        if not self._added(grain):
            with self._writing() as db:
                address = write.record_call(db, grain, cover=self._cover)
        self._index_later(1)
        return address

    @used
    def record_session(self, session_id: str, events: Iterable[Mapping[str, Any]], calls: Sequence[write.ToolCall]) -> tuple[int, int, int]:
        """Store what a transcript tells of a session: its events, and its calls of tools as small grains. What is there already is left.

        `events`: the fields of each, `created_at` too. Gives how many events are new, how many were there, and how many calls are new.
        """
        made = [self._made(GrainType.EVENT.value, {"session_id": session_id, **fields}) for fields in events]
        with self._writing() as db:
            wanted = [one for one in made if not tombstones.was_forgotten(db, one, self._cover)]
            new = [one for one in {one.hash: one for one in wanted}.values() if grains.place_of(db, one.hash) is None]
            write.add_all(db, new, cover=self._cover)
            called = write.record_tool_calls(db, self.ns, session_id, calls, cover=self._cover)
        self._index_later(len(new) + len(called))
        return len(new), len(wanted) - len(new), len(called)

    @checked
    def supersede(self, old: str, fields: Mapping[str, Any] | None = None, **more: Any) -> str:
        """Put a new grain of the same type in the place of a live one; what is not given is taken over. Gives the new address."""
        old = self._address(old)
        with self._writing() as db:
            there = self._mine(db, old)
            kept = {key: value for key, value in there.grain.fields.items() if key not in ("created_at", "derived_from")}
            grain = self._made(there.grain.type.value, {**kept, **fields_of(fields, more)})
            write.supersede(db, old, grain, cover=self._cover)
        self._index_later(1)
        return grain.hash

    @checked
    def supersede_by(self, loser: str, winner: str) -> None:
        """Let a grain that is there already take the place of another one; nothing is copied."""
        loser, winner = self._address(loser), self._address(winner)
        with self._writing() as db:
            self._mine(db, loser)
            write.link(db, loser, winner, self._clock(), cover=self._cover)

    @checked
    def retract(self, hash: str) -> None:
        """Take a grain back: it stays in its history and is recalled no more. Adding it again, or `undo`, brings it back."""
        address = self._address(hash)
        with self._writing() as db:
            self._mine(db, address)
            write.retract(db, address, now=self._clock(), cover=self._cover)

    @checked
    def merge_heads(self, subject: str, relation: str, object: str, ns: str | None = None, **more: Any) -> str:
        """End a fork: one fact takes the place of all heads of a subject and relation, which its context names. Gives its address."""
        where = ns or self.ns
        refuse_reserved(where)
        with self._writing() as db:
            tips = grains.heads(db, HeadKey(where, subject, relation), self._cover)
            fields = {"namespace": where, **more, "subject": subject, "relation": relation, "object": object}
            if isinstance(context := {} if fields.get("context") is None else fields["context"], Mapping):
                fields["context"] = {**context, "merge_parents": tips}
            merged = self._made(GrainType.FACT.value, fields)
            write.merge(db, HeadKey(where, merged.fields["subject"], merged.fields["relation"]), merged, cover=self._cover)
        self._index_later(1)
        return merged.hash

    @checked
    def undo(self, hash: str) -> str:
        """Bring a grain back by undoing what hid it; gives what that was: supersede, link, merge or retract.

        A grain that was made to take its place is withdrawn; of a merge every head comes back. What was forgotten is never brought back.
        """
        address = self._address(hash)
        with self._writing() as db:
            self._mine(db, address)
            return undo.undo(db, address, self._clock(), cover=self._cover)

    # -------------------------------------------------------------------------------------------------------------------------------- reading

    @checked
    def get(self, hash: str) -> Value:
        """One grain by its address or the beginning of it, live or not: hash, type, superseded_by, derived_from and its fields."""
        demand(self.scopes, "read")
        return told(self._there(self._files.reader(), self._address(hash)))

    @checked
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
        began = self._beginning()
        spaces = self._spaces(ns)
        where = Where(spaces, subject, relation, type, tool_name, tool_call_id, session_id)
        found = find_about(self._files.reader(), where, self._clock(), k, cover=self._cover, weights=self.weights)
        self._note(spaces, subject, relation, None, found, run_id, began)
        return [scored(one) for one in found]

    @checked
    def search(self, query: str, k: int = 16, *, type: str | None = None, ns: str | None = None, run_id: str | None = None) -> list[Value]:
        """Live grains whose text holds a telling word of the query, best first."""
        demand(self.scopes, "read")
        began = self._beginning()
        query = storable(query)
        spaces = self._spaces(ns)
        found = self._find_text(query, Where(spaces, type=type), k)
        self._note(spaces, None, None, query, found, run_id, began)
        return [scored(one) for one in found]

    @checked
    def assemble(
        self, sources: Sequence[Mapping[str, Any]], budget: int = 400, k: int = 16, *, limit: int | None = None, run_id: str | None = None
    ) -> Value:
        """Whole grains for a prompt under a token budget that the sources share by weight.

        A source is a mapping of subject, relation, query, ns and weight, each optional. `limit`: counts grains instead of tokens.
        """
        demand(self.scopes, "read")
        made = [self._source(one, number, k, run_id) for number, one in enumerate(_sources(sources))]
        chosen = assemble(made, budget if limit is None else limit, by_grains=limit is not None)
        self._telemetry.budget(overflow=bool(chosen.dropped))
        unit = "tokens" if limit is None else "grains"
        return {
            "text": "\n".join(chosen.lines),
            "lines": list(chosen.lines),
            "grains": [one.stored.grain.hash for one in chosen.grains],
            "dropped": [{"hash": one.hash, "source": one.source, unit: one.cost} for one in chosen.dropped],
            "budget": {"unit": unit, "limit": budget if limit is None else limit, "used": chosen.used},
        }

    @checked
    def latest(self, subject: str, relation: str, ns: str | None = None) -> Value | None:
        """The newest fact of a subject and relation; of a fork's heads the one made last."""
        heads = self._heads(HeadKey(ns or self.ns, subject, relation))
        return told(heads[0]) if heads else None

    @checked
    def history(self, subject: str, relation: str, ns: str | None = None) -> list[Value]:
        """What was said of a subject and relation before, newest first, live or not; at most 512 grains."""
        demand(self.scopes, "read")
        rows = grains.about(self._files.reader(), HeadKey(ns or self.ns, subject, relation), HISTORY, self._cover)
        return [told(one) for one in rows]

    @checked
    def forks(self, ns: str | None = None) -> list[Value]:
        """Things with more than one head: namespace, subject, relation and the heads, the one made last first."""
        demand(self.scopes, "read")
        found: dict[HeadKey, list[grains.Stored]] = {}
        for one in grains.forked(self._files.reader(), self._spaces(ns), self._cover):
            key = one.grain.head_key
            if key is not None:
                found.setdefault(key, []).append(one)
        return [
            {"namespace": key.ns, "subject": key.subject, "relation": key.relation, "heads": [told(one) for one in newest_first(heads)]}
            for key, heads in found.items()
        ]

    @checked
    def verify(self, *, progress: Callable[[int], None] = lambda _done: None) -> Value:
        """Check the whole file: SQLite's own check, every address against its content, every link, head and index row, and the audit chain."""
        demand(self.scopes, "read")
        from afl_core.changes.audit import verify_chain
        from afl_core.memory.verify import verify

        db = self._files.reader()
        found = verify(db, self._cover, progress=progress)
        broken = verify_chain(db)
        problems = [*found["problems"], *([f"the audit: {broken.why}"] if broken else [])]
        return {**found, "ok": not problems, "problems": problems}

    @checked
    def stats(self) -> Value:
        """Counts by type and namespace, sizes in bytes, what waits to be indexed or swept, how many values are kept out, the state of telemetry."""
        demand(self.scopes, "read")
        from afl_core.memory.verify import stats

        db = self._files.reader()
        return {
            **stats(db),
            "unswept": len(erase.pending(db)) or int(erase.is_to_be_made_anew(db)),
            "path": self.path,
            "bytes": sum(os.path.getsize(self.path + end) for end in ("", "-wal", SIDECAR) if os.path.exists(self.path + end)),
            "telemetry": self._telemetry.state(),
        }

    @checked
    def telemetry(self, days: int = 30, ns: str | None = None) -> Value:
        """What was recalled and asked in the last days: access, queries and budget."""
        demand(self.scopes, "read")
        from afl_core.memory.telemetry_view import view

        self._files.reader()  # a memory that was closed says so
        return view(self._telemetry, self._clock(), days, ns)

    # --------------------------------------------------------------------------------------------------------------------------------- inside

    def _find_text(self, query: str, where: Where, most: int) -> list[Ranked]:
        return find_text(self._ready_to_search(), query, where, self._clock(), most, cover=self._cover, weights=self.weights)

    def _source(self, given: Mapping[str, Any], number: int, most: int, run_id: str | None) -> Source:
        if unknown := given.keys() - {"subject", "relation", "query", "ns", "weight"}:
            raise ModelError(
                f"source {number} has an unknown key {min(unknown)!r}",
                code="AFL-MODEL-008",
                hint="use subject, relation, query, ns, weight",
            )
        named: dict[str, str] = {}
        for name, check in (("subject", text), ("relation", text), ("query", words), ("ns", text)):
            if given.get(name) is not None:
                check(given[name], f"{name} of source {number}")
                named[name] = composed(given[name])
        began = self._beginning()
        spaces = self._spaces(named.get("ns"))
        where = Where(spaces, named.get("subject"), named.get("relation"))
        query = storable(named.get("query", ""))
        if query:
            found = self._find_text(query, where, most)
        else:
            found = find_about(self._files.reader(), where, self._clock(), most, cover=self._cover, weights=self.weights)
        self._note(spaces, where.subject, where.relation, query or None, found, run_id, began)
        return Source(tuple(found), amount(given.get("weight", 1.0), f"weight of source {number}"))

    def _heads(self, key: HeadKey) -> list[grains.Stored]:
        demand(self.scopes, "read")
        db = self._files.reader()
        tips = (grains.get(db, address, self._cover) for address in grains.heads(db, key, self._cover))
        return newest_first([tip for tip in tips if tip is not None])


def _sources(given: Any) -> Sequence[Mapping[str, Any]]:
    if not isinstance(given, list | tuple) or not all(isinstance(one, Mapping) for one in given):
        raise ModelError(
            "sources are not a list of mappings", code="AFL-MODEL-010", hint="give mappings of subject, relation, query, ns, weight"
        )
    return given
