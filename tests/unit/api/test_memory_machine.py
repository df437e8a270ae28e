"""Any sequence of adding, superseding, linking, retracting, forgetting, merging and undoing leaves what a simple model says."""

from __future__ import annotations

import copy
import os
import shutil
import tempfile

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, initialize, invariant, multiple, precondition, rule
from memory_model import WITHDRAWN, Model

from afl_core.api.memory import Memory
from afl_core.model.errors import StoreError
from afl_core.model.grain import GrainType, HeadKey, make
from afl_core.store import grains
from afl_core.vault import content

SUBJECTS = ("acme", "acme#eu", "zeta")
RELATIONS = ("tier", "region")
WORDS = ("amber", "birch", "cedar", "东京", "улица")
QUICK = "/dev/shm" if os.path.isdir("/dev/shm") else None
"""Where waiting for the disk costs nothing: every forget does."""
STEP = st.sampled_from([0, 0, 1, 1000])


class MemoryMachine(RuleBasedStateMachine):
    """A memory in clear beside its model."""

    passphrase: str | None = None
    known = Bundle("known")

    def __init__(self):
        super().__init__()
        self.folder = tempfile.mkdtemp(dir=QUICK)
        self.now = 1_767_225_600_000
        self.memory = Memory(os.path.join(self.folder, "m.afl"), passphrase=self.passphrase, clock=lambda: self.now, telemetry="off")
        self.model = Model()
        self.last = None

    def teardown(self):
        self.memory.close()
        reopened = Memory(os.path.join(self.folder, "m.afl"), passphrase=self.passphrase, clock=lambda: self.now, telemetry="off")
        assert reopened.verify()["problems"] == []
        reopened.close()
        shutil.rmtree(self.folder)

    # ------------------------------------------------------------------------------------------------------------------------------ what may be done

    def fields(self, subject, relation, word):
        return {"subject": subject, "relation": relation, "object": word, "namespace": "shared", "created_at": self.now}

    def address(self, fields):
        return make(GrainType.FACT, fields, self.now).hash

    def before(self):
        self.last = copy.deepcopy(self.model)

    def refuses(self, code, call):
        with pytest.raises(StoreError) as refused:
            call()
        assert refused.value.code == code

    @initialize(target=known)
    def begin(self):
        return multiple()

    @rule(target=known, subject=st.sampled_from(SUBJECTS), relation=st.sampled_from(RELATIONS), word=st.sampled_from(WORDS), step=STEP)
    def add(self, subject, relation, word, step):
        self.now += step
        self.last = None
        fields = self.fields(subject, relation, word)
        if (subject, relation, word) in self.model.buried:
            self.refuses("AFL-STORE-030", lambda: self.memory.add("fact", fields))
            self.refuses("AFL-STORE-030", lambda: self.memory.add_batch([{"type": "fact", **fields, "object": f" {word.upper()}\u200b"}]))
            return multiple()
        address = self.memory.add("fact", fields)
        self.model.add(address, fields)
        return address

    @rule(target=known, subject=st.sampled_from(SUBJECTS), word=st.sampled_from(WORDS), step=STEP)
    def add_fact(self, subject, word, step):
        self.now += step
        self.last = None
        key = (subject, "tier")
        same = [one for one in sorted(self.model.of(key)) if self.model.facts[one].fields["object"] == word]
        if same:
            assert self.memory.add_fact(subject, "tier", word) == same[0]
            return multiple()
        if (*key, word) in self.model.buried:
            self.refuses("AFL-STORE-030", lambda: self.memory.add_fact(subject, "tier", word))
            return multiple()
        address = self.memory.add_fact(subject, "tier", word)
        self.model.add(address, self.fields(subject, "tier", word))
        return address

    @rule(target=known, old=known, subject=st.sampled_from([None, *SUBJECTS]), word=st.sampled_from(WORDS), step=STEP)
    def supersede(self, old, subject, word, step):
        self.now += step
        kept = self.model.facts.get(old)
        if kept is None or kept.by is not None:
            self.refuses("AFL-STORE-020" if kept is None else "AFL-STORE-021", lambda: self.memory.supersede(old, object=word))
            return multiple()
        fields = {**kept.fields, "subject": subject or kept.fields["subject"], "object": word, "created_at": self.now}
        address = self.address(fields)

        def call():
            return self.memory.supersede(old, subject=fields["subject"], object=word)

        if (fields["subject"], fields["relation"], word) in self.model.buried:
            self.refuses("AFL-STORE-030", call)
            return multiple()
        there = self.model.facts.get(address)
        if address == old or (there is not None and there.by not in (None, WITHDRAWN)):
            self.refuses("AFL-STORE-021", call)
            return multiple()
        self.before()
        assert call() == address
        self.model.supersede(old, address, fields)
        self.undoable = old
        return address

    @rule(loser=known, winner=known)
    def link(self, loser, winner):
        pair = [self.model.facts.get(one) for one in (loser, winner)]
        if loser == winner or any(one is None or one.by is not None for one in pair):
            with pytest.raises(StoreError):
                self.memory.supersede_by(loser, winner)
            return
        self.before()
        self.memory.supersede_by(loser, winner)
        self.model.link(loser, winner)
        self.undoable = loser

    @rule(address=known)
    def retract(self, address):
        kept = self.model.facts.get(address)
        if kept is None or kept.by is not None:
            with pytest.raises(StoreError):
                self.memory.retract(address)
            return
        self.before()
        self.memory.retract(address)
        self.model.retract(address)
        self.undoable = address

    @rule(address=consumes(known), keep_out=st.booleans())
    def forget(self, address, keep_out):
        self.last = None
        kept = self.model.facts.get(address)
        if kept is None:
            self.refuses("AFL-STORE-020", lambda: self.memory.forget(address))
            return
        assert self.memory.forget(address, dry_run=True) == [address]
        assert self.memory.get(address)["hash"] == address
        assert self.memory.forget(address, keep_out=keep_out) == [address]
        if keep_out:
            self.model.buried.add((kept.fields["subject"], kept.fields["relation"], kept.fields["object"]))
        self.model.forget(address)

    @rule(subject=st.sampled_from(SUBJECTS))
    def forget_subject(self, subject):
        self.last = None
        gone = [
            one
            for one in self.model.facts
            if self.model.key(one)[0] in (subject, *(each for each in SUBJECTS if each.startswith(subject + "#")))
        ]
        assert sorted(self.memory.forget_subject(subject)) == sorted(gone)
        order = [row["hash"] for row in self._forgotten(len(gone))]
        for address in order:
            self.model.forget(address)

    def _forgotten(self, count):
        rows = self.memory._files.reader().execute("SELECT hash FROM operations WHERE op = 'forget' ORDER BY n DESC LIMIT ?", (count,))
        return reversed(rows.fetchall())

    @precondition(lambda self: self.model.buried)
    @rule(data=st.data())
    def allow(self, data):
        subject, relation, word = data.draw(st.sampled_from(sorted(self.model.buried)))
        assert self.memory.allow("fact", subject=subject, relation=relation, object=f"{word} ".upper())
        assert not self.memory.allow("fact", subject=subject, relation=relation, object=word)
        self.model.buried.discard((subject, relation, word))

    @rule(target=known, subject=st.sampled_from(SUBJECTS), word=st.sampled_from(WORDS), age=st.sampled_from([-5000, 5]))
    def arrives_from_elsewhere(self, subject, word, age):
        """As an import does it: one more head."""
        self.last = None
        key = (subject, "tier")
        fields = {**self.fields(subject, "tier", word), "created_at": self.now + age, "source_type": "import"}
        grain = make(GrainType.FACT, fields, self.now)
        if grain.hash in self.model.facts:
            return multiple()
        with self.memory._files.writer() as db:
            grains.insert(db, grain, cover=self.memory._cover)
            head = HeadKey("shared", *key)
            grains.set_heads(db, head, [*grains.heads(db, head, self.memory._cover), grain.hash], self.memory._cover)
        tips = self.model.of(key)
        self.model.add(grain.hash, fields)
        self.model.heads[key] = tips | {grain.hash}
        return grain.hash

    @rule(target=known, subject=st.sampled_from(SUBJECTS), word=st.sampled_from(WORDS), step=STEP)
    def merge(self, subject, word, step):
        self.now += step
        key = (subject, "tier")
        tips = self.model.of(key)
        if len(tips) < 2:
            self.refuses("AFL-STORE-031", lambda: self.memory.merge_heads(subject, "tier", word))
            return multiple()
        if (*key, word) in self.model.buried:
            self.refuses("AFL-STORE-030", lambda: self.memory.merge_heads(subject, "tier", word))
            return multiple()
        fields = {**self.fields(subject, "tier", word), "context": {"merge_parents": sorted(tips)}}
        if self.address(fields) in self.model.facts:
            return multiple()
        self.before()
        address = self.memory.merge_heads(subject, "tier", word)
        self.undoable = min(tips)
        self.model.merge(key, address, fields)
        return address

    @precondition(lambda self: self.last is not None)
    @rule()
    def undo(self):
        """What was done last leaves everything as it was; a grain that was made for it is withdrawn."""
        made = self.model.facts.keys() - self.last.facts.keys()
        self.memory.undo(self.undoable)
        for address in made:
            self.last.facts[address] = copy.deepcopy(self.model.facts[address])
            self.last.facts[address].by = WITHDRAWN
        self.last.buried = self.model.buried
        self.model, self.last = self.last, None

    @rule(address=known)
    def undo_late(self, address):
        """Later, the grain is live again, and whatever heads there are now are live ones."""
        kept = self.model.facts.get(address)
        self.last = None
        try:
            self.memory.undo(address)
        except StoreError:
            return
        db, cover = self.memory._files.reader(), self.memory._cover
        for one, there in self.model.facts.items():
            there.by = grains.place_of(db, one)[1]
        assert kept.by is None
        for key in {self.model.key(one) for one in self.model.facts}:
            self.model.heads[key] = set(grains.heads(db, HeadKey("shared", *key), cover))
            live = self.model.live(key)
            assert self.model.heads[key] <= set(live)
            assert bool(self.model.heads[key]) == bool(live)

    # ---------------------------------------------------------------------------------------------------------------------------- what must hold

    @invariant()
    def heads_latest_and_forks(self):
        forks = {}
        for key in {(subject, relation) for subject in SUBJECTS for relation in RELATIONS}:
            tips = self.model.of(key)
            latest = self.memory.latest(*key)
            assert (latest["hash"] if latest else None) == self.model.newest(tips)
            if len(tips) > 1:
                forks[key] = tips
        told = {(one["subject"], one["relation"]): {head["hash"] for head in one["heads"]} for one in self.memory.forks()}
        assert told == forks

    @invariant()
    def history(self):
        for key in {self.model.key(one) for one in self.model.facts}:
            told = self.memory.history(*key)
            assert {one["hash"] for one in told} == self.model.said(key)
            assert all(one["superseded_by"] == self.model.facts[one["hash"]].by for one in told)
            times = [one["created_at"] for one in told]
            assert times == sorted(times, reverse=True)
            assert len(told) == len({one["hash"] for one in told})

    @invariant()
    def recall(self):
        for subject in SUBJECTS:
            found = {one["hash"] for one in self.memory.recall(subject, k=500)}
            assert found == {one for one in self.model.live() if self.model.key(one)[0] == subject}

    @invariant()
    def search(self):
        for word in WORDS:
            found = {one["hash"] for one in self.memory.search(word, k=500)}
            assert found == {one for one in self.model.live() if self.model.facts[one].fields["object"] == word}

    @invariant()
    def whole(self):
        stats = self.memory.stats()
        assert (stats["grains"], stats["live"]) == (len(self.model.facts), len(self.model.live()))
        assert stats["kept_out"] == len(self.model.buried)


class SealedMachine(MemoryMachine):
    """A sealed memory beside the same model."""

    passphrase = "correct horse"


class TestInClear(MemoryMachine.TestCase):
    settings = settings(max_examples=60, stateful_step_count=30, deadline=None)


class TestSealed(SealedMachine.TestCase):
    settings = settings(max_examples=10, stateful_step_count=25, deadline=None)


@pytest.fixture(autouse=True)
def _quick_passphrase(monkeypatch):
    monkeypatch.setattr(content, "COST", 2**4)
