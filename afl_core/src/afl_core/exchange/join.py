"""Two memories become one: what each says of a grain, and which of its grains are the heads of a thing. The order of two machines' bundles makes no difference.

Of a grain the one that saw more turns is right; of two that saw as many, the one that replaced it, and of two successors the greater address. A live
grain is a head when nobody who saw as much of it knows it was displaced; so two heads of different machines stay both, a fork. Where that leaves a
thing no head, its newest live grain is. What was forgotten on either side is gone.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from afl_core.exchange.access import Access
from afl_core.exchange.bundle import DEAD_AFTER, Add, Forget, Turn
from afl_core.memory import erase, tombstones, write
from afl_core.model.errors import AflError
from afl_core.model.grain import Grain, HeadKey
from afl_core.store import beside, grains, operations

CHAIN = 512
"""Successors that are followed when a circle is looked for."""


class Join:
    """Takes the lines of one bundle, in order, each in a transaction of the caller's. `beside.begin` was called."""

    def __init__(self, access: Access) -> None:
        self._access, self._cover, self._now = access, access.cover, access.clock()

    # ---------------------------------------------------------------------------------------------------------------------------- grains

    def refusal(self, db: sqlite3.Connection, grain: Grain) -> str:
        """Why a grain that is not here cannot come in; '' when it can."""
        if beside.was_forgotten(db, grain.hash):
            return "it was forgotten here"
        try:
            tombstones.refuse_buried(db, grain, self._cover)
        except AflError as bad:
            return bad.sentence
        return ""

    def add(self, db: sqlite3.Connection, line: Add) -> bool:
        """Store a grain; False when it was here already, and then only the heads are agreed on."""
        grain, key = line.grain, line.grain.head_key
        there = grains.place_of(db, grain.hash)
        derived = None if line.derived_from is None or beside.was_forgotten(db, line.derived_from) else line.derived_from
        if there is None:
            write.insert(db, grain, derived_from=derived, cover=self._cover)
            if key is not None:
                self._settle(db, key, grain.hash, wanted=line.head is True and line.turns == 0)
            return True
        if derived is not None:
            grains.derive(db, grain.hash, derived)
        if key is not None and line.head is False and line.turns == 0 and there[1] is None and beside.turns(db, grain.hash, live=True) == 0:
            self._displace(db, key, grain.hash)
        elif key is not None and line.head is True and there[1] is None and not beside.stands_in(db, grain.hash):
            tips = grains.heads(db, key, self._cover)
            if grain.hash in tips:
                self._put(db, key, tips, grain.hash)
        return False

    # ----------------------------------------------------------------------------------------------------------------------------- turns

    def turn(self, db: sqlite3.Connection, line: Turn) -> bool:
        """Take a turn of a grain, when it is news; False when it is not, or the grain is not here."""
        there = grains.get(db, line.hash, self._cover)
        if there is None:
            return False
        known = beside.turns(db, line.hash, live=there.superseded_by is None)
        if line.turn > known:
            self._take(db, there, line)
            return True
        if line.turn == known and line.last:
            return self._agree(db, there, line)
        return False

    def _take(self, db: sqlite3.Connection, there: grains.Stored, line: Turn) -> None:
        by = self._successor(db, line) if line.op in DEAD_AFTER else None
        key = there.grain.head_key
        before = grains.heads(db, key, self._cover) if key is not None else []
        grains.set_superseded(db, line.hash, by)
        op = line.op if line.op in DEAD_AFTER else operations.RESTORE
        operations.log(db, op, line.hash, line.other if by != grains.WITHDRAWN else None, line.at_ms, heads=before)
        beside.set_turns(db, line.hash, line.turn)
        if by is not None:
            if key is not None:
                self._without(db, key, line.hash)
            self._break_circle(db, line.hash)
        elif key is not None:
            self._settle(db, key, line.hash, wanted=line.head is True)

    def _agree(self, db: sqlite3.Connection, there: grains.Stored, line: Turn) -> bool:
        """Both saw as many turns: of two successors one is kept, and what either knows to be displaced is no head."""
        key = there.grain.head_key
        if line.op not in DEAD_AFTER:
            if key is not None and line.head is False:
                self._displace(db, key, line.hash)
            return False
        mine, theirs = there.superseded_by or grains.WITHDRAWN, self._successor(db, line)
        if beside.is_forgotten_there(db, mine):  # it is about to go
            mine = grains.WITHDRAWN
        if theirs == grains.WITHDRAWN or (mine != grains.WITHDRAWN and mine >= theirs):
            return False
        grains.set_superseded(db, line.hash, theirs)
        self._break_circle(db, line.hash)
        return True

    def _successor(self, db: sqlite3.Connection, line: Turn) -> str:
        """What took a grain's place, when that is here."""
        if line.other is None or grains.place_of(db, line.other) is None:
            return grains.WITHDRAWN
        return line.other

    def _break_circle(self, db: sqlite3.Connection, hash: str) -> None:
        """Two machines may each have put another of two grains in the other's place: then the newest of them is live again."""
        circle = [hash]
        while (there := grains.place_of(db, circle[-1])) is not None and there[1] not in (None, grains.WITHDRAWN):
            if there[1] in circle or len(circle) == CHAIN:
                break
            circle.append(str(there[1]))
        if there is None or there[1] != hash:
            return
        members = [one for one in (grains.get(db, each, self._cover) for each in circle) if one is not None]
        newest = max(members, key=lambda one: (one.grain.created_ms, one.grain.hash)).grain
        turned = beside.turns(db, newest.hash, live=False) + 1
        grains.set_superseded(db, newest.hash, None)
        operations.log(db, operations.RESTORE, newest.hash, None, self._now)
        beside.set_turns(db, newest.hash, turned)
        if newest.head_key is not None:
            self._settle(db, newest.head_key, newest.hash, wanted=True)

    # ------------------------------------------------------------------------------------------------------------------------- forgetting

    def forget(self, db: sqlite3.Connection, line: Forget) -> bool:
        """Erase here what was forgotten there; False when it was not here. It does not come back with a later bundle either."""
        there = grains.get(db, line.hash, self._cover)
        if there is not None:
            self._erase(db, there, line)
        elif not beside.was_forgotten(db, line.hash):
            operations.log(db, operations.FORGET, line.hash, None, line.at_ms)
        beside.set_forgotten(db, line.hash)
        return there is not None

    def _erase(self, db: sqlite3.Connection, there: grains.Stored, line: Forget) -> None:
        key = there.grain.head_key
        before = grains.heads(db, key, self._cover) if key is not None else []
        erase.forget(db, line.hash, self._now, keep_out=False, cover=self._cover)
        self._access.note_erased(db, line.hash)
        if key is not None:
            for tip in set(grains.heads(db, key, self._cover)) - set(before):
                beside.set_stand_in(db, tip)

    # ------------------------------------------------------------------------------------------------------------------------------ heads

    def _settle(self, db: sqlite3.Connection, key: HeadKey, hash: str, *, wanted: bool) -> None:
        """A grain became live: it is a head when it should be, or for want of another one."""
        tips = grains.heads(db, key, self._cover)
        if wanted:
            self._put(db, key, [*tips, hash], hash)
        elif not tips:
            grains.set_heads(db, key, [hash], self._cover)
            beside.set_stand_in(db, hash)

    def _put(self, db: sqlite3.Connection, key: HeadKey, tips: Sequence[str], hash: str) -> None:
        """A real head: whatever stood in for it is none any more."""
        left = [tip for tip in dict.fromkeys(tips) if tip == hash or not beside.stands_in(db, tip)]
        beside.drop_stand_in(db, hash)
        grains.set_heads(db, key, left, self._cover)

    def _displace(self, db: sqlite3.Connection, key: HeadKey, hash: str) -> None:
        """The other side knows a live grain to be displaced: it is no head, unless there is no other."""
        tips = grains.heads(db, key, self._cover)
        if hash not in tips:
            return
        left = [tip for tip in tips if tip != hash]
        if any(not beside.stands_in(db, tip) for tip in left):
            grains.set_heads(db, key, left, self._cover)
            beside.drop_stand_in(db, hash)
        else:
            beside.set_stand_in(db, hash)

    def _without(self, db: sqlite3.Connection, key: HeadKey, hash: str) -> None:
        """A grain is live no more."""
        tips = grains.heads(db, key, self._cover)
        beside.drop_stand_in(db, hash)
        if hash not in tips:
            return
        left = [tip for tip in tips if tip != hash]
        if not left:
            left = grains.live_of(db, key, self._cover)[:1]
            for tip in left:
                beside.set_stand_in(db, tip)
        grains.set_heads(db, key, left, self._cover)

    def finish(self, db: sqlite3.Connection) -> bool:
        """Where a thing has only stand-ins, its newest live grain is the head. False when there is nothing left to do: call it until then."""
        waiting = beside.stand_ins(db)
        for address in waiting:
            there = grains.get(db, address, self._cover)
            key = there.grain.head_key if there is not None else None
            if key is not None:
                tips = grains.heads(db, key, self._cover)
                if address in tips:
                    real = [tip for tip in tips if not beside.stands_in(db, tip)]
                    grains.set_heads(db, key, real or grains.live_of(db, key, self._cover)[:1], self._cover)
            beside.drop_stand_in(db, address)
        return bool(waiting)
