"""What capture stored of one scenario, comparable between ways of seeing it, and whether a rule holds of it."""

from __future__ import annotations

from typing import Any

import attrs

from afl_core.model.event import EventKind, Role, SignalKind
from afl_core.testing.conformance.recording import Recording
from afl_core.testing.conformance.rules import Pointing, Rule
from afl_core.testing.world import World


@attrs.frozen
class Seen:
    """One event; `thread` is the number of its session among the recording's."""

    thread: int
    kind: EventKind
    role: Role
    text: str
    turn: str | None
    epoch: int
    call_id: str | None
    tool_name: str | None
    is_error: bool | None
    exit_code: int | None
    completeness: str


@attrs.frozen
class Outcome:
    """Everything the rules speak of. `signals`: kind, the person's words, kind, role and text of what they point at; `queue`: words and whether they are
    to be reviewed at once; `grains`: tool name and whether it failed; `deliveries`: how far each came.
    """

    events: tuple[Seen, ...]
    signals: tuple[tuple[SignalKind, str, EventKind, Role, str], ...]
    queue: tuple[tuple[str, bool], ...]
    epochs: tuple[int, ...]
    grains: tuple[tuple[str, bool], ...]
    deliveries: tuple[str, ...]

    def said(self) -> list[str]:
        """A person's words in order."""
        return [seen.text for seen in self.events if seen.kind is EventKind.MESSAGE and seen.role is Role.USER]

    def answers(self) -> list[str]:
        """The agent's messages in order."""
        return [seen.text for seen in self.events if seen.kind is EventKind.MESSAGE and seen.role is Role.ASSISTANT]


def outcome(world: World, session_ids: list[str]) -> Outcome:
    """What is in the world now, of these sessions in this order."""
    events = [_seen(number, row) for number, session_id in enumerate(session_ids) for row in _rows(world, session_id)]
    signals = world.db.execute(
        "SELECT signals.kind, said.text, referent.kind, referent.role, referent.text FROM signals JOIN events AS said USING (event_id)"
        " JOIN events AS referent ON referent.event_id = signals.referent_id ORDER BY said.source_ms, said.generation, said.offset, said.part"
    )
    return Outcome(
        events=tuple(events),
        signals=tuple((SignalKind(row[0]), row[1], EventKind(row[2]), Role(row[3]), row[4]) for row in signals),
        queue=tuple(sorted((text, bool(immediate)) for text, immediate in world.waiting())),
        epochs=tuple(world.epoch(session_id) for session_id in session_ids),
        grains=tuple(tuple(row) for row in world.db.execute("SELECT tool_name, is_error FROM grains WHERE type = 'tool' ORDER BY call_id")),
        deliveries=tuple(row[0] for row in world.db.execute("SELECT state FROM deliveries ORDER BY delivery_id")),
    )


def _rows(world: World, session_id: str) -> list[Any]:
    columns = ("kind", "role", "text", "turn", "epoch", "call_id", "tool_name", "is_error", "exit_code", "completeness")
    return world.events(*columns, session_id=session_id)


def _seen(thread: int, row: tuple[Any, ...]) -> Seen:
    kind, role, text, turn, epoch, call_id, tool_name, is_error, exit_code, completeness = row
    failed = None if is_error is None else bool(is_error)
    return Seen(thread, EventKind(kind), Role(role), text, turn, epoch, call_id, tool_name, failed, exit_code, completeness)


def judge(rule: Rule, recording: Recording, found: Outcome) -> None:
    """Assert that the rule holds; the message says what came out instead."""
    expected = [text for name in rule.said for text in recording.texts(name)]
    assert found.said() == expected, f"a person said {expected}, but stored is {found.said()}"
    for name in rule.answers:
        for text in recording.texts(name):
            assert any(text in answer for answer in found.answers()), f"the agent's {text!r} is not among {found.answers()}"
    for name in rule.machine:
        for text in recording.texts(name):
            assert not [words for words in found.said() if text in words], f"{text!r} of a machine became a person's words"
    for name in rule.nowhere:
        for text in recording.texts(name):
            assert not [seen for seen in found.events if text in seen.text], f"{text!r} became evidence: {found.events}"
    _judge_signal(rule.signal, recording, found)
    _judge_places(rule, recording, found)
    _judge_tools(rule, found)
    assert found.deliveries == (("reached",) if rule.reached else ()), f"deliveries are {found.deliveries}"


def _judge_signal(expected: Pointing | None, recording: Recording, found: Outcome) -> None:
    if expected is None:
        assert found.signals == (), f"nothing asks for a review at once, but there are {found.signals}"
        assert not [words for words, immediate in found.queue if immediate]
        return
    assert len(found.signals) == 1, f"one signal was expected, not {found.signals}"
    [(kind, words, at, role, _text)] = found.signals
    assert kind in expected.kinds, f"the signal is {kind}"
    assert (words,) == recording.texts(expected.words), f"the signal's words are {words!r}"
    assert (at in expected.at, role) == (True, Role.ASSISTANT), f"the signal points at a {at.value} of the {role.value}"
    assert [said for said, immediate in found.queue if immediate] == [words]


def _judge_places(rule: Rule, recording: Recording, found: Outcome) -> None:
    assert sorted(words for words, _ in found.queue) == sorted(found.said()), f"what waits for a review is {found.queue}"
    for name in rule.said:
        for seen in [seen for seen in found.events if seen.role is Role.USER and seen.text in recording.texts(name)]:
            assert seen.epoch == rule.epochs.get(name, 1), f"{seen.text!r} lies in epoch {seen.epoch}"
            assert seen.thread == rule.threads.get(name, seen.thread), f"{seen.text!r} belongs to thread {seen.thread}"
    assert max(found.epochs) == max(rule.epochs.values(), default=1), f"the epochs are {found.epochs}"


def _judge_tools(rule: Rule, found: Outcome) -> None:
    if rule.runs is not None:
        failed = not rule.runs
        assert [seen for seen in found.events if seen.kind is EventKind.TOOL_CALL], "no tool call was stored"
        assert [seen for seen in found.events if seen.kind is EventKind.TOOL_RESULT and seen.is_error is failed]
        assert [name for name, is_error in found.grains if bool(is_error) is failed], f"the tool grains are {found.grains}"
    if rule.refused:
        assert [seen for seen in found.events if seen.kind is EventKind.TOOL_CALL], "no tool call was stored"
        assert found.grains == (), f"a tool that never ran is remembered as run: {found.grains}"
