"""What is believed of the end of a transcript before the rest of it was read."""

from __future__ import annotations

from afl_core.capture.tail import self_contained
from afl_core.model.observation import Compacted, Cut, Said, Speaker, Spot, ToolCalled, ToolReturned

SPOT = Spot(0)


def person(text="words", **more):
    return Said(SPOT, Speaker.PERSON, text, **more)


def agent(text="answer", turn=None):
    return Said(SPOT, Speaker.AGENT, text, turn=turn)


def call(ident, turn=None):
    return ToolCalled(SPOT, ident, "Bash", "{}", turn=turn)


def result(ident):
    return ToolReturned(SPOT, ident, "", is_error=False)


def test_a_turn_that_begins_here_is_understood():
    whole = [person(), agent(), call("c"), result("c"), Cut(SPOT), person("no")]
    assert self_contained(whole) == whole


def test_what_stands_before_the_first_known_turn_is_left_out():
    assert self_contained([agent(), call("c"), result("c"), person(), agent()]) == [person(), agent()]


def test_a_record_that_names_its_turn_is_a_beginning_too():
    assert self_contained([agent(), agent(turn="t"), call("c")]) == [agent(turn="t"), call("c")]


def test_a_result_without_its_call_is_left_out():
    assert self_contained([person(), result("c"), agent()]) == [person(), agent()]


def test_a_call_that_is_left_out_takes_its_result_with_it():
    assert self_contained([call("c"), person(), result("c")]) == [person()]


def test_a_rejection_without_its_call_is_left_out():
    refused = person("no", rejects="c")
    assert self_contained([person(), refused]) == [person()]
    assert self_contained([person(), call("c"), refused]) == [person(), call("c"), refused]


def test_an_interruption_of_a_turn_that_is_not_here_is_left_out():
    machine = Said(SPOT, Speaker.MACHINE, "<task-notification>", turn="t")
    assert self_contained([machine, Cut(SPOT), person()]) == [machine, person()]
    assert self_contained([machine, agent(), Cut(SPOT)]) == [machine, agent(), Cut(SPOT)]


def test_steering_and_rejections_begin_no_turn():
    assert self_contained([person("x", steering=True), agent()]) == []


def test_what_stands_before_a_compaction_is_left_out():
    assert self_contained([person("old"), agent(), Compacted(SPOT), person("new")]) == [person("new")]
