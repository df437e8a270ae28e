"""One event for everybody who saw it: hooks and transcripts in either order, late, wrapped, repeated, or alone."""

from __future__ import annotations

import json

import pytest

from afl_core.model.errors import VaultError
from afl_core.store.connection import writing

GRACE_MS = 120_000


@pytest.fixture
def now(world, tape):
    """The world's clock stands shortly after the transcript's start."""
    world.now = tape.start + 2_000
    return world.now


def later(world, ms=GRACE_MS + 1):
    world.now += ms
    return world.absorb()


def test_a_hook_first_and_the_transcript_after_it_are_one_event(world, tape, now):
    ident = world.hook("prompt", "do it")
    world.absorb()
    tape.person("do it", turn="t1")
    world.absorb()
    assert world.messages() == [("user", "do it")]
    assert world.sightings() == [("hook", "do it"), ("transcript", "do it")]
    assert world.states() == {ident: "joined"}


def test_a_transcript_first_and_the_hook_after_it_are_one_event(world, tape, now):
    tape.person("do it", turn="t1").agent("done")
    world.absorb()
    ident = world.hook("prompt", "do it")
    later(world)
    assert world.messages() == [("user", "do it"), ("assistant", "done")]
    assert world.states() == {ident: "joined"}


def test_a_transcript_first_and_the_hook_after_it_without_a_turn_are_one_event(world, tape, now):
    tape.person("do it", turn="t1")
    world.absorb()
    ident = world.hook("prompt", "do it", turn=None)
    later(world)
    assert world.messages() == [("user", "do it")]
    assert world.states() == {ident: "joined"}


def test_the_same_text_twice_in_a_turn_is_two_events_each_with_its_own_sightings(world, tape, now):
    first, second = world.hook("prompt", "again"), world.hook("prompt", "again")
    tape.person("again", turn="t1").steering("again")
    world.absorb()
    assert world.messages() == [("user", "again"), ("user", "again")]
    assert world.states() == {first: "joined", second: "joined"}
    assert world.db.execute("SELECT count(DISTINCT event_id) FROM sightings WHERE source = 'hook'").fetchone()[0] == 2
    assert later(world).adopted == 0


def test_the_same_text_twice_of_which_the_transcript_shows_one_is_two_events(world, tape, now):
    world.hook("prompt", "again")
    world.hook("prompt", "again", turn="t2")
    tape.person("again", turn="t1")
    world.absorb()
    assert later(world).adopted == 1
    assert world.messages() == [("user", "again"), ("user", "again")]
    tape.person("again", turn="t2")
    world.absorb()
    assert len(world.messages()) == 2
    assert len(world.sightings()) == 4


def test_words_that_only_a_hook_saw_wait_for_the_grace_and_are_then_born_from_the_sealed_payload(world, now):
    ident = world.hook("prompt", "only the hook saw this")
    world.absorb()
    assert world.events() == []
    done = later(world)
    assert done.adopted == 1
    assert world.events("role", "text", "completeness", "turn", "epoch") == [("user", "only the hook saw this", "hook_only", "t1", 1)]
    assert world.events("blob") == [None]
    assert list(world.home.blobs.names()) == []  # the index says all of it
    assert world.waiting() == [("only the hook saw this", 0)]
    assert world.states() == {ident: "born"}
    assert world.db.execute("SELECT sealed FROM intake").fetchone()[0] is None


def test_of_words_that_only_a_hook_saw_the_payload_is_kept_where_the_index_does_not_say_all(world, now):
    world.hook("prompt", "the password: Tr0ub4dor&3x")
    assert later(world).adopted == 1
    [text] = world.events("text")
    assert "Tr0ub4dor" not in text
    assert json.loads(world.raw(text))["prompt"] == "the password: Tr0ub4dor&3x"


