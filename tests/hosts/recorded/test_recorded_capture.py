"""What capture makes of every transcript recorded from the real host: exactly these events, roles and signals, and nothing a person did not say."""

from __future__ import annotations

import pytest

from afl_core.testing.recorded import Recorded, install, replay

EXPECTED = {
    "ask_question": ["U set up tests", "A A question.", "C AskUserQuestion", "R ok", "U use nose2, never pytest", "A Thanks for that."],
    "autocompacted": ["U long work", "A Step one.", "C Bash", "R ok", "A After auto compaction. /2"],
    "commands.after_clear": ["U after clear", "A answer after clear"],
    "commands.before_clear": ["U first question", "A First answer.", "A Custom command answer.", "A bang answer"],
    "complaint": ["U fix the tests", "A All tests pass.", "U you never ran them", "A I had not run them."],
    "compacted": [
        "U first question",
        "A First answer about turtles.",
        "U second question",
        "A Second answer about turtles.",
        "U third question /2",
        "A After compaction. /2",
    ],
    "denied_esc": ["U clean up", "A I will delete it.", "C Bash", "R error", "U do not delete it", "A Okay, I will move it instead."],
    "denied_feedback": [
        "U clean up",
        "A I will delete it.",
        "C Bash",
        "R error",
        "U do not delete, move it to /tmp",
        "A Okay, I will move it instead.",
    ],
    "denied_headless": ["U fetch it", "C Bash", "R error", "A Done."],
    "forked.fork": ["U first prompt", "A First answer.", "U fork prompt", "A Forked answer."],
    "forked.original": ["U first prompt", "A First answer."],
    "forked_turns.fork": ["U first prompt", "A First answer.", "U fork prompt", "A Forked answer."],
    "forked_turns.original": ["U first prompt", "A First answer."],
    "hook_context": ["U say hello", "A Running.", "C Bash", "R ok", "C Bash", "R error 3 Exit code 3", "A Done."],
    "injected": ["U say hello", "A Hello from the mock."],
    "interrupted_early": ["U first try prompt", "U second try prompt", "A second reply"],
    "interrupted_text": [
        "U refactor the module",
        "A partial " + "I will rewrite the module using the old API because that seems right. ",
        "U no, do not use the old API, use the new one",
        "A OK, using the new API.",
    ],
    "interrupted_tool": ["U run the tests", "A Let me run the tests.", "C Bash", "R error", "U wrong, use pytest -q", "A Understood."],
    "one_tool": ["U run it", "A Running.", "C Bash", "R ok", "A Done."],
    "one_turn": ["U say hello", "A Hello from the mock."],
    "plain": ["U say hello", "A Hello from the mock."],
    "queued": [
        "U weather please",
        "A Streaming a long answer about the weather today. ",
        "U actually in Celsius",
        "A Answer to queued.",
    ],
    "resumed_turns": ["U first prompt", "A First answer.", "U second prompt", "A Second answer."],
    "resumed": ["U first prompt", "A First answer.", "U second prompt", "A Second answer.", "U third prompt", "A Third answer."],
    "rewound": ["U alpha prompt", "A First answer.", "U beta prompt", "A Second answer.", "U gamma prompt", "A Third answer."],
    "said_twice": ["U go on", "A First answer.", "U go on", "A Second answer."],
    "sdk_steering": ["U do the long thing", "A Running a long command.", "C Bash", "R ok", "U also: never use sleep", "A Noted."],
    "steering": [
        "U do the long thing",
        "A Running a long command.",
        "C Bash",
        "R ok",
        "U also: never use sleep here",
        "A Noted the steering.",
    ],
    "subagent": ["U use a subagent", "A Delegating.", "C Agent", "R ok", "A Main continues."],
    "subagent.subagent": [],  # a subagent's own file is never read, whoever names it
    "subagent_bg": ["U use a subagent", "A Delegating.", "C Agent", "R ok", "A Main continues.", "A Main saw the notification."],
    "subagent_bg.subagent": [],
    "tools": [
        "U try tools",
        "A Running.",
        "C Bash",
        "R ok",
        "C Bash",
        "R error 3 Exit code 3\nout\nbad",
        "C Read",
        "C Bash",
        "R error File does not exist. Note: your current working directory is",
        "R ok",
        "C Write",
        "R ok",
        "C Edit",
        "R ok",
        "C Edit",
        "R error <tool_use_error>String to replace not found in file.\nString: nope",
        "C NoSuchTool",
        "R error <tool_use_error>Error: No such tool available: NoSuchTool",
        "A Done.",
    ],
}
"""U: a person's words; A: the agent's, with `partial` when cut off; C: a call; R: its result, of a failure with exit code and text. /n: epoch."""

SIGNALS = {
    "denied_esc": ("interruption", "do not delete it", "tool_call", '{"command":"rm -rf build"'),
    "denied_feedback": ("rejection", "do not delete, move it to /tmp", "tool_call", '{"command":"rm -rf build"'),
    "interrupted_text": (
        "interruption",
        "no, do not use the old API, use the new one",
        "message",
        "I will rewrite the module using the old API",
    ),
    "interrupted_tool": ("interruption", "wrong, use pytest -q", "tool_call", '{"command":"touch ran; sleep 30"'),
    "rewound": ("rewind", "gamma prompt", "message", "Second answer."),
    "sdk_steering": ("steering", "also: never use sleep", "tool_call", '{"command":"sleep 4; echo finished"'),
    "steering": ("steering", "also: never use sleep here", "tool_call", '{"command":"sleep 5; echo finished"'),
}

LONG = 60


