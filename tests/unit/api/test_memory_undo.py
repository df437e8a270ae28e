"""What hid a grain is undone: at once everything is as it was, later as far as nobody changed it since."""

from __future__ import annotations

import pytest

from afl_core.model.errors import StoreError
from afl_core.model.grain import GrainType, HeadKey, make
from afl_core.store import grains

KEY = HeadKey("shared", "acme", "tier")


@pytest.fixture
def says(memory, clock):
    """Adds a fact about the thing, each a second later than the one before."""

    def saying(value, relation="tier"):
        clock.advance(seconds=1)
        return memory.add_fact("acme", relation, value)

    return saying


def heads(memory):
    return {memory.get(head)["object"] for head in grains.heads(memory._files.reader(), KEY)}


def fork(memory, clock, *values):
    with memory._files.writer() as db:
        for value in values:
            clock.advance(seconds=1)
            grain = make(GrainType.FACT, {"subject": "acme", "relation": "tier", "object": value}, clock())
            grains.insert(db, grain)
            grains.set_heads(db, KEY, [*grains.heads(db, KEY), grain.hash])
    return [one["hash"] for one in memory.recall("acme", "tier") if one["object"] in values]


def test_a_link_is_undone_without_harm_to_the_winner(memory, says):
    older, newer = says("gold"), says("silver")
    memory.supersede_by(newer, older)
    assert heads(memory) == {"gold"}
    assert memory.undo(newer) == "link"
    assert heads(memory) == {"silver"}
    assert len(memory.recall("acme")) == 2


def test_a_link_across_things_is_undone(memory, says):
    loser, winner = says("gold"), says("gold", "level")
    memory.supersede_by(loser, winner)
    assert heads(memory) == set()
    memory.undo(loser)
    assert heads(memory) == {"gold"}
    assert memory.latest("acme", "level")["hash"] == winner


def test_undoing_a_merge_brings_every_head_back(memory, clock):
    fork(memory, clock, "gold", "silver", "bronze")
    tips = sorted(grains.heads(memory._files.reader(), KEY))
    clock.advance(seconds=1)
    merged = memory.merge_heads("acme", "tier", "platinum")
    assert memory.get(merged)["context"] == {"merge_parents": tips}
    assert memory.undo(tips[1]) == "merge"
    assert heads(memory) == {"gold", "silver", "bronze"}
    assert memory.get(merged)["superseded_by"] == "withdrawn"
    assert memory.forks()[0]["heads"][0]["object"] == "bronze"


def test_of_a_fork_one_side_is_undone_and_the_other_stays_as_it_became(memory, clock):
    fork(memory, clock, "gold", "silver")
    gold, silver = (next(one["hash"] for one in memory.recall("acme") if one["object"] == value) for value in ("gold", "silver"))
    memory.supersede(gold, object="gold plus")
    memory.supersede(silver, object="silver plus")
    memory.undo(gold)
    assert heads(memory) == {"gold", "silver plus"}


def test_what_was_added_since_stays_the_head(memory, says, clock):
    old = says("gold")
    clock.advance(seconds=1)
    memory.supersede(old, object="silver")
    says("bronze")
    memory.undo(old)
    assert heads(memory) == {"bronze"}
    assert {one["object"] for one in memory.recall("acme")} == {"gold", "bronze"}


def test_a_retracted_head_takes_its_place_back_from_the_one_that_was_elected(memory, says):
    says("gold")
    newer = says("silver")
    memory.retract(newer)
    assert heads(memory) == {"gold"}
    assert memory.undo(newer) == "retract"
    assert heads(memory) == {"silver"}


def test_a_supersession_can_be_undone_and_done_again(memory, says, clock):
    old = says("gold")
    clock.advance(seconds=1)
    new = memory.supersede(old, object="silver")
    memory.undo(old)
    assert memory.supersede(old, object="silver", created_at=memory.get(new)["created_at"]) == new
    assert heads(memory) == {"silver"}
    assert memory.get(new)["derived_from"] == old


def test_a_superseded_grain_that_was_no_head_gives_its_successor_the_place_of_a_new_one(memory, says, clock):
    older = says("gold")
    says("silver")
    clock.advance(seconds=1)
    memory.supersede(older, object="bronze")
    assert heads(memory) == {"bronze"}
    assert memory.forks() == []
    memory.undo(older)
    assert heads(memory) == {"silver"}


def test_a_successor_that_changed_has_to_be_undone_first(memory, says, clock):
    old = says("gold")
    clock.advance(seconds=1)
    new = memory.supersede(old, object="silver")
    clock.advance(seconds=1)
    memory.supersede(new, object="bronze")
    for address in (old, "0" * 64):
        with pytest.raises(StoreError):
            memory.undo(address)
    memory.undo(new)
    memory.undo(old)
    assert heads(memory) == {"gold"}
    with pytest.raises(StoreError, match="nothing to undo"):
        memory.undo(old)


def test_a_forgotten_successor_leaves_nothing_to_undo(memory, says, clock):
    old = says("gold")
    clock.advance(seconds=1)
    new = memory.supersede(old, object="silver")
    memory.forget(new)
    with pytest.raises(StoreError) as refused:
        memory.undo(old)
    assert refused.value.code == "AFL-STORE-021"
