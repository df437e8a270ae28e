"""When something that waits is worth a pass: nobody works on it, and no pass has just left it as it was."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from afl_core.worker.ripening import AGAIN_S, Ripening

WAITING = {"a": "1", "b": "7"}


def test_at_the_first_look_everything_is_ripe_for_nobody_was_there_before():
    assert Ripening().ripe(WAITING, 0.0) == ["a", "b"]


def test_later_a_thing_is_ripe_when_it_is_seen_twice_with_the_same_mark():
    one = Ripening()
    one.ripe({}, 0.0)
    assert one.ripe({"a": "1"}, 60.0) == []
    assert one.ripe({"a": "2"}, 120.0) == []  # somebody works on it
    assert one.ripe({"a": "2"}, 180.0) == ["a"]


def test_what_a_pass_left_as_it_was_rests_longer_and_longer():
    one, now = Ripening(), 0.0
    one.ripe({"a": "1"}, now)
    for wait in (*AGAIN_S, AGAIN_S[-1]):
        one.passed({"a": "1"}, {"a": "1"}, now)
        assert one.ripe({"a": "1"}, now + wait - 1) == []
        now += wait
        assert one.ripe({"a": "1"}, now) == ["a"]


def test_what_a_pass_moved_does_not_rest_and_starts_anew():
    one = Ripening()
    one.ripe({"a": "1"}, 0.0)
    one.passed({"a": "1"}, {"a": "1"}, 0.0)
    one.passed({"a": "2"}, {"a": "1"}, 1_000.0)
    assert one.ripe({"a": "2"}, 1_000.0) == ["a"]
    one.passed({"a": "2"}, {"a": "2"}, 1_000.0)
    assert one.ripe({"a": "2"}, 1_000.0 + AGAIN_S[0]) == ["a"]


def test_one_stuck_thing_does_not_keep_another_waiting():
    one = Ripening()
    one.ripe({"stuck": ""}, 0.0)
    one.passed({"stuck": ""}, {"stuck": ""}, 0.0)
    one.ripe({"stuck": "", "new": ""}, 60.0)
    assert one.ripe({"stuck": "", "new": ""}, 120.0) == ["new"]


looks = st.dictionaries(st.sampled_from("abcd"), st.sampled_from("123"), max_size=4)


@given(st.lists(st.tuples(looks, st.booleans()), max_size=30))
def test_whatever_stays_unmoved_gets_a_pass_within_its_longest_rest(history):
    one, now = Ripening(), 0.0
    for waiting, has_pass in history:
        now += 60.0
        if one.ripe(waiting, now) and has_pass:
            one.passed(waiting, waiting, now)
    one.ripe({"a": "1"}, now + 60.0)
    assert one.ripe({"a": "1"}, now + 120.0 + AGAIN_S[-1]) == ["a"]


@given(st.lists(looks, max_size=30))
def test_only_what_waits_is_ever_ripe(history):
    one = Ripening()
    for number, waiting in enumerate(history):
        assert set(one.ripe(waiting, 60.0 * number)) <= waiting.keys()
