"""How a memory forgets: grains, subjects, sessions; and what it may take in again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from sqlite3 import Connection
from typing import Any

from afl_core.api.exchanged import Exchanged
from afl_core.api.given import checked, fields_of, texts, used
from afl_core.api.opened import ANY_NS
from afl_core.api.reserved import demand, refuse_to_erase
from afl_core.memory import erase, tombstones
from afl_core.model.grain import GrainType
from afl_core.store import grains


class Forgets(Exchanged):
    """What `Memory` forgets with."""

    @checked
    def forget(self, hash: str, *, keep_out: bool = False, dry_run: bool = False, because: str = "") -> list[str]:
        """Erase a grain: row, index, telemetry, and its bytes. Gives the addresses (to be) erased. `keep_out`: its value stays out from now on.

        What was captured of a project is erased too, and of a call the words of its events; it is not captured again. Lessons are not: `afl memory`.

        The audit holds who, when, `because` and a fingerprint of the address. Raises `StoreError` (AFL-STORE-032) when another process still
        holds the bytes, or there is no room to make the file anew: the rows are gone, and the next forget, `sweep` or opening does the rest.
        """
        return self.forget_many([hash], keep_out=keep_out, dry_run=dry_run, because=because)

    @checked
    def forget_many(self, hashes: Iterable[str], *, keep_out: bool = False, dry_run: bool = False, because: str = "") -> list[str]:
        """`forget` for several grains at once, all or none. Every forgetting makes the file anew, so this takes the time of one."""
        addresses = list(dict.fromkeys(self._address(one) for one in texts(hashes, "hashes")))
        return self._forget(addresses, "forget", addresses, (), keep_out=keep_out, dry_run=dry_run, because=because)

    @checked
    def forget_subject(
        self, subject: str, ns: str | None = None, *, keep_out: bool = False, dry_run: bool = False, because: str = ""
    ) -> list[str]:
        """Erase every grain about a subject and its parts (`pat`, `pat#visit1`, never `patricia`), and what telemetry knows of it."""
        demand(self.scopes, "forget")
        space = None if ns == ANY_NS else ns or self.ns
        found = erase.subject_hashes(self._files.reader(), subject, space, self._cover)
        return self._forget(found, "forget_subject", [subject], (subject,), keep_out=keep_out, dry_run=dry_run, because=because)

    @checked
    def forget_session(
        self, session_id: str, ns: str | None = ANY_NS, *, keep_out: bool = False, dry_run: bool = False, because: str = ""
    ) -> list[str]:
        """Erase every grain of a session, by default in every namespace: what was captured of it and what was recorded for it. Lessons stay."""
        demand(self.scopes, "forget")
        space = None if ns == ANY_NS else ns or self.ns
        found = erase.session_hashes(self._files.reader(), session_id, space, self._cover)
        return self._forget(found, "forget_session", [session_id], (), keep_out=keep_out, dry_run=dry_run, because=because)

    @used
    def sweep(self) -> bool:
        """Finish a forget that broke off or met a reader; False when there was nothing left to do."""
        demand(self.scopes, "forget")
        return self._finish_forgetting()

    @used
    def allow(self, type: str, fields: Mapping[str, Any] | None = None, **more: Any) -> bool:
        """Let a value in again that was forgotten with `keep_out`; False when it was not kept out. `stats` counts those that are."""
        demand(self.scopes, "forget")
        grain = self._shaped(type, fields_of(fields, more))
        with self._files.writer() as db:
            allowed = tombstones.allow(db, grain, self._cover)
            if allowed:
                self._audit(db, "allow", grain.hash, {}, "", self._clock())
        return allowed

    def _forget(
        self, addresses: Sequence[str], verb: str, named: Sequence[str], said: Sequence[str], *, keep_out: bool, dry_run: bool, because: str
    ) -> list[str]:
        demand(self.scopes, "forget")
        must_be_there, asked = verb == "forget", []
        for address in addresses:
            there = grains.get(self._files.reader(), address, self._cover)
            if there is None and must_be_there:
                there = self._there(self._files.reader(), address)
            if there is not None:  # somebody else may have forgotten it since it was listed
                refuse_to_erase(there.grain.ns, is_lesson=there.grain.type is GrainType.LESSON)
                asked.append(address)
        if dry_run or not asked:
            return asked

        def noted(db: Connection, now: int, erased: int) -> None:
            for one in named:
                self._audit(db, verb, one, {"grains_erased": erased if len(named) == 1 else 1, "keep_out": keep_out}, because, now)

        return self._erase(asked, said, keep_out=keep_out, must_be_there=must_be_there, noted=noted)
