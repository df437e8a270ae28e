"""The rules of the scenario suite refuse what they are there to refuse."""

from __future__ import annotations

import attrs
import capture_world
import pytest

from afl_core.model.event import EventKind, Role, SignalKind
from afl_core.store import events
from afl_core.testing.claude_recordings import claude_recording
from afl_core.testing.conformance.outcome import Outcome, Seen, judge
from afl_core.testing.conformance.recording import CannotTell, Hook, Recording
from afl_core.testing.conformance.rules import RULES
from afl_core.testing.contracts.scenarios import HostScenarios

WORDS = {"request": "do it", "correction": "not so", "context": "<card nonce=0123456789abcdef>", "prompt": "<note>", "before": "one", "after": "two",
         "summary": "summed up", "shared": "both", "new": "mine", "answer": "done"}  # fmt: skip


def recording():
    return Recording("/home/dev", {}, (), (Hook("Prompt", {}, 0, {}),), WORDS)


def said(text, role=Role.USER, kind=EventKind.MESSAGE, *, thread=0, epoch=1, is_error=None):
    return Seen(thread, kind, role, text, "t", epoch, "c", "Bash", is_error, None, "whole")


def outcome(*seen, **more):
    waiting = tuple((one.text, False) for one in seen if one.kind is EventKind.MESSAGE and one.role is Role.USER)
    told = {"signals": (), "queue": waiting, "epochs": (1,), "grains": (), "deliveries": (), **more}
    return Outcome(tuple(seen), **told)


ANSWER = said("done", Role.ASSISTANT)
CALL = said("{}", Role.ASSISTANT, EventKind.TOOL_CALL)
REQUEST, CORRECTION = said("do it"), said("not so")
POINTS = (SignalKind.INTERRUPTION, "not so", EventKind.MESSAGE, Role.ASSISTANT, "done")
AT_ONCE = (("do it", False), ("not so", True))

HOLDS = {
    "plain": outcome(REQUEST, ANSWER),
    "interrupted_then_corrected": outcome(REQUEST, ANSWER, CORRECTION, signals=(POINTS,), queue=AT_ONCE),
    "rejected_with_words": outcome(
        REQUEST, CALL, CORRECTION, signals=((SignalKind.REJECTION, "not so", EventKind.TOOL_CALL, Role.ASSISTANT, "{}"),), queue=AT_ONCE
    ),
    "compacted": outcome(said("one"), said("two", epoch=2), epochs=(2,)),
    "forked": outcome(said("both"), ANSWER, said("mine", thread=1), epochs=(1, 1)),
    "injected": outcome(REQUEST, ANSWER, deliveries=("reached",)),
    "machine_prompts": outcome(REQUEST, ANSWER),
    "tool_success": outcome(REQUEST, CALL, said("", Role.ASSISTANT, EventKind.TOOL_RESULT, is_error=False), grains=(("Bash", False),)),
    "same_text_twice": outcome(REQUEST, REQUEST),
}

