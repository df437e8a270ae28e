"""A capture process killed at any step, or two at once: the rows at the end are those of one undisturbed pass. Nothing lost, nothing doubled."""

from __future__ import annotations

import os
import pathlib
import signal
import subprocess
import sys

import capture_world as worlds
import pytest

from afl_core.testing.recorded import Recorded

WORLD = pathlib.Path(worlds.__file__)

CHILD = """
import os, signal, sys, time
sys.path.insert(0, sys.argv[1])
import capture_world
from afl_core.capture import read, sync

root, what, step, nth, chunk = sys.argv[2], sys.argv[3], sys.argv[4], int(sys.argv[5]), int(sys.argv[6])
world = capture_world.World(root, now=int(sys.argv[7]))
read.Transcript.chunks.__kwdefaults__["chunk_bytes"] = chunk
sync.sync.__kwdefaults__["chunk_bytes"] = chunk
sync.DRAFTS_PER_TRANSACTION = 2
seen = 0


def reached(name):
    global seen
    seen += name == step
    if name == step and seen == nth:
        os.kill(os.getpid(), signal.SIGKILL)


if what == "race":
    while not os.path.exists(root + "/go"):
        time.sleep(0.001)
    for _ in range(500):
        if world.sync(root + "/t.jsonl", checkpoint=lambda name: time.sleep(0.001)).caught_up:
            break
else:
    world.absorb(checkpoint=reached)
world.close()
"""


def child(root, child_environment, *arguments):
    command = [sys.executable, "-c", CHILD, str(WORLD.parent), str(root), *map(str, arguments)]
    return subprocess.Popen(command, env=child_environment, stderr=subprocess.PIPE)


def material(root):
    """A home with a transcript of everything, hooks that are joined, and one that only a hook saw."""
    world = worlds.World(root)
    path = pathlib.Path(root) / "t.jsonl"
    path.write_bytes(Recorded.transcript("interrupted_tool") + Recorded.transcript("denied_feedback"))
    worlds.Tape(path).person("go").call("c9").steering("stop that").cut().person("no").compacted().person("on").agent("done")
    world.session(path)
    world.now -= 600_000
    world.hook("prompt", "go", turn="t1")
    world.hook("prompt", "nobody else saw this", turn="x1")
    world.hook("prompt", "nor this", turn="x2")
    world.now += 600_000
    return world


def counts(world):
    """What must be the same however often a process was killed: the rows, and every hook row's end."""
    return world.rows(), world.states(), world.sequences()


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    world = material(tmp_path_factory.mktemp("undisturbed"))
    world.absorb()
    found = counts(world)
    world.close()
    return found


def test_the_material_has_everything_a_kill_could_harm(undisturbed):
    rows, states, _ = undisturbed
    assert len(rows["signals"]) == 5  # one session behind the other in one file looks like going back
    assert sorted(states.values()) == ["born", "born", "joined"]
    assert len(rows["events"]) > 15


@pytest.mark.parametrize(
    ("step", "nth"),
    [(step, nth) for step in ("sealed", "before-commit", "committed") for nth in (1, 2, 3, 5, 8)]
    + [(step, 1) for step in ("read", "adopted", "submitted")],
)
def test_a_process_killed_at_any_step_loses_and_doubles_nothing(home, child_environment, undisturbed, step, nth):
    world = material(home)
    now = world.now
    world.close()
    killed = child(home, child_environment, "absorb", step, nth, 4096, now)
    assert (killed.wait(60), killed.stderr.read()) == (-signal.SIGKILL, b"")
    killed.stderr.close()
    world = worlds.World(home, now=now)
    world.absorb()
    rows, states, sequences = counts(world)
    world.close()
    assert rows == undisturbed[0]
    assert states == undisturbed[1]
    assert len(sequences) == len(set(sequences)) == len(undisturbed[2])


def test_a_process_killed_again_and_again_gets_there(home, child_environment, undisturbed):
    world = material(home)
    now = world.now
    world.close()
    ends = []
    for _ in range(40):
        running = child(home, child_environment, "absorb", "committed", 4, 1500, now)
        ends.append(running.wait(60))
        running.stderr.close()
        if ends[-1] == 0:
            break
    assert ends[-1] == 0
    assert ends.count(-signal.SIGKILL) > 3
    world = worlds.World(home, now=now)
    rows, states, _ = counts(world)
    world.close()
    assert (rows, states) == undisturbed[:2]


def test_processes_that_read_the_same_file_at_once_double_nothing(home, child_environment, undisturbed):
    world = material(home)
    now = world.now
    world.close()
    running = [child(home, child_environment, "race", "", 0, size, now) for size in (700, 700, 1500)]
    pathlib.Path(home, "go").touch()
    for one in running:
        assert (one.wait(120), one.stderr.read()) == (0, b"")
        one.stderr.close()
    world = worlds.World(home, now=now)
    world.absorb()
    rows, states, sequences = counts(world)
    world.close()
    assert rows == undisturbed[0]
    assert states == undisturbed[1]
    assert len(sequences) == len(set(sequences))


def test_processes_that_absorb_the_same_session_at_once_give_birth_once(home, child_environment, undisturbed):
    world = material(home)
    now = world.now
    world.close()
    running = [child(home, child_environment, "absorb", "", 0, 5000, now) for _ in range(3)]
    for one in running:
        assert (one.wait(120), one.stderr.read()) == (0, b"")
        one.stderr.close()
    world = worlds.World(home, now=now)
    world.absorb()
    rows, states, _ = counts(world)
    world.close()
    # Ordinary words ride along with the review of a signal only when they were there as somebody looked: which process came first decides.
    reviewed = rows.pop("reviewed")
    assert (rows, states) == ({key: value for key, value in undisturbed[0].items() if key != "reviewed"}, undisturbed[1])
    assert rows["signalled"]
    assert set(rows["signalled"]) <= set(reviewed)


def test_what_a_killed_process_sealed_and_nobody_points_at_is_swept(home, child_environment):
    from afl_core.worker import upkeep

    world = material(home)
    now = world.now
    world.close()
    killed = child(home, child_environment, "absorb", "sealed", 2, 4096, now)
    assert killed.wait(60) == -signal.SIGKILL
    killed.stderr.close()
    world = worlds.World(home, now=now)
    world.absorb()
    for name, _ in list(world.home.blobs.names()):
        os.utime(world.home.blobs.path(name), (0, 0))
    world.home.__dict__["settings"] = world.home.settings
    upkeep.run(world.home)
    named = {row[0] for row in world.db.execute("SELECT DISTINCT blob FROM events WHERE blob IS NOT NULL")}
    assert {name for name, _ in world.home.blobs.names()} == named
    world.close()
