"""Which words of a person ask for a review at once, and at what of the agent they point."""

from __future__ import annotations

import pytest

from afl_core.store.connection import writing

WINDOW_MS = 900_000


def interrupted(tape):
    return tape.person("do it").agent("doing it the wrong way").cut()


@pytest.mark.parametrize(("later_ms", "expected"), [(WINDOW_MS - 1000, 1), (WINDOW_MS, 0)])
def test_words_just_inside_the_window_are_a_correction_and_just_outside_are_not(world, tape, later_ms, expected):
    interrupted(tape).wait(later_ms).person("no, the other way")
    world.absorb()
    assert len(world.signals()) == expected
    assert world.waiting()[-1] == ("no, the other way", expected)


def test_an_interruption_without_a_time_counts(world, tape):
    tape.person("do it").agent("doing it the wrong way").cut(timestamp=...).wait(10 * WINDOW_MS).person("no, the other way")
    world.absorb()
    assert world.signals() == [("interruption", "no, the other way", "message", "doing it the wrong way")]


def test_words_without_a_time_count(world, tape):
    interrupted(tape).person("no, the other way", timestamp=...)
    world.absorb()
    assert len(world.signals()) == 1


def test_a_clock_that_was_set_back_does_not_hide_a_correction(world, tape):
    interrupted(tape).wait(-600_000).person("no, the other way")
    world.absorb()
    assert len(world.signals()) == 1


def test_only_the_first_words_after_an_interruption_are_its_correction(world, tape):
    interrupted(tape).person("no, the other way").agent("yes").person("thanks")
    world.absorb()
    assert [signal[1] for signal in world.signals()] == ["no, the other way"]


def test_an_interruption_followed_by_a_completed_turn_is_over(world, tape):
    interrupted(tape)
    tape.record(
        "user", promptId="other", origin={"kind": "task-notification"}, message={"role": "user", "content": "<task-notification>done"}
    )
    tape.agent("A task ended.").person("now something else")
    world.absorb()
    assert world.signals() == []


def test_text_that_was_flushed_after_the_interruption_does_not_end_it(world, tape):
    interrupted(tape).agent("the rest of the sentence").person("no, the other way")
    world.absorb()
    assert [signal[0] for signal in world.signals()] == ["interruption"]


def test_a_turn_that_was_cut_before_anything_was_kept_gets_an_event_to_point_at(world, tape):
    tape.person("do it", turn="t7").cut().person("no, the other way")
    world.absorb()
    assert world.signals() == [("interruption", "no, the other way", "turn_cut", "")]
    parent, turn = world.db.execute("SELECT parent_id, turn FROM events WHERE kind = 'turn_cut'").fetchone()
    assert world.db.execute("SELECT text FROM events WHERE event_id = ?", (parent,)).fetchone()[0] == "do it"
    assert turn == "t7"


def test_two_interruptions_in_a_row_are_one(world, tape):
    tape.person("do it").cut().cut().person("no, the other way")
    world.absorb()
    assert len(world.events("kind")) == 3
    assert len(world.signals()) == 1


def test_an_ordinary_second_message_is_no_signal(world, tape):
    tape.person("do it").agent("done").person("and now that")
    world.absorb()
    assert world.signals() == []
    assert world.waiting() == [("do it", 0), ("and now that", 0)]


def test_steering_points_at_what_the_agent_did_last(world, tape):
    tape.person("do it").agent("I will sleep").call("c1", command="sleep 5").steering("never sleep")
    world.absorb()
    assert world.signals() == [("steering", "never sleep", "tool_call", '{"command":"sleep 5"}')]


def test_steering_before_the_agent_did_anything_is_only_an_addition(world, tape):
    tape.person("do it").steering("and quickly").agent("done")
    world.absorb()
    assert world.signals() == []
    assert ("and quickly", 0) in world.waiting()


def test_words_of_a_rejection_point_at_the_rejected_call_and_not_at_the_last_one(world, tape):
    tape.person("clean up").call("c1", command="rm -rf build").call("c2", command="ls").rejected("c1", "move it instead")
    world.absorb()
    assert world.signals() == [("rejection", "move it instead", "tool_call", '{"command":"rm -rf build"}')]


def test_a_rejection_whose_call_was_forgotten_points_at_the_agents_last_act(world, tape):
    tape.person("clean up").agent("I clean up").rejected("unknown", "leave it")
    world.absorb()
    assert world.signals() == [("rejection", "leave it", "message", "I clean up")]


def test_a_rejection_by_policy_is_no_signal(world, tape):
    tape.person("clean up").call("c1").result(
        "c1", "denied", True, toolDenialKind="user-rejected", permissionDecision={"decision": "reject", "source": "config"}
    )
    world.absorb()
    assert world.signals() == []


