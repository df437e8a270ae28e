"""Where a bundle is written: into a file of its own, through what is no file, over no database. And how far an import says it is."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import stat
import tempfile
import threading

import pytest
from exchange_world import opened

from afl_core.exchange.errors import ExchangeError


def test_no_database_is_written_over_by_a_bundle_and_no_file_beside_one(memory, empty, tmp_path):
    memory.add_fact("acme", "is", "here")
    (tmp_path / "link").symlink_to(memory.path)
    with sqlite3.connect(tmp_path / "foreign") as db:
        db.execute("CREATE TABLE t (a)")
    db.close()
    taken = [memory.path, empty.path, tmp_path / "foreign", tmp_path / "link", *(memory.path + end for end in ("-wal", "-shm", "-journal"))]
    before = sorted(os.listdir(tmp_path))
    for path in taken:
        with pytest.raises(ExchangeError) as caught:
            memory.export(path)
        assert caught.value.code == "AFL-EXCHANGE-010"
    assert sorted(os.listdir(tmp_path)) == before
    assert memory.recall("acme")[0]["object"] == "here"
    assert memory.verify()["ok"]


def test_a_bundle_goes_through_a_link_a_pipe_and_a_device_and_leaves_them(memory, bundle, tmp_path):
    memory.add_fact("acme", "is", "here")
    (tmp_path / "link").symlink_to(bundle)
    memory.export(tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    whole = bundle.read_bytes()
    assert whole.startswith(b'{"count":1,')
    bundle.write_bytes(b"older")
    memory.export(tmp_path / "link")
    assert bundle.read_bytes() == whole
    os.mkfifo(tmp_path / "pipe")
    read = []
    reader = threading.Thread(target=lambda: read.append((tmp_path / "pipe").read_bytes()))
    reader.start()
    memory.export(tmp_path / "pipe")
    reader.join()
    assert read == [whole]
    assert stat.S_ISFIFO(os.stat(tmp_path / "pipe").st_mode)
    descriptor = os.open(tmp_path / "open", os.O_RDWR | os.O_CREAT)
    memory.export(f"/dev/fd/{descriptor}")
    os.close(descriptor)
    assert (tmp_path / "open").read_bytes() == whole
    memory.export("/dev/null")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)


@pytest.mark.skipif(not os.path.isdir("/dev/shm"), reason="no files in memory here")
def test_a_file_in_memory_is_a_file_private_and_no_database_is_written_over_there(memory, empty):
    memory.add_fact("acme", "is", "here")
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        memory.export(f"{folder}/bundle")
        assert stat.S_IMODE(os.stat(f"{folder}/bundle").st_mode) == 0o600
        shutil.copy(empty.path, f"{folder}/m.afl")
        with pytest.raises(ExchangeError) as caught:
            memory.export(f"{folder}/m.afl")
        assert caught.value.code == "AFL-EXCHANGE-010"


def test_a_path_that_cannot_be_written_is_named(memory, tmp_path):
    for path in (tmp_path, tmp_path / "no" / "file", tmp_path / ("x" * 300), "a\0b", "a\ud800"):
        with pytest.raises(ExchangeError) as caught:
            memory.export(path)
        assert caught.value.code == "AFL-EXCHANGE-003"


@pytest.mark.parametrize("form", ["bundle", "facts"])
def test_what_the_text_index_catches_up_with_is_told_too(memory, empty, bundle, form):
    rows = [{"subject": "acme", "relation": f"r{number}", "object": "here", "created_at": number} for number in range(3_000)]
    if form == "facts":
        bundle.write_text("".join(json.dumps(row) + "\n" for row in rows))
    else:
        memory.add_batch([{"type": "fact", **row} for row in rows])
        memory.export(bundle)
    told = []

    def progress(done, whole):
        told.append((done, whole, empty.stats()["not_indexed"]))

    report = empty.import_(bundle, progress=progress)
    assert report.added == 3_000
    assert [one[:2] for one in told] == sorted(one[:2] for one in told)
    assert len({one[1] for one in told}) == 1
    assert {one[2] for one in told} >= {3_000, 2_000, 1_000, 0}
    assert told[-1][0] == told[-1][1]
    behind = [done for done, _, left in told if 0 < left < 3_000 and done > told[-1][1] / 2]
    assert len(set(behind)) >= 5
    assert empty.stats()["not_indexed"] == 0


def test_a_handle_without_an_index_and_a_dry_run_tell_of_the_file_alone(memory, bundle, tmp_path):
    memory.add_fact("acme", "is", "here")
    memory.export(bundle)
    size = bundle.stat().st_size
    told = []
    with opened(tmp_path / "c.afl", index_text=False) as plain:
        plain.import_(bundle, progress=lambda *both: told.append(both))
        plain.import_(bundle, dry_run=True, progress=lambda *both: told.append(both))
    assert told[-1] == (2 * size, 2 * size)


@pytest.mark.skipif(not os.path.exists("/proc/locks"), reason="locks cannot be listed here")
def test_a_path_that_is_refused_costs_no_open_memory_of_this_process_its_locks(memory, empty, tmp_path):
    def locks():
        with open("/proc/locks", encoding="ascii") as listed:
            rows = [line.split() for line in listed]
        mine = {os.stat(path).st_ino for one in (memory, empty) for path in (one.path, one.path + "-shm")}
        return sorted((row[3], row[5], row[6]) for row in rows if int(row[5].rpartition(":")[2]) in mine)

    memory.add_fact("acme", "is", "here")
    empty.add_fact("acme", "is", "here")
    (tmp_path / "hard").hardlink_to(memory.path)
    (tmp_path / "soft").symlink_to(empty.path)
    before = locks()
    assert before
    ends = ("", "-wal", "-shm", "-journal")
    for path in (tmp_path / "hard", tmp_path / "soft", *(one.path + end for one in (memory, empty) for end in ends)):
        with pytest.raises(ExchangeError) as caught:
            memory.export(path)
        assert caught.value.code == "AFL-EXCHANGE-010"
        with pytest.raises(ExchangeError) as caught:
            memory.import_(path)
        assert caught.value.code == "AFL-EXCHANGE-010"
    assert locks() == before