def test_an_ended_session_waits_only_seconds(world, now):
    world.hook("prompt", "the last words")
    with writing(world.db):
        world.db.execute("UPDATE sessions SET ended_ms = ?", (world.now,))
    assert world.absorb().adopted == 0
    assert later(world, 5_000).adopted == 1


def test_a_hook_dated_in_the_future_does_not_wait_for_that_day(world, now):
    world.hook("prompt", "from a wrong clock", at=world.now + 10**9)
    assert world.absorb().adopted == 1


def test_a_late_record_joins_the_event_that_the_hook_gave_birth_to(world, tape, now):
    world.hook("prompt", "late", size=0)
    later(world)
    tape.person("late", turn="t1").agent("wrong").cut().person("no")
    done = world.absorb()
    assert done.joined == 1
    assert world.messages() == [("user", "late"), ("assistant", "wrong"), ("user", "no")]
    assert world.events("offset", "native_id", "completeness")[0] == (0, "u1", "whole")
    assert len(world.waiting()) == 2


def test_a_late_record_that_is_steering_still_becomes_its_signal(world, tape, now):
    tape.person("do it", turn="t1").agent("doing it wrongly")
    world.hook("prompt", "not like that")
    world.hook("prompt", "do it")
    later(world)
    assert ("not like that", 0) in world.waiting()
    tape.steering("not like that")
    world.absorb()
    assert [signal[:2] for signal in world.signals()] == [("steering", "not like that")]
    assert ("not like that", 1) in world.waiting()


def test_a_long_paste_that_the_host_wrapped_is_one_event(world, tape, now):
    ident = world.hook("prompt", "fix this: " + "x" * 3000)
    tape.person('fix this: <pasted_content id="1">' + "x" * 3000 + "</pasted_content>", turn="t1")
    later(world)
    assert len(world.messages()) == 1
    assert world.states() == {ident: "joined"}


def test_a_wrapped_paste_whose_record_comes_late_joins_too(world, tape, now):
    world.hook("prompt", "fix this: " + "x" * 3000)
    later(world)
    tape.person('fix this: <pasted_content id="1">' + "x" * 3000 + "</pasted_content>", turn="t1")
    world.absorb()
    assert len(world.messages()) == 1
    assert world.events("completeness") == ["whole"]


def test_another_message_of_the_turn_does_not_pass_for_the_one_only_a_hook_saw(world, tape, now):
    world.hook("prompt", "withdrawn")
    later(world)
    world.now = now
    world.hook("prompt", "kept")
    tape.person("kept", turn="t1")
    world.absorb()
    assert sorted(world.messages()) == [("user", "kept"), ("user", "withdrawn")]


def test_a_slash_command_is_not_words_and_a_path_is(world, now):
    command = world.hook("prompt", "/compact now", turn="a")
    path = world.hook("prompt", "/etc/hosts is the wrong file", turn="b")
    later(world)
    assert world.states() == {command: "ignored", path: "born"}
    assert world.messages() == [("user", "/etc/hosts is the wrong file")]


def test_a_stop_whose_answer_is_late_in_the_file_waits_for_it(world, tape, now):
    tape.person("do it", turn="t1").agent("Let me look.")
    ident = world.hook("stop", "All done.")
    world.absorb()
    assert world.states()[ident] == "new"
    tape.agent("All done.")
    world.absorb()
    assert world.states()[ident] == "joined"
    assert world.messages() == [("user", "do it"), ("assistant", "Let me look."), ("assistant", "All done.")]


def test_a_stop_whose_answer_never_comes_is_not_taken_for_another_message_of_the_turn(world, tape, now):
    tape.person("do it", turn="t1").agent("Let me look.")
    world.hook("stop", "All done.")
    world.absorb()
    assert later(world).adopted == 1
    assert ("assistant", "All done.") in world.messages()
    assert len(world.messages()) == 3


