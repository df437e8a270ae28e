"""Whatever happened to a memory: its bundle makes an equal one, and the order in which bundles come makes no difference to the heads."""

from __future__ import annotations

import tempfile

import attrs
from exchange_world import NOW, STEPS, happen, heads, live, opened, seen
from hypothesis import given, settings
from hypothesis import strategies as st

MANY = settings(max_examples=120)


def sound(memory):
    report = memory.verify()
    assert report["ok"], report["problems"]


@MANY
@given(STEPS)
def test_a_bundle_taken_into_an_empty_memory_makes_an_equal_one(steps):
    with tempfile.TemporaryDirectory() as folder, opened(f"{folder}/a.afl") as memory, opened(f"{folder}/b.afl") as empty:
        happen(memory, steps)
        memory.export(f"{folder}/a.jsonl")
        empty.import_(f"{folder}/a.jsonl")
        assert seen(empty) == seen(memory)
        sound(empty)


@MANY
@given(STEPS, STEPS)
def test_a_bundle_taken_in_twice_changes_nothing_the_second_time(steps, more):
    with tempfile.TemporaryDirectory() as folder, opened(f"{folder}/a.afl") as memory, opened(f"{folder}/b.afl", NOW + 50_000) as other:
        happen(memory, steps)
        happen(other, more)
        memory.export(f"{folder}/a.jsonl")
        other.import_(f"{folder}/a.jsonl")
        before = seen(other)
        report = other.import_(f"{folder}/a.jsonl")
        assert (report.added, report.changed, report.erased) == (0, 0, 0)
        assert seen(other) == before
        sound(other)


@MANY
@given(STEPS, STEPS, STEPS)
def test_two_machines_that_diverged_come_to_the_same_heads_in_either_order(common, here, there):
    with (
        tempfile.TemporaryDirectory() as folder,
        opened(f"{folder}/a.afl") as one,
        opened(f"{folder}/b.afl", NOW + 50_003) as two,
        opened(f"{folder}/x.afl") as first,
        opened(f"{folder}/y.afl") as second,
    ):
        happen(one, common)
        one.export(f"{folder}/common.jsonl")
        two.import_(f"{folder}/common.jsonl")
        happen(one, here)
        happen(two, there)
        one.export(f"{folder}/a.jsonl")
        two.export(f"{folder}/b.jsonl")
        for memory, order in ((first, "ab"), (second, "ba")):
            for name in order:
                memory.import_(f"{folder}/{name}.jsonl")
            sound(memory)
        assert heads(first) == heads(second)
        assert live(first) == live(second)
        one.import_(f"{folder}/b.jsonl")
        two.import_(f"{folder}/a.jsonl")
        assert heads(one) == heads(two) == heads(first)


@MANY
@given(STEPS, STEPS, STEPS)
def test_a_dry_run_tells_what_the_import_then_tells_and_changes_nothing(common, here, there):
    with tempfile.TemporaryDirectory() as folder, opened(f"{folder}/a.afl") as one, opened(f"{folder}/b.afl", NOW + 50_003) as two:
        happen(one, common)
        one.export(f"{folder}/common.jsonl")
        two.import_(f"{folder}/common.jsonl")
        happen(one, here)
        happen(two, there)
        two.export(f"{folder}/b.jsonl")
        before = seen(one)
        foreseen = one.import_(f"{folder}/b.jsonl", dry_run=True)
        assert seen(one) == before
        assert attrs.evolve(foreseen, dry_run=False) == one.import_(f"{folder}/b.jsonl")


@MANY
@given(STEPS)
def test_an_older_bundle_of_the_same_memory_brings_nothing_back(steps):
    with tempfile.TemporaryDirectory() as folder, opened(f"{folder}/a.afl") as memory:
        happen(memory, steps[:7])
        memory.export(f"{folder}/a.jsonl")
        happen(memory, steps[7:])
        before = seen(memory)
        memory.import_(f"{folder}/a.jsonl")
        assert seen(memory) == before


@settings(max_examples=40)
@given(STEPS, st.integers(0, 1_000_000), st.integers(0, 7), st.booleans())
def test_a_bundle_with_one_bit_changed_or_cut_short_is_refused_whole(steps, place, bit, cut):
    from afl_core.model.errors import AflError

    with tempfile.TemporaryDirectory() as folder, opened(f"{folder}/a.afl") as memory, opened(f"{folder}/b.afl") as empty:
        memory.add("fact", subject="acme", relation="is", object="here")
        happen(memory, steps)
        memory.export(f"{folder}/a.jsonl")
        with open(f"{folder}/a.jsonl", "rb") as file:
            data = bytearray(file.read())
        place %= len(data)
        if cut:
            data = data[:place]
        else:
            data[place] ^= 1 << bit
        with open(f"{folder}/a.jsonl", "wb") as file:
            file.write(data)
        try:
            report = empty.import_(f"{folder}/a.jsonl")
        except AflError:
            assert empty.stats()["grains"] == 0
        else:
            # Only the header's words that promise nothing (the namespace it was narrowed to) may differ.
            assert seen(empty) == seen(memory), report


def test_equal_memories_give_equal_bytes(tmp_path):
    with opened(tmp_path / "a.afl") as memory:
        for number in range(50):
            memory.add_fact("acme", f"r{number % 5}", str(number))
        memory.export(tmp_path / "one.jsonl")
        memory.export(tmp_path / "two.jsonl")
    assert (tmp_path / "one.jsonl").read_bytes() == (tmp_path / "two.jsonl").read_bytes()
