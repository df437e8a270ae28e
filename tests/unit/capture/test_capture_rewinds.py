"""Words that follow a step back, words that came while the agent worked although the host kept nothing of its work, and words found late."""

from __future__ import annotations

import json

import pytest

from afl_core.model.observation import Cut, Rewound, Said, Speaker, Spot


class Told:
    """An adapter whose records name the observation they are."""

    name = "told"

    def wants(self, head):
        return True

    def parse(self, lines, state):
        return [one for line in lines for one in self._of(line.offset, json.loads(line.data))], {}

    def _of(self, offset, body):
        kind, text = body
        at_ms = 1_796_024_300_000 + offset
        if kind == "back":
            return [Rewound(Spot(offset), at_ms=at_ms)]
        if kind == "over":
            words = Said(Spot(offset, 1), Speaker.PERSON, text, native_id=f"{text}:{offset}", turn="t", at_ms=at_ms, steering=True)
            return [Cut(Spot(offset), native_id=f"{text}:{offset}", turn="t", at_ms=at_ms, possible=True), words]
        if kind == "kept":
            return [Said(Spot(offset), Speaker.PERSON, text, native_id=f"{text}:{offset}", turn="t", at_ms=at_ms, recovered=True)]
        speaker = Speaker.PERSON if kind == "person" else Speaker.AGENT
        return [Said(Spot(offset), speaker, text, native_id=f"{text}:{offset}", turn="t", at_ms=at_ms)]


@pytest.fixture
def tell(world, home):
    """Write records, then read them with the adapter above; gives the signals."""

    def read(*records, file="t.jsonl"):
        path = home / file
        with path.open("ab") as transcript:
            transcript.writelines(json.dumps(record).encode() + b"\n" for record in records)
        world.sync(path, adapter=Told())
        return world.signals()

    return read


def test_words_after_a_step_back_point_at_what_the_agent_had_done(tell):
    assert tell(("person", "do it"), ("agent", "done wrongly"), ("back", ""), ("person", "do it by hand")) == [
        ("rewind", "do it by hand", "message", "done wrongly")
    ]


def test_going_back_before_the_agent_did_anything_only_withdraws_the_words(tell, world):
    assert tell(("person", "do ti"), ("back", ""), ("person", "do it")) == []
    assert world.messages() == [("user", "do ti"), ("user", "do it")]


def test_only_the_first_words_after_a_step_back_are_a_signal(tell):
    told = tell(("person", "a"), ("agent", "b"), ("back", ""), ("person", "c"), ("agent", "d"), ("person", "e"))
    assert [words for _kind, words, _referent, _text in told] == ["c"]


def test_a_step_back_is_remembered_between_two_reads(tell):
    assert tell(("person", "a"), ("agent", "b"), ("back", "")) == []
    assert tell(("person", "c")) == [("rewind", "c", "message", "b")]


def test_an_agent_that_goes_on_after_a_step_back_ends_it(tell):
    assert tell(("person", "a"), ("agent", "b"), ("back", ""), ("agent", "c"), ("person", "d")) == []


def test_words_over_work_that_was_not_kept_point_at_the_cut_turn(tell, world):
    assert tell(("person", "a"), ("over", "no, b")) == [("possible_steering", "no, b", "turn_cut", "")]
    assert [kind for kind in world.events("kind") if kind == "turn_cut"] == ["turn_cut"]


def test_words_over_work_that_was_kept_are_plain_steering(tell, world):
    assert tell(("person", "a"), ("agent", "so far"), ("over", "no, b")) == [("steering", "no, b", "message", "so far")]
    assert "turn_cut" not in world.events("kind")


def test_the_agent_after_possible_steering_makes_the_next_one_plain(tell):
    told = tell(("person", "a"), ("over", "b"), ("agent", "c"), ("over", "d"))
    assert [signal[0] for signal in told] == ["possible_steering", "steering"]


def test_a_session_that_goes_on_in_another_file_goes_on_behind_the_first(tell, world):
    assert tell(("person", "do it"), ("agent", "done wrongly")) == []
    assert tell(("back", ""), ("person", "do it by hand"), file="u.jsonl") == [("rewind", "do it by hand", "message", "done wrongly")]
    assert world.messages() == [("user", "do it"), ("assistant", "done wrongly"), ("user", "do it by hand")]
    assert tell(("agent", "late end of the first file")) == [("rewind", "do it by hand", "message", "done wrongly")]
    assert [text for _role, text in world.messages()][2:] == ["late end of the first file", "do it by hand"]


def test_recovered_words_are_evidence_and_answer_nothing(tell, world):
    assert tell(("person", "a"), ("agent", "b"), ("back", ""), ("kept", "said long ago"), ("person", "c")) == [
        ("rewind", "c", "message", "b")
    ]
    assert ("user", "said long ago") in world.messages()


def test_recovered_words_do_not_hide_the_agents_work_from_steering(tell):
    assert tell(("person", "a"), ("agent", "so far"), ("kept", "said long ago"), ("over", "no")) == [
        ("steering", "no", "message", "so far")
    ]
