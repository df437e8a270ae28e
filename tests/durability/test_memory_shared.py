"""One memory file, many threads, many processes: nothing is lost, a lock is waited for, and a forked child uses nothing of its parent."""

from __future__ import annotations

import gc
import os
import sqlite3
import subprocess
import sys
import threading

import pytest

from afl_core import Memory
from afl_core.model.errors import StoreError
from afl_core.store import inherited, schema

WRITER = """
import sys
from afl_core import Memory

path, name, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
with Memory(path) as memory:
    for n in range(count):
        memory.add_fact(f"{name}-{n}", "is", f"value {n}")
        memory.add_fact("shared", "counter", f"{name} {n}")
        if n % 10 == 0:
            memory.search(f"value {n}")
            memory.recall(f"{name}-{n}")
        if n % 25 == 24:
            memory.forget(memory.add_fact(name, "secret", f"zugzwang {n}"))
"""


def test_eight_threads_write_read_search_and_forget_at_once(tmp_path):
    failed = []
    with Memory(tmp_path / "m.afl") as memory:

        def work(name):
            try:
                for n in range(40):
                    address = memory.add_fact(f"t{name}-{n}", "is", f"value {n}")
                    memory.add_fact("shared", "counter", f"{name} {n}")
                    assert memory.get(address)["subject"] == f"t{name}-{n}"
                    assert memory.recall(f"t{name}-{n}")
                    assert address in [one["hash"] for one in memory.search(f"t{name}-{n}")]
                memory.forget(memory.add_fact(f"t{name}", "secret", "zugzwang"))
            except Exception as bad:  # noqa: BLE001 - told below
                failed.append(bad)

        threads = [threading.Thread(target=work, args=(name,)) for name in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert failed == []
        memory.flush()
        stats = memory.stats()
        assert (stats["grains"], stats["forgotten"], stats["unswept"], stats["not_indexed"]) == (8 * 80, 8, 0, 0)
        assert memory.verify()["problems"] == []
        assert len(memory.forks()) == 0
        assert stats["telemetry"]["failures"] == 0
    assert b"zugzwang" not in b"".join((tmp_path / name).read_bytes() for name in os.listdir(tmp_path))


def test_connections_of_ended_threads_are_closed(tmp_path):
    with Memory(tmp_path / "m.afl", telemetry="off") as memory:
        for _ in range(20):
            thread = threading.Thread(target=lambda: memory.recall("x"))
            thread.start()
            thread.join()
        assert len(memory._files._all) <= 2


@pytest.mark.slow
def test_four_processes_open_a_new_file_at_once_and_write(tmp_path):
    path = tmp_path / "m.afl"
    begun = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(path), f"p{n}", "60"], stderr=subprocess.PIPE, text=True) for n in range(4)
    ]
    told = [process.communicate()[1] for process in begun]
    assert [process.returncode for process in begun] == [0] * 4, told
    with Memory(path) as memory:
        assert memory.verify()["problems"] == []
        stats = memory.stats()
        assert (stats["grains"], stats["forgotten"], stats["unswept"]) == (4 * 120, 8, 0)
        for name in range(4):
            assert memory.latest(f"p{name}-59", "is")["object"] == "value 59"


def test_a_locked_file_is_waited_for_and_then_it_is_said_who_to_look_for(tmp_path):
    path = tmp_path / "m.afl"
    with Memory(path, telemetry="off") as memory:
        memory._files.reader().execute("PRAGMA busy_timeout = 50")
        holds = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        holds.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreError) as locked:
            memory.add_fact("a", "b", "c")
        assert locked.value.code == "AFL-STORE-005"
        assert str(path) in locked.value.sentence
        assert memory.recall("a") == []
        memory._files.reader().execute("PRAGMA busy_timeout = 10000")
        later = threading.Timer(0.2, holds.rollback)
        later.start()
        assert memory.add_fact("a", "b", "c")
        later.join()
        holds.close()


@pytest.mark.parametrize("renamed", [(), ("call_id",), ("fields_json", "hash")])
def test_a_file_that_another_version_migrated_meanwhile_is_written_no_more(tmp_path, renamed):
    path = tmp_path / "m.afl"
    with Memory(path, telemetry="off") as memory:
        other = sqlite3.connect(path)
        for column in renamed:
            other.execute(f"ALTER TABLE grains RENAME COLUMN {column} TO {column}_of_a_later_day")
        later = schema.SCHEMA_VERSION + 1
        other.executescript(f"{schema.marked(later, '')}PRAGMA user_version = {later}")
        other.close()
        with pytest.raises(StoreError) as refused:
            memory.add_fact("a", "b", "c")
        assert refused.value.code == "AFL-STORE-003"
        with pytest.raises(StoreError) as refused:
            memory.add_batch([{"type": "observation", "content": "a"}])
        assert refused.value.code == "AFL-STORE-003"


FORKS = """
import os, sys
from afl_core import Memory

memory = Memory(sys.argv[1], telemetry="full")
memory.add_fact("parent", "is", "here")
memory.search("question of the parent")
mine = memory._files.reader()
child = os.fork()
if child == 0:
    assert memory._files.reader() is not mine
    memory.add_fact("child", "is", "here")
    memory.search("question of the child")
    memory.close()
    os._exit(0)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
assert memory._files.reader() is mine
assert memory.latest("child", "is")["object"] == "here"
memory.add_fact("parent", "is", "still here")
assert sorted(one["sample"] for one in memory.telemetry()["queries"]) == ["question of the child", "question of the parent"]
assert [one["run_count"] for one in memory.telemetry()["queries"]] == [1, 1]
assert memory.verify()["ok"]
memory.close()
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_forked_child_opens_its_own_connections_and_counts_nothing_twice(tmp_path):
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", FORKS, str(tmp_path / "m.afl")], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_nothing_of_connections_holds_a_memory_that_nobody_uses(tmp_path):
    before = len(inherited._TOLD)
    Memory(tmp_path / "m.afl", telemetry="off").close()
    gc.collect()
    assert len(inherited._TOLD) <= before