BROKEN = [
    ("plain", outcome(ANSWER)),
    ("plain", outcome(REQUEST, REQUEST, ANSWER)),
    ("plain", outcome(REQUEST)),
    ("plain", outcome(REQUEST, ANSWER, queue=())),
    ("plain", outcome(REQUEST, ANSWER, queue=(("do it", True),))),
    ("plain", outcome(REQUEST, ANSWER, signals=(POINTS,))),
    ("plain", outcome(REQUEST, ANSWER, epochs=(2,))),
    ("plain", outcome(REQUEST, ANSWER, deliveries=("reached",))),
    ("interrupted_then_corrected", outcome(REQUEST, ANSWER, CORRECTION)),
    ("interrupted_then_corrected", outcome(REQUEST, ANSWER, CORRECTION, signals=(POINTS, POINTS), queue=AT_ONCE)),
    ("interrupted_then_corrected", outcome(REQUEST, CORRECTION, signals=((SignalKind.REWIND, *POINTS[1:]),), queue=AT_ONCE)),
    ("interrupted_then_corrected", outcome(REQUEST, CORRECTION, signals=((POINTS[0], "do it", *POINTS[2:]),), queue=AT_ONCE)),
    ("interrupted_then_corrected", outcome(REQUEST, CORRECTION, signals=((*POINTS[:3], Role.USER, "done"),), queue=AT_ONCE)),
    ("interrupted_then_corrected", outcome(REQUEST, CORRECTION, signals=(POINTS,))),
    ("rejected_with_words", outcome(REQUEST, CALL, CORRECTION, signals=((SignalKind.REJECTION, *POINTS[1:]),), queue=AT_ONCE)),
    ("rejected_with_words", attrs.evolve(HOLDS["rejected_with_words"], grains=(("Bash", True),))),
    ("compacted", outcome(said("one"), said("two"), epochs=(2,))),
    ("compacted", outcome(said("one"), said("two", epoch=2))),
    ("compacted", outcome(said("one"), said("it is summed up", Role.ASSISTANT), said("two", epoch=2), epochs=(2,))),
    ("forked", outcome(said("both"), ANSWER, said("mine"), epochs=(1, 1))),
    ("forked", outcome(said("both"), ANSWER, said("both", thread=1), said("mine", thread=1), epochs=(1, 1))),
    ("injected", outcome(REQUEST, ANSWER)),
    ("injected", outcome(REQUEST, ANSWER, deliveries=("unconfirmed",))),
    ("injected", outcome(REQUEST, said("done <card nonce=0123456789abcdef>", Role.ASSISTANT), deliveries=("reached",))),
    ("machine_prompts", outcome(REQUEST, said("<note>ready"), ANSWER)),
    ("tool_success", outcome(REQUEST, CALL, said("", Role.ASSISTANT, EventKind.TOOL_RESULT, is_error=True), grains=(("Bash", True),))),
    ("tool_success", outcome(REQUEST, CALL, said("", Role.ASSISTANT, EventKind.TOOL_RESULT, is_error=False))),
    ("same_text_twice", outcome(REQUEST)),
]


@pytest.mark.parametrize("scenario", HOLDS)
def test_what_a_rule_asks_for_is_accepted(scenario):
    assert judge(RULES[scenario], recording(), HOLDS[scenario]) is None, "it raises where a rule is broken"


@pytest.mark.parametrize(("scenario", "found"), BROKEN, ids=[f"{number}-{name}" for number, (name, _) in enumerate(BROKEN)])
def test_what_breaks_a_rule_is_refused(scenario, found):
    with pytest.raises(AssertionError):
        judge(RULES[scenario], recording(), found)


class OneCase(HostScenarios):
    """A suite over whatever the test gives it."""

    host = "claude"
    told: Recording | CannotTell

    def plugins(self):
        return capture_world.PLUGINS

    def recording(self, scenario):
        return self.told


@pytest.mark.parametrize("scenario", [name for name, rule in RULES.items() if not rule.optional])
def test_what_every_host_has_cannot_be_left_out(scenario):
    suite = OneCase()
    suite.told = CannotTell("there is nothing like it in this host")
    with pytest.raises(AssertionError, match="every host has this"):
        suite.test_the_transcript_alone_tells_what_the_rule_says(scenario)


def test_a_host_that_cannot_tell_says_why():
    suite = OneCase()
    suite.told = CannotTell("no")
    with pytest.raises(AssertionError, match="say why"):
        suite.test_the_transcript_alone_tells_what_the_rule_says("rewound")


def test_a_recording_names_the_words_of_its_rule():
    suite = OneCase()
    suite.told = claude_recording("rewound", request="alpha prompt")
    with pytest.raises(AssertionError, match="undone, instead"):
        suite.test_the_transcript_alone_tells_what_the_rule_says("rewound")


def test_a_fork_whose_records_are_taken_for_new_ones_fails_the_suite(monkeypatch):
    monkeypatch.setattr(events, "elsewhere", lambda *_: {})
    suite = OneCase()
    suite.told = claude_recording("forked_turns", shared="first prompt", new="fork prompt", answer="Forked answer.")
    with pytest.raises(AssertionError, match="a person said"):
        suite.test_the_transcript_alone_tells_what_the_rule_says("forked")


def test_hooks_that_bear_a_second_event_fail_the_suite(monkeypatch):
    monkeypatch.setattr(events, "unseen_by", lambda *_: [])
    monkeypatch.setattr(events, "unseen_in_turn", lambda *_: [])
    suite = OneCase()
    suite.told = claude_recording("one_turn", request="say hello", answer="Hello from the mock.")
    with pytest.raises(AssertionError):
        suite.test_hooks_tell_the_same_as_the_transcript_alone("plain", "hooks first, the transcript long after")
