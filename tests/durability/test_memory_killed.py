"""A process killed at any statement of a memory's operation leaves the old state or the new one; what a forget left over is done by who opens next."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from afl_core import Memory
from afl_core.model.grain import GrainType, HeadKey, make
from afl_core.store import grains

NOW = 1_767_225_600_000
PROGRAM = """
import os, shutil, signal, sys
from afl_core import Memory

base, out, step = sys.argv[1:]
OLD, LOSER, WINNER, SECRET, HIDDEN = open(os.path.join(base, "addresses")).read().split()
STEPS = {
    "add": lambda m: m.add("fact", subject="acme", relation="tier", object="gold"),
    "add_batch": lambda m: m.add_batch([{"type": "fact", "subject": "b", "relation": "n", "object": str(n)} for n in range(5)]),
    "record_tool_call": lambda m: m.record_tool_call("Bash", "no such file", is_error=True, thread="s", call_id="c"),
    "supersede": lambda m: m.supersede(OLD, subject="other", object="gold"),
    "link": lambda m: m.supersede_by(LOSER, WINNER),
    "retract": lambda m: m.retract(OLD),
    "merge": lambda m: m.merge_heads("torn", "is", "whole"),
    "undo": lambda m: m.undo(HIDDEN),
    "search": lambda m: m.search("gold silver"),
    "forget": lambda m: m.forget(SECRET, keep_out=True),
    "forget_subject": lambda m: m.forget_subject("pat"),
}


def run(folder, kill_at):
    memory = Memory(os.path.join(folder, "m.afl"), clock=lambda: 1_767_225_700_000, telemetry="full")
    memory._telemetry._open()
    statements = 0

    def count(_statement):
        nonlocal statements
        statements += 1
        if statements == kill_at:
            os.kill(os.getpid(), signal.SIGKILL)

    memory._files.reader().set_trace_callback(count)
    memory._telemetry._db.set_trace_callback(count)
    STEPS[step](memory)
    os._exit(0)


n = 0
while True:
    n += 1
    folder = os.path.join(out, str(n))
    shutil.copytree(base, folder)
    child = os.fork()
    if child == 0:
        run(folder, n)
    if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0:
        break
print(n)
"""


@pytest.fixture
def base(tmp_path):
    """A memory with a fork, a hidden grain, a chain, two secrets, and telemetry that names them."""
    folder = tmp_path / "base"
    folder.mkdir()
    now = NOW
    with Memory(folder / "m.afl", clock=lambda: now, telemetry="full") as memory:
        old = memory.add_fact("acme", "tier", "silver")
        loser, winner = memory.add_fact("a", "is", "one"), memory.add_fact("b", "is", "two")
        secret = memory.add_fact("acme", "owner", "xylophone")
        memory.add_fact("pat", "likes", "zugzwang")
        memory.add_fact("pat#visit1", "saw", "zugzwang")
        hidden = memory.add_fact("c", "is", "three")
        memory.supersede(hidden, object="four")
        with memory._files.writer() as db:
            for word in ("left", "right"):
                grain = make(GrainType.FACT, {"subject": "torn", "relation": "is", "object": word}, NOW)
                grains.insert(db, grain)
                key = HeadKey("shared", "torn", "is")
                grains.set_heads(db, key, [*grains.heads(db, key), grain.hash])
        memory.search("who is xylophone")
        memory.search("zugzwang")
        memory.recall("pat")
        now += 1
    (folder / "addresses").write_text(f"{old} {loser} {winner} {secret} {hidden}", encoding="ascii")
    return folder


def state(folder):
    """Everything a reader sees, after the rest of what was begun is done."""
    with Memory(folder / "m.afl", clock=lambda: NOW + 200_000, telemetry="full") as memory:
        assert memory.verify() == {"ok": True, "grains": memory.stats()["grains"], "problems": []}
        seen = [
            sorted(
                (one["hash"], str(one["superseded_by"]))
                for subject, relation in things(memory)
                for one in memory.history(subject, relation)
            ),
            sorted(one["hash"] for one in memory.recall(k=500)),
            [one["hash"] for one in memory.search("silver")],
            sorted(str(one["heads"]) for one in memory.forks()),
            [str(memory.latest(subject, relation)) for subject, relation in things(memory)],
        ]
        assert memory.stats()["unswept"] == 0
        assert memory.stats()["telemetry"]["failures"] == 0
        return seen


def things(memory):
    rows = memory._files.reader().execute("SELECT DISTINCT subject, relation FROM grains WHERE subject IS NOT NULL ORDER BY 1, 2")
    return [tuple(row) for row in rows]


def holds(folder, word):
    return [name for name in os.listdir(folder) if word in (folder / name).read_bytes()]


@pytest.mark.slow
@pytest.mark.parametrize(
    "step",
    ["add", "add_batch", "record_tool_call", "supersede", "link", "retract", "merge", "undo", "search", "forget", "forget_subject"],
)
def test_a_kill_at_any_statement_leaves_the_old_state_or_the_new(base, tmp_path, step):
    out = tmp_path / "out"
    out.mkdir()
    done = subprocess.run([sys.executable, "-c", PROGRAM, str(base), str(out), step], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    count = int(done.stdout)
    assert count > 1 + (step not in ("add", "record_tool_call"))  # killed at one of them at least: these two are one
    old, new = state(base), state(out / str(count))
    if step != "search":
        assert old != new
    word = {"forget": b"xylophone", "forget_subject": b"zugzwang"}.get(step)
    for n in range(1, count):
        found = state(out / str(n))
        assert found in (old, new), f"killed at statement {n} of {count}"
        if word is not None and found == new:
            assert holds(out / str(n), word) == [], f"killed at statement {n} of {count}"
    if word is not None:
        assert holds(base, word) != []
        assert holds(out / str(count), word) == []