def told(world):
    """The stored events in the short form of `EXPECTED`; repeated long texts cut."""
    lines = []
    for kind, role, text, tool, is_error, exit_code, completeness, epoch in world.events(
        "kind", "role", "text", "tool_name", "is_error", "exit_code", "completeness", "epoch"
    ):
        mark = f" /{epoch}" if epoch > 1 and kind == "message" else ""
        if kind == "message":
            who = "U" if role == "user" else "A"
            lines.append(f"{who} {'partial ' if completeness == 'partial' else ''}{text}{mark}")
        elif kind == "tool_call":
            lines.append(f"C {tool}")
        else:
            lines.append(" ".join(str(part) for part in ("R", "error" if is_error else "ok", exit_code, text) if part not in (None, "")))
    return lines


def matches(line, expected):
    return line == expected or (len(expected) > LONG - 20 and line.startswith(expected))


def test_every_recorded_transcript_has_its_expectation():
    assert set(EXPECTED) == set(Recorded.names("transcripts"))


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_a_recorded_transcript_gives_exactly_its_events_and_signals(world, home, name):
    path = install(name, home, home / "project")
    world.session(path)
    world.absorb()
    lines = told(world)
    assert len(lines) == len(EXPECTED[name])
    assert all(matches(line, expected) for line, expected in zip(lines, EXPECTED[name], strict=True)), lines
    found = world.signals()
    assert len(found) == (name in SIGNALS)
    for kind, said, referent_kind, referent in found:
        assert (kind, said, referent_kind) == SIGNALS[name][:3]
        assert referent.startswith(SIGNALS[name][3])


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_reading_again_changes_nothing(world, home, name):
    world.session(install(name, home, home / "project"))
    world.absorb()
    before = world.rows()
    again = world.absorb()
    assert (again.born, again.joined, again.known) == (0, 0, 0)
    assert world.rows() == before


@pytest.mark.parametrize("name", Recorded.names("sequences"))
def test_reading_at_every_hook_gives_the_same_as_reading_once_at_the_end(worlds, home, name):
    with worlds.fresh() as once, worlds.fresh() as often:
        transcripts = {}
        for moment in replay(name, home, home / "project"):
            session = f"claude:{moment.payload['session_id']}"
            transcripts[session] = moment.transcript
            often.session(moment.transcript, session)
            often.absorb(session)
        for session, path in transcripts.items():
            often.absorb(session)
            once.session(path, session)
            once.absorb(session)
        assert often.rows() == once.rows()


def test_machine_prompts_summaries_and_subagents_are_never_a_persons_words(world, home):
    for name in Recorded.names("transcripts"):
        path = install(name, home / name, home / "project")
        world.absorb(world.session(path, f"claude:{name}"))
    said = {row[0] for row in world.db.execute("SELECT text FROM events WHERE role = 'user'")}
    assert said == {line.removeprefix("U ").removesuffix(" /2") for lines in EXPECTED.values() for line in lines if line.startswith("U ")}


def test_a_denial_by_policy_is_no_signal_and_no_tool_call_that_ran(world, home):
    world.session(install("denied_headless", home, home / "project"))
    world.absorb()
    assert world.signals() == []
    assert world.db.execute("SELECT count(*) FROM grains").fetchone()[0] == 0


def test_a_fork_adds_only_what_the_fork_said(world, home):
    original = install("forked.original", home, home / "project")
    fork = install("forked.fork", home, home / "project")
    world.absorb(world.session(original, "claude:original"))
    done = world.absorb(world.session(fork, "claude:fork"))
    assert (done.born, done.known) == (2, 2)
    assert world.messages("claude:original") == [("user", "first prompt"), ("assistant", "First answer.")]
    assert world.messages("claude:fork") == [("user", "fork prompt"), ("assistant", "Forked answer.")]


def test_a_fork_read_before_its_original_doubles_nothing_either(world, home):
    fork = install("forked.fork", home, home / "project")
    original = install("forked.original", home, home / "project")
    world.absorb(world.session(fork, "claude:fork"))
    world.absorb(world.session(original, "claude:original"))
    assert sorted(row[0] for row in world.db.execute("SELECT text FROM events")) == [
        "First answer.",
        "Forked answer.",
        "first prompt",
        "fork prompt",
    ]


def test_resuming_appends_to_what_is_there(world, home):
    path = install("resumed", home, home / "project")
    whole = path.read_bytes()
    world.session(path)
    path.write_bytes(whole[: whole.index(b"second prompt")])
    world.absorb()
    first = world.messages()
    with path.open("ab") as file:
        file.write(whole[whole.index(b"second prompt") :])
    world.absorb()
    assert first == [("user", "first prompt"), ("assistant", "First answer.")]
    assert world.messages()[:2] == first
    assert len(world.messages()) == 6


def test_the_tool_grains_of_a_session_tell_name_outcome_and_error(world, home):
    import json

    world.session(install("tools", home, home / "project"))
    world.absorb()
    rows = [json.loads(row[0]) for row in world.db.execute("SELECT fields_json FROM grains WHERE type = 'tool' ORDER BY seq")]
    short = [(row["tool_name"], row["is_error"], row.get("exit_code"), (row.get("error") or "")[:12]) for row in rows]
    assert short == [
        ("Bash", False, None, ""),
        ("Bash", True, 3, "Exit code 3\n"),
        ("Read", True, None, "File does no"),
        ("Bash", False, None, ""),
        ("Write", False, None, ""),
        ("Edit", False, None, ""),
        ("Edit", True, None, "<tool_use_er"),
        ("NoSuchTool", True, None, "<tool_use_er"),
    ]
    assert len({row["tool_call_id"] for row in rows}) == 8
