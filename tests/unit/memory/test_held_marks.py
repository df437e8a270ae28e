"""What a host's own memory holds is noticed without an import, changes with the notes, and is not given there a second time."""

from __future__ import annotations

import subprocess

import attrs
import capture_world
import pytest

from afl_core.api import held
from afl_core.api.held import DIRECTORIES
from afl_core.api.native_memory import imported
from afl_core.changes.gates import decide_lesson
from afl_core.changes.operations import LessonProposal
from afl_core.lessons.families import family_id
from afl_core.model.lesson import Card, EvidenceRef, Scope, Severity
from afl_core.settings.schema import Policy
from afl_core.store import held as marks
from afl_core.store import sessions
from afl_core.store.connection import writing
from afl_core.testing.recorded import project_slug
from afl_core.worker import upkeep

MUST = "Run pytest before saying that the tests pass."
NOTE = f"""---
name: Run the tests first
description: "run pytest before saying it passes"
metadata:
  type: feedback
---

{MUST}

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
    return folder_of(home, project)


def folder_of(home, directory):
    folder = home / ".claude/projects" / project_slug(directory) / "memory"
    folder.mkdir(parents=True)
    return folder


def prompt(world, directory, session="s-1", words="are the tests green"):
    """A person's prompt, as the host's hook tells of it; gives the host's reply."""
    world.now += 1000
    return world.take(
        "UserPromptSubmit", {"session_id": session, "cwd": str(directory), "prompt": words, "hook_event_name": "UserPromptSubmit"}
    )


def teach(world, session="claude:s-1", must_do=MUST, lesson_id="L1"):
    """A blocker of the session's project, which every prompt there is given."""
    project_id = sessions.get(world.db, session).project_id
    texts = dict.fromkeys(("when", "must_not", "verify", "why", "exception"), "when tests are spoken of")
    proposal = LessonProposal(
        lesson_id=lesson_id,
        project_id=project_id,
        base_revision=0,
        severity=Severity.BLOCKER,
        family_id=family_id("verification-closure", lesson_id),
        method_class="verification-closure",
        class_id=lesson_id,
        scope=Scope(),
        card=Card(**texts, must_do=must_do, source_ids=("e1",)),
        generalizable=True,
        responsibility="agent_fault",
        confidence="high",
        causal_chain=("a", "b", "c", "d", "e"),
        extra={"timeline": "t", "checkpoint": "c", "shared_vulnerability": "v"},
        evidence=(EvidenceRef("e1", "you said done", ("a1",)),),
        report_id="r1",
        review_id="v1",
        origin_session="claude:earlier",
        lineage=None,
        incident_id="i1",
        rule_action="none",
    )
    with writing(world.db):
        decide_lesson(world.db, proposal=proposal, actor="reviewer:test", policy=attrs.evolve(Policy()), now=world.now)
    return project_id


def held_there(world, project_id, host="claude"):
    return marks.of_host(world.db, project_id, host)


def test_a_note_that_is_there_keeps_the_card_from_the_sessions_of_its_host(world, project, memory):
    assert MUST.encode() not in prompt(world, project)
    project_id = teach(world)
    assert MUST.encode() in prompt(world, project, "s-2")
    (memory / "tests.md").write_text(NOTE)
    assert upkeep.run(world.home)["held"] == 1
    assert held_there(world, project_id) == {("L1", 1)}
    assert MUST.encode() not in prompt(world, project, "s-3")
    assert [row[0] for row in world.db.execute("SELECT reason FROM omissions WHERE session_id = 'claude:s-3'")] == ["held_by_host"]
    assert world.db.execute("SELECT count(*) FROM grains WHERE type = 'fact'").fetchone()[0] == 0, "nothing is imported by that"
    assert held_there(world, project_id, "gemini") == frozenset()


def test_a_note_that_is_gone_or_says_something_else_gives_the_card_back(world, project, memory):
    prompt(world, project)
    project_id = teach(world)
    for text in (NOTE, NOTE.replace("pytest", "the tests"), NOTE, None):
        if text is None:
            (memory / "tests.md").unlink()
        else:
            (memory / "tests.md").write_text(text)
        assert held.mark(world.home) == 1
        assert held_there(world, project_id) == ({("L1", 1)} if text == NOTE else frozenset())
    assert held.mark(world.home) == 0
    assert MUST.encode() in prompt(world, project, "s-3")


def test_only_guidance_counts(world, project, memory):
    prompt(world, project)
    teach(world)
    (memory / "a.md").write_text(NOTE.replace("feedback", "project"))
    (memory / "MEMORY.md").write_text(MUST)
    (memory / "b.md").symlink_to(memory / "a.md")
    assert held.mark(world.home) == 0


@pytest.mark.parametrize("settings", ['{"autoMemoryEnabled": false}', '{"autoMemoryEnabled": true}', "{ broken"])
def test_a_memory_that_is_switched_off_holds_nothing(world, home, project, memory, settings):
    prompt(world, project)
    project_id = teach(world)
    (memory / "tests.md").write_text(NOTE)
    held.mark(world.home)
    (home / ".claude/settings.json").write_text(settings)
    held.mark(world.home)
    assert bool(held_there(world, project_id)) is ("false" not in settings)


def test_in_a_repository_every_directory_a_session_was_started_in_must_have_it(world, home, project):
    subprocess.run(["git", "init", "-q", str(project)], check=True)
    (project / "sub").mkdir()
    prompt(world, project)
    project_id = teach(world)
    (folder_of(home, project) / "tests.md").write_text(NOTE)
    prompt(world, project / "sub", "s-2")
    held.mark(world.home)
    assert held_there(world, project_id) == {("L1", 1)}, "a directory without a memory of its own has its repository's"
    other = folder_of(home, project / "sub")
    held.mark(world.home)
    assert held_there(world, project_id) == frozenset()
    (other / "same.md").write_text(NOTE)
    held.mark(world.home)
    assert held_there(world, project_id) == {("L1", 1)}
    for number in range(DIRECTORIES):
        (project / f"{number}").mkdir()
        prompt(world, project / f"{number}", f"n-{number}")
    (other / "same.md").unlink()
    held.mark(world.home)
    assert held_there(world, project_id) == {("L1", 1)}, "only the directories seen last count"


def test_an_import_marks_at_once_and_a_dry_run_marks_nothing(world, project, memory):
    prompt(world, project)
    project_id = teach(world)
    (memory / "tests.md").write_text(NOTE)
    imported(world.home, str(project), None, dry_run=True)
    assert held_there(world, project_id) == frozenset()
    imported(world.home, str(project), None, dry_run=False)
    assert held_there(world, project_id) == {("L1", 1)}


def test_a_project_no_session_of_the_host_was_seen_in_has_no_marks(world, project, memory):
    prompt(world, project)
    project_id = teach(world)
    with writing(world.db):
        marks.put(world.db, "gone", "claude", frozenset({("L1", 1)}))
        marks.put(world.db, project_id, "unplugged", frozenset({("L1", 1)}))
    assert held.mark(world.home) == 2
    assert marks.marked(world.db) == []
