"""A file that is locked says who holds it: the process by name and number, never what it was started with."""

from __future__ import annotations

import contextlib
import os
import pathlib
import sqlite3
import subprocess
import sys

import pytest

from afl_core import Memory
from afl_core.model.errors import StoreError
from afl_core.store import holder

HOLD = """
import sqlite3, sys
db = sqlite3.connect(sys.argv[1], isolation_level=None)
db.execute("BEGIN IMMEDIATE")
print("held", flush=True)
sys.stdin.readline()
"""
linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells who holds a lock")


@pytest.fixture
def memory(tmp_path):
    with Memory(tmp_path / "m.afl", telemetry="off") as one:
        one._files.reader().execute("PRAGMA busy_timeout = 50")
        yield one


@contextlib.contextmanager
def holding(path):
    """A real process of another program's that has the file locked."""
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, path, "--password=hunter2"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        try:
            assert process.stdout.readline() == b"held\n"
            yield process.pid
        finally:
            process.stdin.close()
            process.wait()


def refused(memory):
    with pytest.raises(StoreError) as caught:
        memory.add_fact("a", "b", "c")
    assert caught.value.code == "AFL-STORE-005"
    return caught.value


@linux
def test_the_process_is_named_without_its_arguments(memory):
    with holding(memory.path) as pid:
        bad = refused(memory)
    assert bad.sentence == f"{memory.path} is locked by {os.path.basename(sys.executable)} (process {pid})"
    assert "hunter2" not in " ".join(bad.lines())
    assert memory.add_fact("a", "b", "c")


@linux
def test_another_connection_of_this_process_is_told_from_another_process(memory):
    with contextlib.closing(sqlite3.connect(memory.path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        bad = refused(memory)
    assert f"this process ({os.getpid()})" in bad.sentence
    assert bad.hint == "try again; commit or close the other connection"


@linux
def test_who_only_reads_or_holds_another_file_is_not_named(memory, tmp_path):
    Memory(tmp_path / "other.afl", telemetry="off").close()
    with holding(str(tmp_path / "other.afl")), contextlib.closing(sqlite3.connect(memory.path, isolation_level=None)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM grains").fetchone()
        assert holder.holders(memory.path) == []
        assert holder.holders(str(tmp_path / "missing")) == []


@linux
def test_of_a_file_system_that_tells_another_device_the_open_file_decides(memory, monkeypatch, tmp_path):
    with holding(memory.path) as pid:
        real = pathlib.Path(holder.LOCKS).read_text("ascii")
        (tmp_path / "locks").write_text(real.replace(f"{os.major(os.stat(memory.path).st_dev):02x}:", "ee:"))
        monkeypatch.setattr(holder, "LOCKS", str(tmp_path / "locks"))
        assert [f"(process {pid})" in one for one in holder.holders(memory.path)] == [True]
        monkeypatch.setattr(holder, "PROCESSES", str(tmp_path))
        assert holder.holders(memory.path) == []


@linux
@pytest.mark.parametrize(
    ("called", "named"),
    [
        (b"/usr/bin/python3\0-c\0secret\0", "python3 (process 1)"),
        (b"worker --token=secret /tmp/secret", "worker (process 1)"),
        (b"\x1b[2J/evil\x07\0", "evil (process 1)"),
        (b"", "process 1"),
        (b"/\0", "process 1"),
        (b"/opt/Some Agent/bin/agent two\0--token=secret\0", "agent two (process 1)"),
        (None, "process 1"),
    ],
)
def test_a_name_is_the_first_word_of_what_was_called(tmp_path, monkeypatch, called, named):
    monkeypatch.setattr(holder, "PROCESSES", str(tmp_path))
    (tmp_path / "1").mkdir()
    if called is not None:
        (tmp_path / "1" / "cmdline").write_bytes(called)
    assert holder._told(1) == named


@pytest.mark.parametrize(("system", "tool"), [("linux", "fuser"), ("darwin", "lsof"), ("win32", "handle64.exe"), ("freebsd14", "fuser")])
def test_where_it_cannot_be_known_the_command_is_named_that_tells_it(memory, monkeypatch, system, tool):
    monkeypatch.setattr(holder, "LOCKS", memory.path + ".none")
    monkeypatch.setattr(sys, "platform", system)
    with contextlib.closing(sqlite3.connect(memory.path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        bad = refused(memory)
    assert bad.sentence == f"{memory.path} is locked by another process"
    assert bad.hint == f"try again; `{tool} {memory.path}`" + (" (Sysinternals)" if system == "win32" else "") + " names who holds it"


def test_nothing_of_it_is_imported_before_a_lock_is_met():
    code = "import afl_core.store.connection, sys; print('afl_core.store.holder' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True).stdout == "False\n"
