"""The recorded hooks and the recorded transcript of a case together: everything a hook saw is the event that the transcript tells of, and nothing more."""

from __future__ import annotations

import pytest

from afl_core.testing.recorded import Recorded, replay

KINDS = {"UserPromptSubmit": "prompt", "Stop": "stop", "SessionStart": "session_start"}
FIELDS = {"prompt": "prompt", "stop": "last_assistant_message"}


def take(world, moment, session):
    """What the front would keep of the hook: words of a person or of the agent, and the news of a compaction."""
    payload, kind = moment.payload, KINDS.get(moment.event)
    if kind is None or payload.get("agent_id"):
        return
    text = payload.get(FIELDS.get(kind, ""))
    is_machine = kind == "prompt" and text and text.lstrip().startswith(world.adapter.manifest().machine_prefixes)
    world.hook(
        kind,
        None if is_machine else text or None,
        turn=payload.get("prompt_id"),
        session_id=session,
        at=int(moment.at * 1000),
        source=payload.get("source"),
        size=moment.transcript.stat().st_size if moment.transcript.exists() else 0,
    )


def run(world, name, home, *, with_hooks, reads):
    sessions = {}
    for moment in replay(name, home, home / "project"):
        world.now = int(moment.at * 1000) + 20
        session = f"claude:{moment.payload['session_id']}"
        sessions[session] = moment.transcript
        world.session(moment.transcript, session)
        if with_hooks:
            take(world, moment, session)
        if reads:
            world.absorb(session)
    for later in (0, 600_000):
        world.now += later
        for session in sessions:
            world.absorb(session)


def told(world):
    """Everything but the name of the scratch home."""
    return [
        tuple(str(value).replace("/both/", "/alone/") for value in row)
        for row in world.db.execute("SELECT session_id, kind, role, text, turn, epoch, completeness FROM events ORDER BY 1, offset, part")
    ]


@pytest.mark.parametrize("reads", [True, False], ids=["read at every hook", "read at the end"])
@pytest.mark.parametrize("name", Recorded.names("sequences"))
def test_hooks_add_no_event_to_what_the_transcript_tells(worlds, home, name, reads):
    with worlds.fresh() as alone, worlds.fresh() as both:
        run(alone, name, home / "alone", with_hooks=False, reads=False)
        run(both, name, home / "both", with_hooks=True, reads=reads)
        assert told(both) == told(alone)
        assert both.signals() == alone.signals()
        assert both.waiting() == alone.waiting()
        assert {row[0] for row in both.db.execute("SELECT epoch FROM sessions")} == {
            row[0] for row in alone.db.execute("SELECT epoch FROM sessions")
        }


@pytest.mark.parametrize("name", Recorded.names("sequences"))
def test_every_words_a_hook_saw_are_joined_or_no_words(worlds, home, name):
    with worlds.fresh() as world:
        run(world, name, home, with_hooks=True, reads=True)
        states = [(row[0], row[1], row[2]) for row in world.db.execute("SELECT kind, state, sealed FROM intake WHERE text_mac IS NOT NULL")]
        assert {state for _, state, _ in states} <= {"joined", "ignored"}
        assert [sealed for _, _, sealed in states if sealed is not None] == []
        if name != "commands":
            assert "ignored" not in {state for _, state, _ in states}
