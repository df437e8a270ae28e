"""Scenes that the real Codex CLI played: what tells steering from an addition, and what a subagent's hooks and a session's other files change."""

from __future__ import annotations

import json
import pathlib

import capture_world
import pytest

from afl_core.model.event import EventKind, SignalKind
from afl_core.testing.codex_recordings import codex_recording
from afl_core.testing.conformance import ways
from afl_core.testing.conformance.outcome import outcome
from afl_core.testing.world import World
from afl_core.worker import reconcile


@pytest.fixture
def playing(home):
    """Open a recorded scene in a fresh home whose install knows the host's directory."""
    worlds = []

    def opened(name):
        recording = codex_recording(name)
        world = World(home / str(len(worlds)), capture_world.CODEX_PLUGINS, host="codex", now=recording.hooks[0].at_ms)
        worlds.append(world)
        play = ways.Play(world, recording)
        hosts = {"codex": {"config_dir": str(play.folder / ".codex"), "settings_path": "x"}}
        current = pathlib.Path(world.home.paths.current)
        current.parent.mkdir(parents=True, exist_ok=True)
        current.write_text(json.dumps({"hosts": hosts}), "utf-8")
        return play

    yield opened
    for world in worlds:
        world.close()


def whole(play):
    play.grow({path: len(data) for path, data in play.recording.transcripts.items()})


def looked_for(play):
    play.world.now += 120_000
    assert reconcile.run(play.world.home, review=False, since_ms=0)["errors"] == []


@pytest.mark.parametrize(
    ("scene", "signals"),
    [
        ("steering_corrective", [(SignalKind.STEERING, EventKind.TOOL_CALL)]),
        ("steering_mid_stream", [(SignalKind.POSSIBLE_STEERING, EventKind.TURN_CUT)]),
        ("steering_additive", []),
        ("steering_queued", []),
        # Said at once, but the host takes words up only when the model begins to answer, and notes no other time: a reviewer decides.
        ("steering_waited", [(SignalKind.POSSIBLE_STEERING, EventKind.TURN_CUT)]),
    ],
)
def test_words_into_a_running_turn_are_steering_where_the_agent_acted_and_possibly_so_a_breath_later(playing, scene, signals):
    found = ways.together(playing(scene), reads=True)
    assert [(kind, at) for kind, _words, at, _role, _text in found.signals] == signals


def test_a_subagents_hooks_change_nothing(playing):
    def left(only_parents):
        play = playing("subagent")
        for hook in play.recording.hooks:
            if only_parents and "agent_id" in hook.payload:
                continue
            play.grow(hook.sizes)
            play.take(hook)
            play.absorb()
        whole(play)
        looked_for(play)
        [path] = [row[0] for row in play.world.db.execute("SELECT transcript_path FROM sessions")]
        assert path == str(play.path(play.recording.threads[0].path))
        return outcome(play.world, play.ids())

    assert left(only_parents=True) == left(only_parents=False)


def test_a_segment_whose_hooks_were_all_missed_is_found_and_its_words_point_at_what_was_undone(playing):
    play = playing("rewound")
    second = max(play.recording.transcripts)
    for hook in play.recording.hooks:
        if not hook.payload["transcript_path"].endswith(pathlib.PurePosixPath(second).name):
            play.grow(hook.sizes)
            play.take(hook)
            play.absorb()
    whole(play)
    looked_for(play)
    assert play.world.signals() == [("rewind", "gamma prompt", "message", "Second answer.")]
    assert len(play.ids()) == 1


def test_words_in_a_segment_that_a_hook_named_point_into_the_first_file_that_no_hook_did(playing):
    play = playing("rewound")
    second = max(play.recording.transcripts)
    whole(play)
    for hook in play.recording.hooks:
        if hook.payload["transcript_path"].endswith(pathlib.PurePosixPath(second).name):
            play.take(hook)
            play.absorb()
    [session] = play.ids()
    before = play.world.messages(session), play.world.signals()
    assert [text for role, text in before[0] if role == "user"] == ["alpha prompt", "beta prompt", "gamma prompt"]
    assert before[1] == [("rewind", "gamma prompt", "message", "Second answer.")]
    looked_for(play)
    assert (play.world.messages(session), play.world.signals()) == before
