"""Every way by which words come in besides messages: names that an agent gives, reasons that a person gives, lines of the log, errors of plug-ins."""

from __future__ import annotations

import os
import pathlib

import pytest

from afl_core.model.errors import AflError, RedactionError, SettingsError
from afl_core.redaction.chain import Chain
from afl_core.spec.redactor import Redaction
from afl_core.worker.journal import describe

SECRET = "ghp_" + "k3Zr9QpLx2Vt7Bn5Ws8Yd4Fg6Hj1Mc0Ra3Te"


def places_of(world, word=SECRET):
    """Files of the data directory that hold the word."""
    found = []
    for folder, _, names in os.walk(world.home.paths.data):
        found += [path for name in names if word.encode() in (path := pathlib.Path(folder, name)).read_bytes()]
    return found


def test_the_name_of_a_tool_is_kept_as_any_other_word(world, tape):
    tape.person("go").call("c1", f"run_{SECRET}", command="x").result("c1", "failed", True)
    tape.call("c2", "Bash", command="y").result("c2", "failed", True)
    world.absorb()
    assert places_of(world) == []
    names = world.db.execute("SELECT tool_name FROM events WHERE tool_name IS NOT NULL ORDER BY offset").fetchall()
    assert "[REDACTED:" in names[0][0]
    assert names[1][0] == "Bash"
    assert [row[0] for row in world.db.execute("SELECT tool_name FROM grains ORDER BY seq")] == [row[0] for row in names]


def test_a_redactor_that_fails_on_the_name_of_a_tool_keeps_nothing_of_the_stretch(world, tape, monkeypatch):
    class Picky:
        name, version = "picky", "1"

        def redact(self, text):
            if text == "Strange":
                raise ValueError(text)
            return Redaction(text)

    tape.person("go").call("c1", "Strange", command="x")
    monkeypatch.setattr(type(world.home), "chain", Chain([("test", Picky())], world.home.guard, lambda word: word))
    with pytest.raises(RedactionError):
        world.absorb()
    assert world.events() == []


def test_a_value_right_behind_an_escape_of_a_tools_input_is_seen(world, tape):
    key = "hvs." + "MyNbIQ7MZJ7lsGQEJeY1tzIRWZ92jdXcVkp8d5NkTUgrpo8I0ZRac6w0TPKHxKwcGShhZe8OCCk8pdjrj1RkrgZTrS"
    for before in ("\n", "\t", "\r\n", "\x1b[31m", "<", "&"):
        tape.call(f"c{ord(before[0])}", command=f"echo{before}{key}{before}done")
    tape.person(f"it said \x1b[32m{key}\x1b[0m").agent(f'print("key:\\n{key}")')
    world.absorb()
    assert len(world.events()) == 8
    assert places_of(world, key) == []


def test_what_somebody_set_is_in_no_line_of_a_log(world):
    with pytest.raises(SettingsError) as caught:
        world.home.listen({"AGENT_FEEDBACK_LOOP_REVIEW_MIN_ENTRIES": f"{SECRET}'s"})
    assert SECRET in caught.value.sentence  # shown to whoever set it
    assert describe(caught.value) == (
        "AFL-SETTINGS-004: environment variable AGENT_FEEDBACK_LOOP_REVIEW_MIN_ENTRIES: … is not a value of type int"
    )


def test_a_plug_in_whose_error_quotes_the_text_leaves_its_kind_and_place_only(world, tape, monkeypatch):
    class Telling:
        name, version = "telling", "1"

        def redact(self, text):
            raise ValueError(f"cannot read {text}")

    tape.person(f"use {SECRET}")
    monkeypatch.setattr(type(world.home), "chain", Chain([("test", Telling())], world.home.guard, lambda word: word))
    with pytest.raises(RedactionError) as caught:
        world.absorb()
    chained: BaseException | None = caught.value
    while isinstance(chained, AflError):  # what the CLI and the logs may show
        assert SECRET not in "\n".join(chained.lines())
        chained = chained.__cause__
    assert world.home.guard.ledger.read("test", "redact").last_error.startswith("ValueError at test_ways_in.py")
    assert places_of(world) == []


def test_one_line_of_a_megabyte_is_kept_without_its_secret(world, tape):
    tape.person("x" * 500_000 + f" {SECRET} " + "y" * 500_000).agent("a" * 1_000_000).call("c1", command="token: " * 150_000)
    world.absorb()
    assert places_of(world) == []
    assert max(len(text) for text in world.events("text")) < 132_000
