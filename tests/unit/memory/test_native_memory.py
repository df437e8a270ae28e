"""What a host's own memory holds of a person's guidance is remembered once, redacted, with its source, and given to no agent."""

from __future__ import annotations

import json
import os

import capture_world
import pytest

from afl_core.api.native_memory import imported
from afl_core.api.notes import NOTE_BYTES
from afl_core.memory.native import TEXT_CHARS
from afl_core.model.errors import CaptureError
from afl_core.model.grain import HeadKey
from afl_core.store import grains
from afl_core.testing.recorded import project_slug

SECRET = "ghp_" + "k3Zr9QpLx2Vt7Bn5Ws8Yd4Fg6Hj1Mc0Ra3Te"
NOTE = """---
name: Run the tests first
description: "run pytest before saying it passes"
metadata:
  type: feedback
---

Run pytest before saying that the tests pass.

**Why:** it was claimed and was not so.
"""


@pytest.fixture
def world(home):
    made = capture_world.World(home)
    yield made
    made.close()


@pytest.fixture
def project(home):
    folder = home / "shop"
    folder.mkdir()
    return folder


@pytest.fixture
def memory(home, project):
    folder = home / ".claude/projects" / project_slug(project) / "memory"
    folder.mkdir(parents=True)
    return folder


def run(world, project, **more):
    return [
        (one["file"], one["action"], one["reason"])
        for one in imported(world.home, str(project), more.pop("host", None), dry_run=more.pop("dry_run", False))
    ]


def facts(world):
    rows = world.db.execute("SELECT fields_json FROM grains WHERE type = 'fact' AND superseded_by IS NULL ORDER BY seq")
    return [json.loads(row[0]) for row in rows]


def test_a_feedback_note_becomes_a_fact_of_the_project_with_its_source(world, project, memory):
    (memory / "tests.md").write_text(NOTE)
    assert run(world, project) == [("tests.md", "imported", "")]
    (fact,) = facts(world)
    assert (fact["subject"], fact["relation"], fact["host"], fact["source"]) == (
        "tests.md",
        "native_feedback:claude",
        "claude",
        "native_memory",
    )
    assert (fact["name"], fact["description"]) == ("Run the tests first", "run pytest before saying it passes")
    assert fact["object"].startswith("Run pytest before saying that the tests pass.\n\n**Why:**")
    assert fact["namespace"].startswith("project:")


def test_it_is_imported_once_and_a_changed_note_takes_the_place_of_the_old_one(world, project, memory):
    (memory / "tests.md").write_text(NOTE)
    run(world, project)
    assert run(world, project) == [("tests.md", "known", "")]
    (memory / "tests.md").write_text(NOTE + "And ruff.\n")
    world.now += 1
    assert run(world, project) == [("tests.md", "updated", "")]
    (memory / "tests.md").write_text(NOTE)
    world.now += 1
    assert run(world, project) == [("tests.md", "updated", "")]
    (fact,) = facts(world)
    assert "ruff" not in fact["object"]
    assert len(grains.heads(world.db, HeadKey(fact["namespace"], "tests.md", "native_feedback:claude"))) == 1


def test_a_dry_run_says_the_same_and_changes_nothing(world, project, memory):
    (memory / "tests.md").write_text(NOTE)
    assert run(world, project, dry_run=True) == [("tests.md", "imported", "")]
    assert facts(world) == []


def test_nothing_imported_can_be_given_to_an_agent_or_becomes_a_lesson(world, project, memory):
    (memory / "tests.md").write_text(NOTE)
    run(world, project)
    for table in ("projection", "lessons", "queue", "events", "audit"):
        assert world.db.execute(f"SELECT count(*) FROM {table}").fetchone()[0] == 0


def test_secrets_are_redacted_and_long_texts_bounded(world, project, memory):
    (memory / "long.md").write_text(NOTE + f"the token is {SECRET}\n" + "and on " * 2_000)
    run(world, project)
    (fact,) = facts(world)
    assert SECRET not in json.dumps(fact)
    assert "[REDACTED" in fact["object"]
    assert len(fact["object"]) == TEXT_CHARS


def test_what_is_no_feedback_is_skipped_with_its_reason(world, project, memory):
    (memory / "MEMORY.md").write_text("- [Run the tests first](tests.md)\n")
    (memory / "a_user.md").write_text(NOTE.replace("feedback", "user"))
    (memory / "b_plain.md").write_text("no head\n")
    (memory / "c_open.md").write_text("---\nname: x\n")
    (memory / "d_empty.md").write_text("---\ntype: feedback\n---\n\n")
    (memory / "e_large.md").write_text(NOTE + "x" * NOTE_BYTES)
    (memory / "f_link.md").symlink_to(memory / "a_user.md")
    (memory / "g_folder.md").mkdir()
    (memory / "h_other.txt").write_text(NOTE)
    os.mkfifo(memory / "i_pipe.md")
    found = {file: reason for file, action, reason in run(world, project) if action == "skipped"}
    assert found == {
        "MEMORY.md": "no note",
        "a_user.md": "no feedback",
        "b_plain.md": "no note",
        "c_open.md": "no note",
        "d_empty.md": "empty",
        "e_large.md": f"larger than {NOTE_BYTES} bytes",
        "f_link.md": "cannot be opened: Too many levels of symbolic links",
        "g_folder.md": "no file of yours",
        "h_other.txt": "no note",
        "i_pipe.md": "no file of yours",
    }
    assert facts(world) == []


def test_bytes_that_are_no_text_lose_no_other_note(world, project, memory):
    (memory / "odd.md").write_bytes(NOTE.encode() + b"\xff\x00\xed\xa0\x80")
    (memory / os.fsdecode(b"\xff.md")).write_text(NOTE)
    (memory / "tests.md").write_text("\ufeff" + NOTE.replace("\n", "\r\n"))
    assert [action for _, action, _ in run(world, project)] == ["imported", "imported", "skipped"]
    assert len(facts(world)) == 2


def test_a_project_without_a_memory_has_nothing_to_import(world, project):
    assert run(world, project) == []


def test_a_host_without_a_memory_is_named(world, project):
    with pytest.raises(CaptureError) as caught:
        run(world, project, host="nobody")
    assert caught.value.code == "AFL-CAPTURE-020"
