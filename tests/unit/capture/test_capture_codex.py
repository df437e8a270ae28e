"""What core makes of recorded Codex sessions: each structural reason to review at once, and each call once."""

from __future__ import annotations

import pytest

from afl_core.testing.recorded_codex import OLDER, place_rollout
from afl_providers_codex.host import CodexHost


@pytest.fixture
def read(world, home):
    """Read recorded rollouts, one after the other, as those of one session; gives the signals."""

    def read(*names, release=""):
        for name in names:
            world.sync(place_rollout(name, home / ".codex", home / "project", release=release), adapter=CodexHost())
        return world.signals()

    return read


@pytest.mark.parametrize("release", ["", OLDER])
def test_corrections_after_an_interruption_point_at_what_was_cut(read, release):
    assert read("interrupted_then_corrected", release=release) == [
        ("interruption", "No, do not use rm; move it to the trash instead", "turn_cut", ""),
        (
            "interruption",
            "stop running the full suite, use the quick one",
            "tool_call",
            '{"cmd": "echo started; sleep 20; echo finished"}',
        ),
    ]


@pytest.mark.parametrize("release", ["", OLDER])
def test_words_during_a_tool_are_steering(read, release):
    assert read("steering_mid_turn", release=release) == [
        ("steering", "actually, always use pytest -q here", "tool_call", '{"cmd": "sleep 3; echo checked"}')
    ]


def test_words_into_an_answer_are_steering_possibly_where_the_host_kept_nothing_of_it(read):
    assert read("steering_mid_stream") == [("possible_steering", "no: never rm, use the trash", "turn_cut", "")]


def test_words_after_an_answer_that_was_finished_first_are_steering(read):
    [(kind, _words, referent, _text)] = read("steering_mid_stream", release=OLDER)
    assert (kind, referent) == ("steering", "message")


def test_words_in_the_segment_after_going_back_point_at_what_was_undone(read, world):
    assert read("reverted_turn.segment0", "reverted_turn.segment1") == [("rewind", "edited request", "message", "a2")]
    assert [text for _role, text in world.messages()] == ["keep this", "a1", "wrong request", "a2", "edited request", "a3"]


@pytest.mark.parametrize(
    "name", ["plain", "compacted_auto", "compacted_manual", "resumed", "stop_hook_block", "failed_turn", "command_declined_by_user"]
)
def test_an_ordinary_session_has_no_signal(read, name):
    assert read(name) == []


def test_a_session_that_the_host_rewrote_is_not_kept_twice(read, world, home):
    name = "interrupted_then_corrected"
    before = read(name, release=OLDER), world.events("kind", "text")
    path = place_rollout(name, home / ".codex", home / "project", release=OLDER)
    rewritten = place_rollout(f"migrated.{name}", home / "new", home / "project")
    rewritten.replace(path)
    world.sync(path, adapter=CodexHost())

    assert (world.signals(), world.events("kind", "text")) == before
