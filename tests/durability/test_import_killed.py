"""A process killed between any two statements of an import leaves a memory that verifies, and the same import run again ends it."""

from __future__ import annotations

import json
import pathlib
import shutil
import signal
import subprocess
import sys

import pytest
from exchange_world import NOW, happen, opened, seen

ROOT = pathlib.Path(__file__).parents[2]
DEJADB = ROOT / "tests/unit/exchange/dejadb/every_type.mgb"

PROGRAM = """
import os, signal, sys
from afl_core.api.memory import Memory
from afl_core.exchange import batches

path, source, kill_at = sys.argv[1], sys.argv[2], int(sys.argv[3])
batches.AT_ONCE = 3
memory = Memory(path, telemetry="off", clock=lambda: 1_767_225_700_000)
statements = 0


def count(_statement):
    global statements
    statements += 1
    if statements == kill_at:
        os.kill(os.getpid(), signal.SIGKILL)


memory._files.reader().set_trace_callback(count)
memory.import_(source)
memory._files.reader().set_trace_callback(None)
print(statements)
"""
COMMON = [("fact", 0, 0), ("fact", 0, 0), ("supersede", 0, 1), ("event", 2, 3), ("fact", 1, 1), ("tool", 0, 0)]
HERE = [("supersede", 1, 2), ("retract", 3, 0), ("fact", 1, 0)]
THERE = [("supersede", 1, 3), ("forget", 2, 0), ("link", 0, 4), ("merge", 0, 0), ("undo", 0, 0), ("tool", 3, 0)]


@pytest.fixture(scope="module")
def sources(tmp_path_factory):
    """Files to import, each with the memory it goes into (None: an empty one)."""
    folder = tmp_path_factory.mktemp("sources")
    with opened(folder / "here.afl") as here, opened(folder / "there.afl", NOW + 50_003) as there:
        happen(here, COMMON)
        here.export(folder / "common.jsonl")
        there.import_(folder / "common.jsonl")
        happen(here, HERE)
        happen(there, THERE)
        there.export(folder / "bundle.jsonl")
    (folder / "facts.jsonl").write_text(
        "".join(json.dumps({"subject": "acme", "relation": f"r{number % 3}", "object": str(number)}) + "\n" for number in range(8)), "utf-8"
    )
    (folder / "calls.jsonl").write_text(
        "".join(json.dumps({"tool_name": "bash", "error": f"no {number}", "id": f"c{number}"}) + "\n" for number in range(8)), "utf-8"
    )
    return {
        "bundle": (folder / "bundle.jsonl", folder / "here.afl"),
        "restore": (folder / "bundle.jsonl", None),
        "facts": (folder / "facts.jsonl", None),
        "tool-log": (folder / "calls.jsonl", None),
        "dejadb": (DEJADB, None),
    }


def run(path, source, kill_at=0):
    return subprocess.run([sys.executable, "-c", PROGRAM, str(path), str(source), str(kill_at)], capture_output=True, text=True)


def fresh(base, path):
    for end in ("", "-wal", "-shm"):
        pathlib.Path(f"{path}{end}").unlink(missing_ok=True)
    if base is not None:
        shutil.copy(base, path)
    else:
        opened(path).close()


def heads_and_live(path):
    with opened(path) as memory:
        report = memory.verify()
        assert report["ok"], report["problems"]
        told = seen(memory)
        for one in told["tools"], *told["history"].values():
            assert one is not None
        rows = memory._files.reader().execute("SELECT type, superseded_by IS NULL, head, call_id, subject, relation FROM grains")
        return sorted(json.dumps(list(row)) for row in rows)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["bundle", "restore", "facts", "tool-log", "dejadb"])
def test_an_import_killed_anywhere_leaves_a_memory_that_verifies_and_is_ended_by_running_it_again(sources, tmp_path, name):
    source, base = sources[name]
    path = tmp_path / "a.afl"
    fresh(base, path)
    whole = run(path, source)
    assert whole.returncode == 0, whole.stderr
    statements, wanted = int(whole.stdout), heads_and_live(path)
    assert statements > 20
    step = max(1, statements // 24)
    for kill_at in range(1, statements + 1, step):
        fresh(base, path)
        assert run(path, source, kill_at).returncode == -signal.SIGKILL
        heads_and_live(path)
        again = run(path, source)
        assert again.returncode == 0, again.stderr
        assert heads_and_live(path) == wanted, f"killed at statement {kill_at} of {statements}"
