"""A purge killed at any step leaves each project as it was or as it shall be, and the next one ends it: no secret in any byte."""

from __future__ import annotations

import pathlib
import signal
import subprocess
import sys

import purge_world
import pytest

from afl_core.api.purge import ACTION, purge
from afl_core.changes.audit import verify_chain
from afl_core.store import audit, texts

WORLDS = pathlib.Path(purge_world.__file__).parent

CHILD = """
import os, signal, sys
sys.path.insert(0, sys.argv[1])
import purge_world
from afl_core.api.purge import purge

step, nth = sys.argv[3], int(sys.argv[4])
world = purge_world.make(sys.argv[2])
seen = 0


def reached(name):
    global seen
    seen += name == step
    if name == step and seen == nth:
        os.kill(os.getpid(), signal.SIGKILL)


purge(world.home, checkpoint=reached)
world.close()
"""


def words(world):
    """What is stored in every column of words, without what names a row: addresses change."""
    return {f"{column.table}.{column.name}": sorted(text for _, text in texts.of_column(world.db, column)) for column in texts.WORDS}


@pytest.fixture
def old_and_new(home):
    """The words before, and after an undisturbed purge of the same home."""
    twin = home / "twin"
    twin.mkdir()
    world = purge_world.make(twin)
    purge_world.fill(world)
    before = words(world)
    purge(world.home)
    after = words(world)
    world.close()
    return before, after


STEPS = [("planned", 1), ("planned", 2), ("written", 1), ("written", 2), ("committed", 1), ("committed", 2)]
STEPS += [(step, 1) for step in ("vacuumed", "truncated", "copies", "done")]


@pytest.mark.parametrize(("step", "nth"), STEPS)
def test_a_kill_leaves_old_or_new_and_the_next_purge_ends_it(home, child_environment, old_and_new, step, nth):
    root = home / "killed"
    root.mkdir()
    world = purge_world.make(root)
    purge_world.fill(world)
    world.close()
    command = [sys.executable, "-c", CHILD, str(WORLDS), str(root), step, str(nth)]
    died = subprocess.run(command, env=child_environment, capture_output=True, timeout=120)
    assert (died.returncode, died.stderr) == (-signal.SIGKILL if nth == 1 else died.returncode, b"")
    world = purge_world.make(root)
    before, after = old_and_new
    kept = words(world)
    same = ("events.text", "incidents.quote", "receipts.body_json", "reports.text", "grains.fields_json", "projection.card_text")
    assert {name: kept[name] for name in same} in ({name: before[name] for name in same}, {name: after[name] for name in same})
    assert verify_chain(world.db) is None
    purge(world.home)
    assert {name: told for name, told in words(world).items() if name != "audit_texts.text"} == {
        name: told for name, told in after.items() if name != "audit_texts.text"
    }
    assert purge_world.left(world) == []
    assert verify_chain(world.db) is None
    assert len([row for row in audit.rows(world.db) if row.action == ACTION]) == len({row.target for row in audit.rows(world.db) if row.action == ACTION})
    world.close()
