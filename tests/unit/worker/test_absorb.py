"""One pass over one session: tool grains, epochs, deliveries, the queue, and what is told to observers."""

from __future__ import annotations

import json

import attrs
import capture_world as worlds
import pytest

from afl_core.capture import sync as syncing
from afl_core.model.errors import AflError
from afl_core.store import deliveries, status
from afl_core.store.connection import writing
from afl_providers_claude.host import ClaudeHost


@pytest.fixture
def world(home):
    made = worlds.World(home)
    made.session(home / "t.jsonl")
    yield made
    made.close()


@pytest.fixture
def tape(home):
    return worlds.Tape(home / "t.jsonl")


def grains(world):
    return [json.loads(row[0]) for row in world.db.execute("SELECT fields_json FROM grains WHERE type = 'tool' ORDER BY seq")]


# tool grains


def test_a_tool_call_is_a_small_grain_with_its_outcome(world, tape):
    tape.person("go").call("c1", "Bash", command="make").result("c1", "Exit code 2\nno rule", True)
    world.absorb()
    (grain,) = grains(world)
    assert (grain["tool_name"], grain["tool_call_id"], grain["is_error"], grain["exit_code"]) == ("Bash", "c1", True, 2)
    assert (grain["input"], grain["error"], grain["duration_ms"]) == ('{"command":"make"}', "Exit code 2\nno rule", 1000)
    assert world.db.execute("SELECT signature FROM grains").fetchone()[0]


def test_a_success_keeps_none_of_its_text(world, tape):
    tape.person("go").call("c1").result("c1", "the whole source code")
    world.absorb()
    assert "source code" not in str(grains(world)) + str(world.events("text"))
    assert grains(world)[0]["is_error"] is False


def test_input_and_error_are_bounded(world, tape):
    tape.person("go").call("c1", command="word " * 2000).result("c1", "Exit code 1\n" + "line of an error\n" * 2000, True)
    world.absorb()
    (grain,) = grains(world)
    assert len(grain["input"]) <= 512
    assert len(grain["error"]) <= 1024


def test_a_call_is_one_grain_however_often_its_result_is_read(world, tape):
    tape.person("go").call("c1").result("c1", "x").result("c1", "x again")
    world.absorb()
    tape.path.write_bytes(tape.path.read_bytes().replace(b"x again", b"y again") + b"\n")
    world.absorb()
    assert len(grains(world)) == 1


def test_a_refused_call_did_not_run(world, tape):
    tape.person("go").call("c1").rejected("c1", "no")
    world.absorb()
    assert grains(world) == []


def test_a_result_whose_call_was_never_seen_is_no_grain(world, tape):
    tape.person("go").result("c1", "x")
    world.absorb()
    assert grains(world) == []


def test_a_call_and_its_result_in_different_passes_are_one_grain(world, tape):
    tape.person("go").call("c1", "Read", file_path="/x")
    world.absorb()
    tape.result("c1", "File does not exist.", True)
    world.absorb()
    assert [(grain["tool_name"], grain["is_error"]) for grain in grains(world)] == [("Read", True)]


def test_a_result_seen_at_the_end_before_its_call_still_becomes_a_grain(world, tape, monkeypatch):
    monkeypatch.setattr(syncing.Transcript.tail, "__kwdefaults__", {"size": 500})
    tape.person("go").call("c1").agent("meanwhile").result("c1", "x")
    world.tail(tape.path)
    world.absorb()
    assert len(grains(world)) == 1


# epochs


def test_a_compaction_that_a_hook_announced_opens_one_epoch(world, tape):
    tape.person("one").compacted()
    world.hook("session_start", None, source="compact")
    world.absorb()
    tape.person("two")
    world.absorb()
    assert world.epoch() == 2
    assert world.events("text", "epoch") == [("one", 1), ("two", 2)]


def test_a_compaction_that_no_hook_announced_opens_one_epoch(world, tape):
    tape.person("one")
    world.absorb()
    tape.compacted().person("two").compacted().person("three")
    world.absorb()
    world.absorb()
    assert world.epoch() == 3
    assert world.events("text", "epoch") == [("one", 1), ("two", 2), ("three", 3)]


def test_a_hook_that_ran_long_before_its_record_was_read_opens_one_epoch(world, tape):
    world.hook("session_start", None, source="compact", at=tape.start)
    tape.person("one").compacted().person("two")
    world.now = tape.start + 86_400_000
    world.absorb()
    assert world.epoch() == 2
    assert world.events("text", "epoch") == [("one", 1), ("two", 2)]


