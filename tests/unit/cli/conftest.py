"""A home with a store, a vault and lessons, for commands that show and change memory."""

from __future__ import annotations

import io

import attrs
import capture_world
import pytest
import review_world

from afl_core.api.lessons import project_of
from afl_core.changes.gates import decide_lesson
from afl_core.changes.operations import LessonProposal
from afl_core.cli.main import main
from afl_core.model.lesson import Card, EvidenceRef, Scope, Severity
from afl_core.plugins import discovery
from afl_core.settings.schema import Policy
from afl_core.store.connection import writing

LESSON_ID = "0123456789abcdef0123456789abcdef"
WHEN = "about to say that a migration of the whole database is finished although nobody looked at it"


@pytest.fixture
def words():
    """The module that builds evidence and reviews."""
    return review_world


@pytest.fixture
def world(home, monkeypatch):
    """A home with a store, a vault and the built-in plug-ins, at a clock that stands still."""
    module = capture_world
    monkeypatch.setattr(discovery, "discover", lambda _cache: module.PLUGINS)
    monkeypatch.setattr("afl_core.api.home.discover", lambda _cache: module.PLUGINS)
    made = module.World(home)
    yield made
    made.close()


@pytest.fixture
def lesson(world, home):
    """A lesson of the home's own project, taught as a review does; gives its whole id and the number of the change that added it."""
    proposal = LessonProposal(
        lesson_id=LESSON_ID,
        project_id=project_of(str(home)),
        base_revision=0,
        severity=Severity.MAJOR,
        family_id="f",
        method_class="verification-closure",
        class_id="c",
        scope=Scope(),
        card=Card(WHEN, "run it", "guess", "quote it", "it broke", "none", ("e1",)),
        generalizable=True,
        responsibility="agent_fault",
        confidence="high",
        causal_chain=("a",) * 5,
        extra={},
        evidence=(EvidenceRef("e1", "you said done", ("a1",)),),
        report_id="r1",
        review_id="v1",
        origin_session="claude:earlier",
        lineage=None,
        incident_id="i1",
        rule_action="none",
    )
    with writing(world.db):
        decision = decide_lesson(world.db, proposal=attrs.evolve(proposal), actor="reviewer:test", policy=Policy(), now=world.now)
    return LESSON_ID, decision.audit[-1]


@pytest.fixture
def afl(home, world, capsys, monkeypatch):
    """`afl("memory", "list")` runs a command in the home's directory; gives its status and what it printed, errors too."""
    monkeypatch.chdir(home)

    def run(*arguments):
        status = main([*arguments, "--home", str(home)])
        printed = capsys.readouterr()
        return status, printed.out + printed.err

    return run


@pytest.fixture
def fed(monkeypatch):
    """`fed(text)` makes the next commands read it (text, or bytes) from standard input; `terminal`: as if somebody typed it."""

    def fed(text, *, terminal=False):
        data = text if isinstance(text, bytes) else text.encode()
        source = io.TextIOWrapper(io.BytesIO(data), encoding="utf-8")
        source.isatty = lambda: terminal
        monkeypatch.setattr("sys.stdin", source)

    fed("")
    return fed


@pytest.fixture
def grains(fed, tmp_path, monkeypatch, capsys):
    """`grains("add", ...)` runs a command on a memory file of its own, which no home is needed for; gives its status and what it printed."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("AFL_DB", str(tmp_path / "notes.afl"))

    def run(*arguments):
        status = main(list(arguments))
        printed = capsys.readouterr()
        return status, printed.out + printed.err

    return run
