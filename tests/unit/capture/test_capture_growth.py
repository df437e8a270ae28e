"""However a transcript grows and however it is cut into reads, the rows at the end are those of reading it once."""

from __future__ import annotations

import attrs
import capture_world
import hypothesis
import pytest
from hypothesis import strategies as st

from afl_core.capture import batch
from afl_core.capture import sync as syncing
from afl_core.store import cursors, deliveries, sessions
from afl_core.store.connection import writing
from afl_core.testing.recorded import Recorded

NAMES = ("ask_question", "compacted", "denied_feedback", "interrupted_text", "interrupted_tool", "steering", "tools")


def mixed(worlds, path):
    """A transcript of everything at once, the secrets in it included; gives its bytes."""
    tape = worlds.Tape(path)
    tape.person("do it; the password: Tr0ub4dor&3x").agent("doing it with Tr0ub4dor&3x").call("c1", command="sleep 9").steering(
        "do not sleep"
    )
    tape.result("c1", "Exit code 2\nboom", True).cut().person("no!").call("c2", command="rm -rf x").rejected("c2", "leave it").compacted()
    tape.person("cut at once").cut().person("again").agent("ünïcode 漢字 " * 40).record("cost-state", x="y" * 900)
    with tape.path.open("ab") as file:
        file.write(b"broken\n\n\xff\xfe\n")
    tape.person("same", uuid=...).person("same", uuid=...).agent("done")
    tape.person("deploy").call("c3", command="deploy Tr0ub4dor&3x now").result("c3", "refused: Tr0ub4dor&3x", True).agent("no luck")
    return tape.path.read_bytes()


def read_whole(worlds, data, *, mixed_path="t.jsonl"):
    with worlds.fresh() as world:
        path = f"{world.root}/{mixed_path}"
        with open(path, "wb") as file:
            file.write(data)
        world.session(path)
        world.sync(path)
        return world.rows()


@pytest.fixture(scope="module")
def material():
    """Bytes and expected rows by name, made once."""
    worlds = capture_world
    found = {}
    with worlds.fresh() as world:
        found["mixed"] = mixed(worlds, f"{world.root}/mixed.jsonl")
    for name in NAMES:
        found[name] = Recorded.transcript(name)
    return {name: (data, read_whole(worlds, data)) for name, data in found.items()}


@hypothesis.settings(max_examples=25, suppress_health_check=[hypothesis.HealthCheck.too_slow])
@hypothesis.given(
    name=st.sampled_from(("mixed", *NAMES)), steps=st.lists(st.tuples(st.integers(1, 9000), st.integers(64, 40_000)), max_size=8)
)
def test_growing_by_any_bytes_and_reading_in_any_chunks_gives_the_same_rows(material, name, steps):
    worlds = capture_world
    data, expected = material[name]
    with worlds.fresh() as world:
        path = f"{world.root}/t.jsonl"
        world.session(path)
        at = 0
        for size, chunk in [*steps, (len(data), 300)]:
            with open(path, "ab") as file:
                file.write(data[at : at + size])
            at += size
            world.sync(path, chunk_bytes=chunk)
        assert world.rows() == expected


@pytest.mark.parametrize("name", ["mixed", *NAMES])
def test_looking_at_the_end_first_gives_the_same_rows(material, worlds, name, monkeypatch):
    data, expected = material[name]
    assert "Tr0ub4dor" not in str(expected)
    for size in (800, 2500, 6000, 20_000):
        monkeypatch.setattr(syncing.Transcript.tail, "__kwdefaults__", {"size": size})
        with worlds.fresh() as world:
            path = f"{world.root}/t.jsonl"
            with open(path, "wb") as file:
                file.write(data)
            world.session(path)
            if name in ("compacted", "autocompacted", "mixed"):  # the front heard of it
                with writing(world.db):
                    sessions.open_epoch(world.db, "claude:s-1", world.now)
            world.tail(path)
            world.tail(path)
            assert "Tr0ub4dor" not in str(world.rows())
            world.sync(path)
            assert {**world.rows(), "sessions": []} == {**expected, "sessions": []}, size