def test_a_hook_that_comes_shortly_after_its_record_was_read_opens_one_epoch(world, tape):
    tape.person("one").compacted()
    world.now = tape.start + tape.at + 500
    world.absorb()
    assert world.epoch() == 1
    world.hook("session_start", None, source="compact")
    tape.person("two")
    world.now += 3_600_000
    world.absorb()
    assert world.epoch() == 2
    assert world.events("text", "epoch") == [("one", 1), ("two", 2)]


def test_a_compaction_whose_hook_never_comes_opens_its_epoch_in_a_later_pass(world, tape):
    tape.person("one").compacted()
    world.now = tape.start + tape.at + 500
    world.absorb()
    world.now += 31_000
    world.absorb()
    assert world.epoch() == 2


def test_where_the_host_has_no_hook_for_a_compaction_none_is_waited_for(world, tape, monkeypatch):
    silent = attrs.evolve(ClaudeHost().manifest(), compaction_sources=())
    monkeypatch.setattr(ClaudeHost, "manifest", lambda _self: silent)
    tape.person("one").compacted()
    world.now = tape.start + tape.at + 500
    world.absorb()
    assert world.epoch() == 2
    tape.person("two")
    world.absorb()
    assert world.epoch() == 2
    assert world.events("text", "epoch") == [("one", 1), ("two", 2)]


def test_a_hook_that_waited_longer_than_its_record_opens_one_epoch(world, tape):
    tape.person("one").compacted()
    happened = tape.start + tape.at
    world.now = happened + 3_600_000
    world.absorb()
    assert world.epoch() == 2
    world.hook("session_start", None, source="compact", at=happened + 200)
    assert world.epoch() == 2
    tape.person("two")
    world.absorb()
    assert world.epoch() == 2


def test_of_two_compactions_whose_hooks_waited_neither_is_counted_twice(world, tape):
    first = tape.person("one").compacted().start + tape.at
    second = tape.wait(600_000).compacted().start + tape.at
    world.now = second + 3_600_000
    world.absorb()
    assert world.epoch() == 3
    for moment in (first + 200, second + 200):
        world.hook("session_start", None, source="compact", at=moment)
    assert world.epoch() == 3


def test_a_compaction_after_the_ones_that_were_counted_opens_its_epoch_at_once(world, tape):
    tape.person("one").compacted()
    world.now = tape.start + tape.at + 3_600_000
    world.absorb()
    world.hook("session_start", None, source="compact")
    assert world.epoch() == 3


def test_earlier_compactions_do_not_wait_for_the_hook_of_the_last(world, tape):
    tape.person("one").compacted().wait(600_000).compacted()
    world.now = tape.start + tape.at
    world.absorb()
    assert world.epoch() == 2


def test_a_missed_hook_and_a_later_one_open_one_epoch_each(world, tape):
    tape.person("one").compacted().person("two")
    world.absorb()
    world.hook("session_start", None, source="compact")
    tape.compacted().person("three")
    world.absorb()
    assert world.epoch() == 3


def test_reading_a_replaced_file_again_opens_no_epoch(world, tape, home):
    tape.person("one").compacted().person("two")
    world.absorb()
    (home / "copy").write_bytes(tape.path.read_bytes())
    (home / "copy").replace(tape.path)
    world.absorb()
    assert world.epoch() == 2
    assert world.events("text", "epoch") == [("one", 1), ("two", 2)]


def test_looking_at_the_end_first_opens_no_epoch_twice(world, tape):
    tape.person("one").compacted().person("two")
    world.tail(tape.path)
    world.absorb()
    assert world.epoch() == 2


# deliveries


def emitted(world, nonce="0123456789abcdef", at=None):
    with writing(world.db):
        card = deliveries.Emission("L1", 1, worlds.SESSION, 1, nonce, "i1", "{}", worlds.RECORDED_MS if at is None else at)
        deliveries.emitted(world.db, [card])


def test_a_nonce_in_the_transcript_proves_the_delivery(world, tape):
    emitted(world)
    tape.person("go").shown("[agent-feedback-loop memory]\ncard\nnonce=0123456789abcdef").agent("done")
    done = world.absorb()
    assert done.reached == ["L1"]
    assert [row.state for row in deliveries.of_session(world.db, worlds.SESSION)] == ["reached"]


def test_an_answer_without_the_nonce_leaves_the_delivery_unconfirmed(world, tape):
    emitted(world)
    tape.person("go").agent("done")
    assert world.absorb().reached == []
    assert [row.state for row in deliveries.of_session(world.db, worlds.SESSION)] == ["unconfirmed"]


def test_a_proof_that_stands_before_hundreds_of_answers_is_not_overtaken_by_them(world, tape):
    emitted(world)
    tape.person("go").shown("nonce=0123456789abcdef")
    for number in range(300):
        tape.agent(f"step {number}")
    states = []

    def look(step):
        if step == "committed":
            states.append(deliveries.of_session(world.db, worlds.SESSION)[0].state)

    world.absorb(checkpoint=look)
    assert set(states) == {"reached"}


