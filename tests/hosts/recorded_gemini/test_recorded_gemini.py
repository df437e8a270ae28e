"""What capture makes of every chat log recorded from the real host, alone and together with the hooks of its case."""

from __future__ import annotations

import json

import pytest

from afl_core.testing.recorded_gemini import RecordedGemini, install, replay

START_MS = 1_796_023_000_000

SIGNALS = {
    "interrupted": [("interruption", "No, do not use regex. Use the tokenizer.", "turn_cut", "")],
    "plan_refused": [("rejection", "keep the old module", "tool_call", '{"plan_filename":"plan.md"}')],
    "queue_rewind_clear-1": [("rewind", "after rewind prompt", "message", "Fine, noted.")],
    "rejected": [("interruption", "I said docs/ not the root", "tool_call", '{"content":"x\\n","file_path":"c.txt"}')],
    "rewound_rejected": [
        ("rewind", "write it", "message", "Fine, noted."),
        ("interruption", "no, not there", "tool_call", '{"content":"x\\n","file_path":"c.txt"}'),
    ],
    "steered": [
        (
            "steering",
            "also: never use sleep here",
            "tool_call",
            '{"command":"touch started; while [ ! -e go ]; do sleep 0.05; done","description":"run it"}',
        )
    ],
    "toolcancel": [("interruption", "stop running sleeps", "tool_call", '{"command":"sleep 25","description":"sleep"}')],
}
CHATS = [name for name in RecordedGemini.names("chats") if name != "subagent-child"]
UNTOLD = ("named_and_asked", "plan_refused", "steered")
"""Where the last of a person's words went into a running turn, of which no hook tells."""

TYPED = {
    "compressed": ["first: please always use tabs", "second prompt about the parser", "third prompt about tests", "after compress prompt"],
    "forked": ["first prompt", "fork prompt"],
    "injected": ["hello there"],
    "injected_card": ["say hello"],
    "interrupted": ["Please rewrite the parser", "No, do not use regex. Use the tokenizer."],
    "named_and_asked": ["finish @a.py", "ask me", "nose2 never pytest"],
    "plain": ["say hello"],
    "plan_refused": ["plan the move", "keep the old module"],
    "queue_rewind_clear": ["long answer please", "queued one\n\nqueued two", "after rewind prompt", "after clear prompt"],
    "queued": ["weather please", "in Celsius"],
    "ran_command": ["what did it say"],
    "rejected": ["good morning", "create the file", "I said docs/ not the root"],
    "resume_lost": ["first prompt: use tabs", "second prompt"],
    "resumed": ["first prompt: use tabs", "second prompt after resume"],
    "retry": ["finish the task"],
    "rewound_rejected": ["first prompt", "second prompt", "third prompt", "write it", "no, not there"],
    "same_twice": ["go on", "go on"],
    "steered": ["do the long thing", "also: never use sleep here"],
    "subagent": ["use the agent"],
    "toolcancel": ["run the long command", "stop running sleeps"],
    "tools": ["do the tool dance"],
}
"""By sequence, what a person typed."""


def native(path):
    return json.loads(path.read_bytes().splitlines()[0])["sessionId"]


def told(world):
    """Everything but the name of the scratch home."""
    rows = world.db.execute(
        "SELECT session_id, kind, role, text, turn, epoch, completeness FROM events ORDER BY 1, generation, offset, part"
    )
    return [tuple(str(value).replace("/both-home/", "/alone-home/") for value in row) for row in rows]


def signals(world):
    return [
        (kind, said, of, text if of != "tool_call" else json.dumps(json.loads(text), sort_keys=True, separators=(",", ":")))
        for kind, said, of, text in world.signals()
    ]


def persons(world):
    return [row[0] for row in world.db.execute("SELECT text FROM events WHERE role = 'user' ORDER BY source_ms, rowid")]


def run(world, name, home, *, with_hooks, reads):
    """Play one case; afterwards read until every hook's grace is over."""
    opened = {}
    for moment in replay(name, home, home / "project"):
        world.now = int(moment.at * 1000) + 20
        session = world.session(moment.transcript, moment.payload["session_id"], moment.payload["cwd"])
        opened[session] = moment.transcript
        if with_hooks:
            world.take(moment.payload)
        if reads:
            world.absorb(session)
    for later in (0, 600_000):
        world.now += later
        for session in opened:
            world.absorb(session)


@pytest.mark.parametrize("name", CHATS)
def test_a_recorded_log_gives_its_signals(gemini, tmp_path, name):
    world, path = gemini(), install(name, tmp_path, tmp_path / "project")
    world.absorb(world.session(path, native(path)))

    assert signals(world) == SIGNALS.get(name, [])


