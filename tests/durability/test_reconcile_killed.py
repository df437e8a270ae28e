"""A pass killed at any of its steps loses and doubles nothing: the next one, once the lease has ended, leaves the rows of an undisturbed pass."""

from __future__ import annotations

import os
import pathlib
import signal
import subprocess
import sys

import capture_world as worlds
import plain_host
import pytest

from afl_core.store import leases
from afl_core.worker import reconcile

WORLDS = pathlib.Path(__file__).parents[1] / "worlds"

NOW = worlds.RECORDED_MS + 3_600_000
STEPS = ("leased", "discovered", "moved", "sealed", "before-commit", "committed", "caught-up", "read", "adopted", "evaluated")

CHILD = """
import os, signal, sys
sys.path.insert(0, sys.argv[1])
import capture_world, plain_host
from afl_core.capture import read, sync
from afl_core.worker import reconcile

root, step, nth, now = sys.argv[2], sys.argv[3], int(sys.argv[4]), int(sys.argv[5])
world = capture_world.World(root, now=now)
plain_host.install(world)
read.Transcript.chunks.__kwdefaults__["chunk_bytes"] = 200
sync.sync.__kwdefaults__["chunk_bytes"] = 200
sync.DRAFTS_PER_TRANSACTION = 2
seen = 0


def reached(name):
    global seen
    seen += name == step
    if name == step and seen == nth:
        os.kill(os.getpid(), signal.SIGKILL)


reconcile.run(world.home, review=False, since_ms=0, checkpoint=reached)
world.close()
"""


def material(root):
    """A session of two files, one that was read before and was moved and grew since, one that only a hook told of, and a hook's own words."""
    world = worlds.World(root, now=NOW)
    folder = plain_host.install(world)
    at = NOW - 600_000
    moved = plain_host.Log(folder / "live" / "p" / "m.jsonl", session="m", at=at).person("one").agent("two").person("three").agent("four")
    reconcile.run(world.home, review=False, since_ms=0)
    plain_host.Log(folder / "live" / "p" / "a.jsonl", session="s", start=1, at=at).person("do it").add("call", "ls", call="c").agent(
        "wrong"
    )
    second = plain_host.Log(folder / "live" / "p" / "b.jsonl", session="s", start=2, at=at + 9_000)
    second.add("back").person("otherwise").agent("so").add("cut").person("no")
    (folder / "old").mkdir()
    os.rename(moved.path, folder / "old" / "m.jsonl")
    moved.path = folder / "old" / "m.jsonl"
    moved.person("five").agent("six")
    path = pathlib.Path(root) / "t.jsonl"
    worlds.Tape(path).person("told of by a hook").agent("yes")
    world.session(path)
    world.now -= 600_000
    world.hook("prompt", "nobody else saw this", turn="x1")
    world.now += 600_000
    return world


def left(world):
    files = [tuple(row) for row in world.db.execute("SELECT path, session_id, verdict, size, problem FROM transcripts ORDER BY path")]
    cursors = [row[0] for row in world.db.execute("SELECT path FROM cursors ORDER BY path")]
    names = [pathlib.Path(path).name for path in cursors]
    return world.rows(), world.states(), [(pathlib.Path(path).name, *rest) for path, *rest in files], names


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    world = material(tmp_path_factory.mktemp("undisturbed"))
    body = reconcile.run(world.home, review=False, since_ms=0)
    found = left(world)
    world.close()
    return found, body


def test_the_material_has_everything_a_kill_could_harm(undisturbed):
    (rows, states, files, cursors), body = undisturbed
    assert len(rows["signals"]) == 2
    assert list(states.values()) == ["born"]
    assert [name for name, *_ in files] == ["a.jsonl", "b.jsonl", "m.jsonl", "m.jsonl", "t.jsonl"]
    assert cursors == ["a.jsonl", "b.jsonl", "m.jsonl", "t.jsonl"]
    assert (body["status"], body["eventsCaptured"], body["duplicateEvents"]) == ("completed", 11, 0)


@pytest.mark.parametrize(
    ("step", "nth"),
    [(step, 1) for step in STEPS]
    + [(step, nth) for step in ("discovered", "sealed", "before-commit", "committed", "caught-up") for nth in (2, 3, 4)],
)
def test_a_pass_killed_at_any_step_loses_and_doubles_nothing(home, child_environment, undisturbed, step, nth):
    world = material(home)
    world.close()
    command = [sys.executable, "-c", CHILD, str(WORLDS), str(home), step, str(nth), str(NOW)]
    killed = subprocess.run(command, env=child_environment, capture_output=True, timeout=120, check=False)
    if (step, nth) == ("discovered", 4):  # three files were to be found
        assert (killed.returncode, killed.stderr) == (0, b"")
    else:
        assert (killed.returncode, killed.stderr) == (-signal.SIGKILL, b"")
    world = worlds.World(home, now=NOW)
    plain_host.install(world)
    body = reconcile.run(world.home, review=False, since_ms=0)
    if killed.returncode:
        assert (body["status"], body["reason"]) == ("skipped", "lease_held")
        world.now += leases.LEASE_MS
        body = reconcile.run(world.home, review=False, since_ms=0)
    assert body["status"] == "completed"
    found = left(world)
    world.close()
    assert found[0] == undisturbed[0][0]
    assert found[1:] == undisturbed[0][1:]


def test_two_passes_at_once_take_turns(home, child_environment, undisturbed):
    world = material(home)
    world.close()
    command = [sys.executable, "-c", CHILD, str(WORLDS), str(home), "", "0", str(NOW)]
    running = [subprocess.Popen(command, env=child_environment, stderr=subprocess.PIPE) for _ in range(3)]
    for one in running:
        assert (one.wait(120), one.stderr.read()) == (0, b"")
        one.stderr.close()
    world = worlds.World(home, now=NOW)
    found = left(world)
    world.close()
    assert found[0] == undisturbed[0][0]
    assert found[1:] == undisturbed[0][1:]