# the rest of a pass


def test_a_session_nobody_knows_and_one_without_a_plugin_are_told_apart(world, home):
    assert world.absorb("claude:unknown").problem == ""
    world.session(home / "t.jsonl", "other:1")
    with writing(world.db):
        world.db.execute("UPDATE sessions SET host = 'other' WHERE session_id = 'other:1'")
    done = world.absorb("other:1")
    assert done.code == "AFL-CAPTURE-007"
    assert "'other'" in done.problem


def test_a_correction_gets_its_review_at_once(world, tape):
    world.now = tape.start + 10_000
    tape.person("go").agent("wrongly").cut().person("no!")
    done = world.absorb()
    assert len(done.reviews) == 1
    assert world.db.execute("SELECT immediate FROM reviews").fetchone()[0] == 1


def test_with_nothing_waiting_no_write_lock_is_taken(world):
    import contextlib

    from afl_core.store.connection import connect
    from afl_core.worker.due import evaluate

    with contextlib.closing(connect(world.home.paths.database)) as other, writing(other):
        assert evaluate(world.db, world.home.settings, world.now) == []


def test_words_become_due_by_age_in_a_pass_over_another_session(world, tape, home):
    world.now = tape.start + 2000
    tape.person("an ordinary request")
    assert world.absorb().reviews == []
    world.session(home / "none.jsonl", "claude:other")
    world.now += world.home.settings.review_max_age * 1000 + 1000
    assert len(world.absorb("claude:other").reviews) == 1
    assert world.absorb("claude:other").reviews == []


def test_the_steps_of_a_pass_come_in_order(world, tape):
    tape.person("go")
    steps = []
    world.absorb(checkpoint=steps.append)
    assert steps == ["sealed", "before-commit", "committed", "caught-up", "read", "adopted", "submitted"]


def test_a_session_without_hooks_is_seen_through_its_transcript(world, tape):
    with writing(world.db):
        world.db.execute("UPDATE sessions SET seen_ms = 0")
    tape.person("go").agent("done")
    world.absorb()
    assert world.db.execute("SELECT seen_ms FROM sessions").fetchone()[0] == tape.start + 2000


def test_a_record_of_the_future_does_not_make_a_session_look_alive(world, tape):
    before = world.db.execute("SELECT seen_ms FROM sessions").fetchone()[0]
    tape.wait(10**9).person("go")
    world.absorb()
    assert world.db.execute("SELECT seen_ms FROM sessions").fetchone()[0] == before


def test_observers_are_told_once_of_every_event(world, tape, monkeypatch):
    told = []
    monkeypatch.setattr(world.home.registry, "tell", lambda hook, **what: told.append((hook, what["event"]["text"])))
    tape.person("one").agent("two")
    world.absorb()
    world.hook("prompt", "only a hook", at=tape.start)
    world.absorb()
    tape.person("only a hook", turn="t1")
    world.absorb()
    assert told == [("afl_event_captured", text) for text in ("one", "two", "only a hook")]


def test_an_observer_that_fails_is_counted_and_not_felt(world, tape):
    import types

    from afl_core.spec.marker import hookimpl

    def afl_event_captured(event):
        raise RuntimeError(event["text"])

    plugin = types.SimpleNamespace(afl_event_captured=hookimpl(afl_event_captured))
    world.home.registry._manager.register(plugin, name="faulty")
    tape.person("one").agent("two")
    assert world.absorb().born == 2
    assert world.home.guard.ledger.read("faulty", "afl_event_captured").failures == 2


def test_a_missing_keystore_does_not_stop_the_transcript_from_being_read(world, tape, monkeypatch):
    world.hook("prompt", "hook only", at=tape.start)

    def locked(*_a):
        raise worlds_error

    from afl_core.model.errors import VaultError

    worlds_error = VaultError("locked", code="AFL-VAULT-007")
    monkeypatch.setattr(world.home.opener, "open", locked)
    tape.person("go")
    done = world.absorb()
    assert (done.born, done.code) == (1, "AFL-VAULT-007")


def test_a_failed_pass_names_its_error(world):
    from afl_core.worker.absorb import Absorbed

    done = Absorbed("s")
    done.failed(AflError("what happened", code="AFL-X-1"))
    assert (done.problem, done.code) == ("what happened", "AFL-X-1")


def test_capture_that_is_off_keeps_nothing(world, tape):
    with writing(world.db):
        status.set_meta(world.db, "capture_enabled", "0")
    tape.person("go")
    assert world.absorb().born == 0
    assert world.db.execute("SELECT count(*) FROM cursors").fetchone()[0] == 0
