"""A purge killed at any step leaves each project as it was or as it shall be, and the next one ends it: no secret in any byte."""

from __future__ import annotations

import pathlib
import shutil
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


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    """A home with everything in it, closed; its words now, and after an undisturbed purge of a copy."""
    root = tmp_path_factory.mktemp("filled") / "home"
    root.mkdir()
    world = purge_world.make(root)
    purge_world.fill(world)
    before = words(world)
    world.close()
    twin = root.with_name("twin")
    shutil.copytree(root, twin)
    world = purge_world.make(twin)
    purge(world.home)
    after = words(world)
    world.close()
    return root, before, after


STEPS = [("planned", 1), ("planned", 2), ("written", 1), ("committed", 1)]
STEPS += [(step, 1) for step in ("vacuumed", "truncated", "copies", "done")]


@pytest.mark.parametrize(("step", "nth"), STEPS)
def test_a_kill_leaves_old_or_new_and_the_next_purge_ends_it(home, child_environment, filled, step, nth):
    source, before, after = filled
    root = home / "killed"
    shutil.copytree(source, root)
    command = [sys.executable, "-c", CHILD, str(WORLDS), str(root), step, str(nth)]
    died = subprocess.run(command, env=child_environment, capture_output=True, timeout=120)
    assert (died.returncode, died.stderr) == (-signal.SIGKILL, b"")
    world = purge_world.make(root)
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
    assert [row.action for row in audit.rows(world.db)].count(ACTION) == 1
    world.close()