@pytest.mark.parametrize("name", CHATS)
def test_reading_again_changes_nothing(gemini, tmp_path, name):
    world, path = gemini(), install(name, tmp_path, tmp_path / "project")
    session = world.session(path, native(path))
    world.absorb(session)
    before = world.rows()
    again = world.absorb(session)

    assert (again.born, again.joined, again.known) == (0, 0, 0)
    assert world.rows() == before


@pytest.mark.parametrize("name", CHATS)
def test_a_log_that_was_copied_to_another_file_tells_nothing_twice(gemini, tmp_path, name):
    world, path = gemini(), install(name, tmp_path, tmp_path / "project")
    session = world.session(path, native(path))
    world.absorb(session)
    before = told(world)
    copied = path.read_bytes()
    path.unlink()
    path.with_suffix(".tmp").write_bytes(copied)
    path.with_suffix(".tmp").rename(path)
    world.absorb(session)

    assert told(world) == before


@pytest.mark.parametrize("reads", [True, False], ids=["read at every hook", "read at the end"])
@pytest.mark.parametrize("name", sorted(TYPED))
def test_hooks_add_no_event_to_what_the_log_tells(gemini, tmp_path, name, reads):
    alone, both = gemini("alone"), gemini("both")
    run(alone, name, tmp_path / "alone-home", with_hooks=False, reads=False)
    run(both, name, tmp_path / "both-home", with_hooks=True, reads=reads)

    assert told(both) == told(alone)
    assert signals(both) == signals(alone)
    assert both.waiting() == alone.waiting()


@pytest.mark.parametrize("name", sorted(TYPED))
def test_exactly_what_a_person_typed_is_a_persons_and_every_hook_found_its_event(gemini, tmp_path, name):
    world = gemini()
    run(world, name, tmp_path / "h", with_hooks=True, reads=True)
    states = [(row[0], row[1], row[2]) for row in world.db.execute("SELECT kind, state, sealed FROM intake WHERE text_mac IS NOT NULL")]

    assert persons(world) == TYPED[name]
    assert {kind for kind, _, _ in states} <= {"prompt"}
    assert [sealed for _, _, sealed in states if sealed is not None] == []
    assert [state for _, state, _ in states].count("joined") == len(TYPED[name]) - (name in UNTOLD)
    assert [state for _, state, _ in states].count("ignored") == (name in ("retry", "named_and_asked")), "a hook's reason is no prompt"


def test_the_recorded_sequences_all_have_their_expectation():
    assert set(TYPED) == set(RecordedGemini.names("sequences"))


def test_a_compaction_begins_an_epoch(gemini, tmp_path):
    world, path = gemini(), install("compressed", tmp_path, tmp_path / "project")
    world.absorb(world.session(path, native(path)))

    assert [row[0] for row in world.db.execute("SELECT epoch FROM events WHERE role = 'user' ORDER BY offset")] == [1, 1, 1, 2]


def test_calls_that_a_person_refused_or_stopped_are_no_tool_grains(gemini, tmp_path):
    world = gemini()
    for name in ("rejected", "toolcancel", "tools"):
        path = install(name, tmp_path / name, tmp_path / "project")
        world.absorb(world.session(path, native(path)))

    rows = world.db.execute("SELECT tool_name, is_error FROM grains ORDER BY tool_name, is_error")
    assert [tuple(row) for row in rows] == [("read_file", 0), ("read_file", 1), ("run_shell_command", 1), ("write_file", 0)]


def test_the_same_words_said_twice_are_two_events_each_with_its_hook(gemini, tmp_path):
    world, path = gemini(), install("plain", tmp_path, tmp_path / "project")
    header, opening, said, touched, *_ = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(header + opening)
    session = world.session(path, native(path))
    payload = {**RecordedGemini.hook("BeforeAgent.plain"), "session_id": native(path)}
    for number in range(3):
        world.now = START_MS + number * 10_000
        world.take(payload)
        with path.open("ab") as log:
            log.write(said.replace(b"ee2774a1", b"ee2774a%d" % number).replace(b"07:16:40", b"07:16:%d0" % (4 - number)) + touched)
        world.absorb(session)
    world.now += 600_000
    world.absorb(session)

    assert persons(world) == ["say hello"] * 3
    assert set(world.states().values()) == {"joined"}
    assert {row[0] for row in world.db.execute("SELECT count(*) FROM sightings GROUP BY event_id")} == {2}


def test_a_prompt_that_another_hook_blocked_is_still_the_persons_words(gemini, tmp_path):
    world, path = gemini(), install("plain", tmp_path, tmp_path / "project")
    session = world.session(path, native(path))
    world.now = START_MS
    world.take({**RecordedGemini.hook("BeforeAgent.plain"), "session_id": native(path), "prompt": "never sent"})
    world.absorb(session)
    world.now += 600_000
    world.absorb(session)

    assert "never sent" in persons(world)
