"""A forget that is under way is seen by who opens the file, in another thread or process, for exactly as long as it is."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading

import pytest

from afl_core.api.memory import Memory
from afl_core.memory import erase
from afl_core.store import under_way
from afl_core.store.connection import BUSY_MS

HOLDS = """
import sys, time
from afl_core.store.under_way import forgetting
with forgetting(sys.argv[1]):
    print("held", flush=True)
    time.sleep(60)
"""


def is_under_way(path):
    """Whether who opens the file now would leave it to somebody else."""
    with under_way.alone(path) as share:
        return share is None


def test_it_is_seen_while_one_of_several_goes_on_and_leaves_nothing_behind(tmp_path):
    path = str(tmp_path / "m.afl")
    assert not is_under_way(path)
    with under_way.forgetting(path):
        assert is_under_way(path)
        with under_way.forgetting(path):
            assert is_under_way(path)
        assert is_under_way(path)
    assert not is_under_way(path)
    assert os.listdir(tmp_path) == []


def test_it_is_seen_from_another_process_and_ends_with_it_however_that_ends(tmp_path):
    path = str(tmp_path / "m.afl")
    with subprocess.Popen([sys.executable, "-c", HOLDS, path], stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout.readline() == "held\n"
        assert is_under_way(path)
        holder.send_signal(signal.SIGKILL)
        holder.wait(10)
        assert not is_under_way(path)
    with under_way.forgetting(path):
        pass
    assert os.listdir(tmp_path) == []


def test_many_that_begin_and_end_at_once_are_each_seen_and_leave_nothing_behind(tmp_path):
    path, unseen = str(tmp_path / "m.afl"), []

    def forget():
        for _ in range(300):
            with under_way.forgetting(path):
                if not is_under_way(path):
                    unseen.append(1)

    threads = [threading.Thread(target=forget) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert (unseen, os.listdir(tmp_path)) == ([], [])


def test_a_link_in_the_place_of_the_lock_is_not_followed_and_a_forget_goes_on_without_it(tmp_path):
    path = str(tmp_path / "m.afl")
    os.symlink(tmp_path / "elsewhere", path + under_way.END)
    with under_way.forgetting(path):
        assert not is_under_way(path)
    assert not os.path.exists(tmp_path / "elsewhere")


def asked(memory):
    return {one["sample"] for one in memory.telemetry()["queries"]}


def test_who_opens_a_file_while_somebody_forgets_leaves_that_to_him(tmp_path, monkeypatch):
    path = tmp_path / "m.afl"
    with Memory(path) as memory:
        gone = memory.add_fact("acme", "owner", "quixotic")
        memory.add_fact("acme", "tier", "gold")
        for word in ("quixotic", "gold"):
            memory.search(word)
        memory.flush()
        sweep, swept = erase.sweep, []

        def meanwhile(*given, **named):
            if not swept:
                swept.append("first")
                with Memory(path) as other:
                    assert other.stats()["unswept"] == 1
            swept.append("swept")
            return sweep(*given, **named)

        monkeypatch.setattr(erase, "sweep", meanwhile)
        memory.forget(gone)
        assert swept == ["first", "swept"]
        assert asked(memory) == {"gold"}
        assert memory.stats()["unswept"] == 0


@pytest.mark.parametrize("told", [0, 1])
def test_an_opening_waits_shortly_for_a_reader_in_the_way_and_long_again_afterwards(tmp_path, monkeypatch, told):
    path = tmp_path / "m.afl"
    with Memory(path, telemetry="off") as memory:
        gone = memory.add_fact("acme", "owner", "quixotic")
        with memory._files.writer() as db:
            erase.forget(db, gone, memory._clock(), keep_out=False)
        reader = memory._files.reader()
        if told:
            reader.execute("BEGIN")
            reader.execute("SELECT count(*) FROM grains").fetchone()
        waits, sweep = [], erase.sweep

        def seen(db, *given):
            waits.append(db.execute("PRAGMA busy_timeout").fetchone()[0])
            return sweep(db, *given)

        monkeypatch.setattr(erase, "sweep", seen)
        with Memory(path, telemetry="off") as other:
            assert other.stats()["unswept"] == told
            assert waits[0] < BUSY_MS
            assert other._files.reader().execute("PRAGMA busy_timeout").fetchone()[0] == BUSY_MS
        if told:
            reader.execute("ROLLBACK")


def test_who_finishes_at_an_opening_holds_others_off_only_until_he_knows_what_is_left(tmp_path):
    path = str(tmp_path / "m.afl")
    with under_way.alone(path) as share:
        assert is_under_way(path)
        share()
        with under_way.forgetting(path), under_way.alone(path) as other:
            assert other is None
    with under_way.forgetting(path), under_way.alone(path) as share:
        assert share is None
    assert os.listdir(tmp_path) == []


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_forked_child_does_not_go_on_with_what_its_parent_was_at(tmp_path):
    path = str(tmp_path / "m.afl")
    ready, go = os.pipe(), os.pipe()
    with under_way.forgetting(path):
        child = os.fork()
        if child == 0:
            os.write(ready[1], b"x")
            os.read(go[0], 1)
            os._exit(0)
        assert os.read(ready[0], 1)
        assert is_under_way(path)
    try:
        assert not is_under_way(path)
    finally:
        os.write(go[1], b"x")
        os.waitpid(child, 0)


def test_an_import_that_forgets_nothing_leaves_what_a_dead_one_left_to_the_next_opening(tmp_path):
    path = tmp_path / "m.afl"
    rows = tmp_path / "facts.jsonl"
    rows.write_text("".join(f'{{"subject": "s{n}", "relation": "is", "object": "there"}}\n' for n in range(400)))
    with Memory(path, telemetry="off") as memory:
        gone = memory.add_fact("acme", "owner", "quixotic")
        with memory._files.writer() as db:
            erase.forget(db, gone, memory._clock(), keep_out=False)
        seen = []

        def progress(*_):
            if not seen:
                with Memory(path, telemetry="off") as other:
                    seen.append(other.stats()["unswept"])

        memory.import_(rows, progress=progress)
    assert seen == [0]


def test_an_opening_waits_shortly_for_a_reader_of_the_telemetry_too(tmp_path, monkeypatch):
    from afl_core.store import telemetry

    waits, scrub = [], telemetry.scrub
    with Memory(tmp_path / "m.afl") as memory:
        gone = memory.add_fact("acme", "owner", "quixotic")
        memory.search("quixotic")
        memory.flush()
        with memory._files.writer() as db:
            erase.forget(db, gone, memory._clock(), keep_out=False)
        monkeypatch.setattr(telemetry, "scrub", lambda *given: (waits.append(given[3]), scrub(*given)))
        with Memory(tmp_path / "m.afl") as other:
            assert other.stats()["unswept"] == 0
    assert waits[0] < BUSY_MS


def test_copies_that_cannot_be_deleted_are_told_and_an_opening_goes_on(tmp_path, monkeypatch):
    from afl_core.model.errors import StoreError

    path = tmp_path / "m.afl"
    with Memory(path, telemetry="off") as memory:
        gone = memory.add_fact("acme", "owner", "quixotic")
        (tmp_path / "m.afl.backups").mkdir()
        (tmp_path / "m.afl.backups" / "m.afl.5").mkdir()  # which unlink refuses
        with pytest.raises(StoreError) as bad:
            memory.forget(gone)
        assert bad.value.code == "AFL-STORE-032"
        with Memory(path, telemetry="off") as other:
            assert other.stats()["unswept"] == 1
        (tmp_path / "m.afl.backups" / "m.afl.5").rmdir()
        assert memory.sweep()