def test_a_stop_that_names_a_part_of_the_answer_is_that_answer(world, tape, now):
    tape.person("do it", turn="t1").agent("First part.\n\nSecond part.")
    world.hook("stop", "Second part.")
    world.absorb()
    assert later(world).adopted == 0
    assert len(world.messages()) == 2


def test_an_answer_spaced_otherwise_that_only_a_stop_told_of_is_the_record_that_comes_late(world, tape, now):
    world.hook("stop", "Done.")
    later(world)
    assert world.messages() == [("assistant", "Done.")]
    tape.person("do it", turn="t1").agent("Done. \n")
    world.absorb()
    assert world.messages() == [("user", "do it"), ("assistant", "Done. \n")]


def test_an_answer_of_two_parts_that_only_a_stop_told_of_is_their_records(world, tape, now):
    world.hook("stop", "First part.\n\nSecond part.")
    later(world)
    tape.person("do it", turn="t1").agent("First part.").agent("Second part.")
    world.absorb()
    assert world.messages() == [("user", "do it"), ("assistant", "First part."), ("assistant", "Second part.")]
    assert ("hook", "First part.") in world.sightings()


def test_another_answer_of_the_turn_is_not_the_one_only_a_stop_told_of(world, tape, now):
    world.hook("stop", "All is done.")
    later(world)
    tape.person("do it", turn="t1").agent("Let me look.")
    world.absorb()
    assert sorted(world.messages()) == [("assistant", "All is done."), ("assistant", "Let me look."), ("user", "do it")]


def test_a_locked_keystore_makes_hook_only_words_wait_and_loses_nothing(world, now, monkeypatch):
    first, second = world.hook("prompt", "one"), world.hook("prompt", "two", turn="t2")

    def locked(context, record):
        raise VaultError("the keystore is locked", code="AFL-VAULT-007")

    with monkeypatch.context() as patched:
        patched.setattr(world.home.opener, "open", locked)
        done = later(world)
        assert (done.adopted, done.problem, done.code) == (0, "the keystore is locked", "AFL-VAULT-007")
    assert world.states() == {first: "new", second: "new"}
    assert world.absorb().adopted == 2
    assert world.messages() == [("user", "one"), ("user", "two")]


def test_one_record_that_does_not_open_keeps_no_other_waiting(world, now):
    broken, good = world.hook("prompt", "broken"), world.hook("prompt", "good", turn="t2")
    with writing(world.db):
        sealed = world.db.execute("SELECT sealed FROM intake WHERE intake_id = ?", (broken,)).fetchone()[0]
        world.db.execute("UPDATE intake SET sealed = ? WHERE intake_id = ?", (sealed + b"!", broken))
    assert later(world).adopted == 1
    assert world.states() == {broken: "ignored", good: "born"}
    assert world.messages() == [("user", "good")]


def test_a_payload_that_the_hook_had_to_cut_gives_what_is_there(world, now):
    world.hook("prompt", "the beginning of", total=10**6)
    assert later(world).adopted == 1
    assert world.messages() == [("user", "the beginning of")]


def test_words_with_half_a_surrogate_pair_can_be_kept(world, now):
    world.hook("prompt", "broken \ud83d emoji")
    assert later(world).adopted == 1
    assert world.messages() == [("user", "broken ? emoji")]


def test_a_secret_shown_before_is_hidden_in_words_only_a_hook_saw(world, tape, now):
    tape.person("my password: Tr0ub4dor&3x", turn="t0").agent("ok")
    world.absorb()
    world.hook("prompt", "I mean Tr0ub4dor&3x of course", turn="t9")
    later(world)
    assert "Tr0ub4dor" not in str(world.events("text"))


def test_a_hook_row_of_another_session_is_not_taken(world, tape, now):
    world.session(tape.path.with_name("other.jsonl"), "claude:other")
    ident = world.hook("prompt", "do it", session_id="claude:other")
    tape.person("do it", turn="t1")
    world.absorb()
    assert world.states() == {ident: "new"}