def test_proofs_at_the_end_of_a_file_that_is_far_ahead_of_the_cursor_are_seen_first_and_nothing_else(world, tape, monkeypatch):
    import afl_core.worker.absorb as absorbing

    monkeypatch.setattr(absorbing, "TAIL_FIRST_BYTES", 1000)
    monkeypatch.setattr(syncing.Transcript.tail, "__kwdefaults__", {"size": 1500})
    for number in range(50):
        tape.person(f"old {number}").agent("ok")
    tape.person("do it").shown("nonce=0123456789abcdef").agent("wrongly").cut().person("no!")
    with writing(world.db):
        card = deliveries.Emission("L1", 1, "claude:s-1", 1, "0123456789abcdef", "i1", "{}", tape.start)
        deliveries.emitted(world.db, [card])
    seen = []

    def look(*_args, **_more):
        seen.append((deliveries.of_session(world.db, "claude:s-1")[0].state, world.events(), world.waiting()))
        return batch.Report()

    monkeypatch.setattr(absorbing, "sync", look)
    assert world.absorb().reached == ["L1"]
    assert seen == [("reached", [], [])]


def test_hook_only_words_wait_until_everything_before_them_was_read(world, tape, monkeypatch):
    import functools

    import afl_core.worker.absorb as absorbing

    for number in range(60):
        tape.person(f"words {number}")
    tape.person("the password: Tr0ub4dor&3x")
    world.now = tape.start + 600_000
    ident = world.hook("prompt", "I said Tr0ub4dor&3x", turn="hook", at=tape.start)
    monkeypatch.setattr(absorbing, "sync", functools.partial(syncing.sync, limit=2000, chunk_bytes=500))
    done = world.absorb()
    assert (done.caught_up, done.adopted, world.states()[ident]) == (False, 0, "new")
    while not done.caught_up:
        done = world.absorb()
    assert done.adopted == 1
    assert "Tr0ub4dor" not in str(world.events("text"))


def test_a_stretch_is_stored_in_transactions_that_stay_short(world, tape):
    tape.person("go")
    for number in range(400):
        tape.agent(f"step {number}")
    sizes = []

    def consume(db, batch):
        assert db.in_transaction
        sizes.append(len(batch.newborn))

    world.sync(tape.path, consume=consume)
    assert sum(sizes) == 401
    assert max(sizes) <= syncing.DRAFTS_PER_TRANSACTION


def test_a_pass_stops_at_its_limit_and_says_that_it_has_not_caught_up(world, tape):
    for number in range(60):
        tape.person(f"words {number}")
    report = world.sync(tape.path, limit=2000, chunk_bytes=500)
    assert not report.caught_up
    assert 0 < report.born < 60
    while not report.caught_up:
        report = world.sync(tape.path, limit=2000, chunk_bytes=500)
    assert len(world.messages()) == 60


def test_a_stale_reader_stops_stores_nothing_and_announces_nothing(world, tape, monkeypatch):
    tape.person("one").agent("two")
    whole = cursors.get

    def stale(db, path):
        found = whole(db, path)
        return None if found is None else attrs.evolve(found, offset=0, version=found.version - 1, thread={}, state={})

    world.sync(tape.path)
    before = world.rows()
    tape.person("three")
    monkeypatch.setattr(cursors, "get", stale)
    told = []
    report = world.sync(tape.path, announce=told.extend)
    assert (report.caught_up, report.born, told) == (False, 0, [])
    assert world.rows() == before


def test_events_are_announced_after_they_are_committed(world, tape):
    tape.person("one").agent("two")
    told = []

    def announce(events):
        assert not world.db.in_transaction
        told.extend(event.text for event in events)

    world.sync(tape.path, announce=announce)
    assert told == ["one", "two"]
