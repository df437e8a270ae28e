"""What others do with a memory while something is imported into it counts as if it had been done before."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys

import pytest
from exchange_world import NOW, opened
from stored_bytes import files_with

from afl_core import Memory
from afl_core.exchange.errors import ExchangeError

WORD = "xylophone"


def once(call):
    done = []

    def progress(seen, whole):
        if seen > whole * 0.5 and not done:
            done.append(call())

    return progress, done


@pytest.fixture
def source(memory, bundle):
    """A bundle whose last grain holds the word, and that grain."""
    memory.add_batch({"type": "fact", "subject": f"s{n}", "relation": "is", "object": f"value {n}"} for n in range(600))
    last = memory.add_fact("acme", "owner", WORD)
    memory.export(bundle)
    return last


@pytest.mark.parametrize("form", ["bundle", "facts"])
def test_what_is_forgotten_while_an_import_runs_does_not_come_back_with_it(memory, empty, bundle, source, form):
    if form == "facts":
        rows = [memory.get(one["hash"])["fields"] for one in memory.recall(k=512)] + [memory.get(source)["fields"]]
        bundle.write_text("".join(json.dumps(row) + "\n" for row in rows))
    empty.import_(bundle)
    assert empty.get(source)["object"] == WORD
    with Memory(empty.path, telemetry="off") as other:
        progress, done = once(lambda: other.forget(source))
        report = empty.import_(bundle, progress=progress)
    assert (done, report.added) == ([[source]], 0)
    assert (report.skipped_rows, "forgotten here" in report.skipped[0].reason) == (1, True)
    assert empty.recall("acme") == []
    assert empty.verify()["ok"]


def test_what_is_taken_back_while_an_import_runs_stays_taken_back(memory, empty, bundle, source):
    empty.import_(bundle)
    with Memory(empty.path, telemetry="off") as other:

        def back_and_forth():
            other.retract(source)
            other.undo(source)
            other.retract(source)

        progress, done = once(back_and_forth)
        memory.retract(source)
        memory.undo(source)
        memory.export(bundle)
        empty.import_(bundle, progress=progress)
    assert done
    assert empty.recall("acme") == []


def test_no_question_about_what_an_import_erases_is_kept(memory, bundle, source, tmp_path):
    with Memory(tmp_path / "asked.afl", telemetry="full") as there:
        there.import_(bundle)
        memory.forget(source)
        memory.export(bundle)

        def ask():
            there.search(WORD)
            there.recall("acme")

        progress, done = once(ask)
        assert there.import_(bundle, progress=progress).erased == 1
        assert done
        there.flush()
        assert files_with(tmp_path, WORD) == []
        assert there.stats()["unswept"] == 0


def test_the_file_of_an_open_memory_is_refused_however_it_is_given(memory, tmp_path):
    memory.add_fact("acme", "is", "here")
    link = tmp_path / "link"
    link.symlink_to(memory.path)
    [entry] = [one for one in os.scandir(os.path.dirname(memory.path)) if one.path == memory.path]
    for given in (entry, os.fsencode(memory.path), str(link)):
        with pytest.raises(ExchangeError) as bad:
            memory.import_(given)
        assert bad.value.code == "AFL-EXCHANGE-010"
    with pytest.raises(ExchangeError) as bad:
        memory.export(f"{link}-wal")
    assert bad.value.code == "AFL-EXCHANGE-010"


KILLED = """
import os, signal, sys
from afl_core import Memory
Memory(sys.argv[1]).export(sys.argv[2], progress=lambda done, whole: done > whole * 0.8 and os.kill(os.getpid(), signal.SIGKILL))
"""


@pytest.mark.skipif(not hasattr(os, "O_TMPFILE"), reason="files without names are Linux's")
def test_an_export_that_is_killed_leaves_nothing_in_clear(tmp_path):
    with Memory(tmp_path / "m.afl", passphrase="correct horse", telemetry="off") as memory:
        memory.add_batch({"type": "observation", "content": f"{WORD} {n}"} for n in range(5_000))
    script = KILLED.replace("Memory(sys.argv[1])", "Memory(sys.argv[1], passphrase='correct horse')")
    done = subprocess.run([sys.executable, "-c", script, str(tmp_path / "m.afl"), str(tmp_path / "all.jsonl")])
    assert done.returncode == -signal.SIGKILL
    assert files_with(tmp_path, WORD) == []
    assert not [one for one in os.listdir(tmp_path) if "jsonl" in one]


def test_where_files_need_names_an_abandoned_one_goes_with_the_next_export(memory, tmp_path, monkeypatch):
    monkeypatch.delattr(os, "O_TMPFILE", raising=False)
    memory.add_fact("acme", "is", "here")
    ends = ("all.jsonl.0a1b2c3d4e5f", "all.jsonl.2c3d4e5f0a1b", "other.jsonl.0a1b2c3d4e5f", "all.jsonl.precious")
    old, young, *others = paths = [tmp_path / f".{end}.tmp" for end in ends]
    for path in paths:
        path.write_text("of an export that was killed, or is not done, or of somebody else")
    for path in (old, *others):
        os.utime(path, (NOW / 1_000 - 10_000, 1))
    memory.export(tmp_path / "all.jsonl")
    assert [one.exists() for one in (old, young, *others)] == [False, True, True, True]
    with opened(tmp_path / "again.afl") as again:
        assert again.import_(tmp_path / "all.jsonl").added == 1


@pytest.mark.parametrize("nameless", [True, False])
@pytest.mark.parametrize("name", ["n" * 255, "é" * 127, "n" * 256])
def test_a_name_of_any_length_that_a_file_may_have_is_written_and_a_longer_one_is_told(memory, tmp_path, monkeypatch, name, nameless):
    if not nameless:
        monkeypatch.delattr(os, "O_TMPFILE", raising=False)
    memory.add_fact("acme", "is", "here")
    if len(name) > 255:
        with pytest.raises(ExchangeError) as bad:
            memory.export(tmp_path / name)
        assert bad.value.code == "AFL-EXCHANGE-003"
    else:
        assert memory.export(tmp_path / name)["grains"] == 1
    assert [one for one in os.listdir(tmp_path) if one.endswith(".tmp")] == []