def test_the_referent_may_have_been_stored_long_before_the_words(world, tape):
    interrupted(tape)
    world.absorb()
    tape.person("no, the other way")
    world.absorb()
    assert [signal[3] for signal in world.signals()] == ["doing it the wrong way"]


def test_a_signal_whose_referent_was_erased_meanwhile_is_an_ordinary_message(world, tape):
    interrupted(tape)
    world.absorb()
    with writing(world.db):
        world.db.execute("DELETE FROM events WHERE role = 'assistant'")
    tape.person("no, the other way")
    world.absorb()
    assert world.signals() == []
    assert world.waiting()[-1] == ("no, the other way", 0)


def test_words_and_their_referent_in_one_stretch_of_many_transactions_are_joined(world, tape):
    tape.person("do it")
    for number in range(300):
        tape.agent(f"step {number}")
    tape.cut().person("stop")
    world.absorb()
    assert world.signals() == [("interruption", "stop", "message", "step 299")]


def test_a_summary_and_meta_text_are_not_kept_as_anybodys_words(world, tape):
    tape.person("one").compacted().person("injected", isMeta=True).agent("two")
    world.absorb()
    assert world.messages() == [("user", "one"), ("assistant", "two")]


def test_old_words_are_kept_but_do_not_ask_for_a_review_by_themselves(world, tape):
    world.now = tape.start + 3 * 86_400_000
    tape.person("an old request").agent("wrong").cut().person("an old correction")
    world.absorb()
    assert len(world.messages()) == 3
    assert world.waiting() == [("an old correction", 1)]


def test_every_event_of_a_session_has_its_own_sequence_number_whatever_the_turn_ids_say(world, tape):
    tape.person("one", turn="7").steering("two").steering("three")
    world.absorb()
    assert world.sequences() == [1, 2, 3]


def gone_back(tape):
    """Two answered prompts; then the person goes back to before the second and asks something else."""
    tape.person("one").agent("first answer")
    before = tape.last
    tape.person("two").agent("second answer").person("another", parentUuid=before).agent("third answer")
    return tape


def test_words_after_going_back_point_at_what_the_agent_did_last(world, tape):
    gone_back(tape)
    world.absorb()
    assert world.signals() == [("rewind", "another", "message", "second answer")]
    assert [text for text, immediate in world.waiting() if immediate] == ["another"]


def test_going_back_with_nothing_of_the_agent_since_only_withdraws_words(world, tape):
    tape.person("one").agent("first answer")
    before = tape.last
    tape.person("two").person("another", parentUuid=before)
    world.absorb()
    assert world.signals() == []


def test_a_withdrawn_prompt_has_the_number_of_the_next_and_is_no_signal(world, tape):
    first, second = ({"promptIndex": number, "turnIndex": number} for number in (1, 2))
    tape.person("one", turnPosition=first).agent("done").person("two", turnPosition=second).person("another", turnPosition=second)
    world.absorb()
    assert world.signals() == []


def test_going_back_over_two_turns_is_one_signal(world, tape):
    first, second = ({"promptIndex": number, "turnIndex": number} for number in (1, 2))
    tape.person("one", turnPosition=first).agent("first answer").person("two", turnPosition=second).agent("second answer")
    tape.person("another", turnPosition=first)
    world.absorb()
    assert world.signals() == [("rewind", "another", "message", "second answer")]


def test_a_fork_of_a_session_that_went_back_has_no_signal_of_its_own(world, worlds, tape, home):
    gone_back(tape)
    world.absorb()
    fork = worlds.Tape(home / "fork.jsonl", prefix="f")
    fork.path.write_bytes(tape.path.read_bytes())
    fork.last = tape.last
    fork.person("in the fork")
    done = world.absorb(world.session(fork.path, "claude:fork"))
    assert (done.born, done.signals) == (1, 0)
    assert world.signals() == [("rewind", "another", "message", "second answer")]
    assert world.messages("claude:fork") == [("user", "in the fork")]


def test_going_back_in_a_fork_is_a_signal_of_the_fork(world, worlds, tape, home):
    tape.person("one").agent("first answer")
    before = tape.last
    tape.person("two").agent("second answer")
    world.absorb()
    fork = worlds.Tape(home / "fork.jsonl", prefix="f")
    fork.path.write_bytes(tape.path.read_bytes())
    fork.person("another", parentUuid=before)
    world.absorb(world.session(fork.path, "claude:fork"))
    assert world.signals() == [("rewind", "another", "message", "second answer")]
    assert world.messages("claude:fork") == [("user", "another")]