def test_a_hook_without_a_turn_does_not_take_an_older_message_of_the_same_text(world, tape, now):
    tape.person("yes", turn="t1").agent("done")
    world.absorb()
    world.now += 3_600_000
    world.hook("prompt", "yes", turn=None)
    assert later(world).adopted == 1
    assert world.messages().count(("user", "yes")) == 2


def test_a_queued_message_that_got_a_turn_of_its_own_is_still_one_event(world, tape, now):
    ident = world.hook("prompt", "in celsius", turn="old")
    tape.wait(GRACE_MS).person("in celsius", turn="new")
    world.absorb()
    assert world.messages() == [("user", "in celsius")]
    assert world.states() == {ident: "joined"}


def test_the_hook_of_this_very_turn_is_a_better_match_than_an_old_event_of_the_same_text(world, tape, now):
    world.hook("prompt", "yes", turn="t1")
    later(world)
    fresh = world.hook("prompt", "yes", turn="t2")
    tape.person("yes", turn="t2")
    world.absorb()
    assert sorted(world.events("turn", "completeness")) == [("t1", "hook_only"), ("t2", "whole")]
    assert world.states()[fresh] == "joined"


@pytest.fixture
def fork(world, tape, worlds):
    """A session that was forked from the first one after its answer; gives the fork's own tape."""
    tape.person("fix it", turn="t1").agent("All done and every test passes.")
    world.absorb()
    copy = tape.path.with_name("fork.jsonl")
    copy.write_bytes(tape.path.read_bytes())
    world.session(copy, "claude:s-2")
    own = worlds.Tape(copy, start=tape.start, prefix="f")
    own.at = tape.at
    return own


def handed_over(world, event_text):
    from afl_core.review import handoff
    from afl_core.store import events

    event_id = world.db.execute("SELECT event_id FROM events WHERE text = ?", (event_text,)).fetchone()[0]
    near = handoff._neighbours(world.db, events.get(world.db, event_id))
    return [events.get(world.db, one).text for one in near]


def test_what_a_fork_copied_is_sighted_by_it_and_kept_once(world, fork):
    fork.person("You never ran them.")
    world.absorb("claude:s-2")
    world.absorb("claude:s-2")
    assert world.messages() == [("user", "fix it"), ("assistant", "All done and every test passes.")]
    assert world.messages("claude:s-2") == [("user", "You never ran them.")]
    sighted = "SELECT text FROM sightings JOIN events USING (event_id) WHERE sightings.session_id = 'claude:s-2' ORDER BY source_id"
    assert {row[0] for row in world.db.execute(sighted)} == {"fix it", "All done and every test passes.", "You never ran them."}


def test_the_first_words_in_a_fork_are_handed_over_with_what_it_was_forked_from(world, fork, tape):
    tape.person("something that the fork never saw").agent("and its answer")
    world.absorb()
    fork.person("You never ran them.")
    world.absorb("claude:s-2")
    assert handed_over(world, "You never ran them.") == ["All done and every test passes.", "fix it"]


def test_with_enough_words_of_its_own_a_fork_needs_none_of_its_origin(world, fork):
    for number in range(6):
        fork.agent(f"step {number}")
    fork.person("stop that")
    world.absorb("claude:s-2")
    assert handed_over(world, "stop that") == [f"step {number}" for number in (5, 4, 3, 2, 1, 0)]


def test_a_fork_that_reads_its_copy_again_changes_nothing_of_the_origin(world, fork):
    fork.compacted().person("later")
    world.absorb("claude:s-2")
    before = world.events("text", "epoch", "manifest_json")
    data = fork.path.read_bytes()
    fork.path.unlink()
    fork.path.write_bytes(b"\n" + data)  # read anew from its start, now with two epochs in the store
    world.absorb("claude:s-2")
    assert world.events("text", "epoch", "manifest_json") == before
    assert world.messages("claude:s-2") == [("user", "later")]
