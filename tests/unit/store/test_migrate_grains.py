"""A store of before typed memory keeps every grain, head and fork, and can be searched afterwards."""

from __future__ import annotations

import contextlib
import os
import signal
import sqlite3
import subprocess
import sys

import pytest
from stored_bytes import files_with, put_between_cells

from afl_core import Memory
from afl_core.memory import index
from afl_core.model.codec import canonical
from afl_core.model.grain import GrainType, HeadKey, make
from afl_core.settings.paths import Paths
from afl_core.store import grains, migrate, schema
from afl_core.store.connection import connect
from afl_core.store.migrate import create_or_migrate

NOW = 1_767_225_600_000
WORD = "xylophone"
LESSON = {
    "lesson_id": "L1",
    "severity": "Blocker",
    "method_class": "verification-closure",
    "class_id": "claim-without-evidence",
    "card": {"when": "a", "must_do": "b", "must_not": "c", "verify": "d", "why": "e", "exception": "f", "source_ids": ["r-1"]},
    "namespace": "project:p1",
}
GRAINS = [
    make(GrainType.LESSON, LESSON, NOW),
    make(GrainType.LESSON, {**LESSON, "note": "revised"}, NOW + 1),
    make(
        GrainType.FACT,
        {"subject": "tests.md", "relation": "native_feedback:claude", "object": "run the café tests", "namespace": "project:p1"},
        NOW,
    ),
    make(GrainType.FACT, {"subject": "acme", "relation": "tier", "object": "gold"}, NOW),
    make(GrainType.FACT, {"subject": "acme", "relation": "tier", "object": "silver"}, NOW + 1),
    make(
        GrainType.TOOL,
        {
            "namespace": "project:p1",
            "session_id": "claude:s",
            "tool_name": "Bash",
            "tool_call_id": "c1",
            "input": "make",
            "is_error": True,
            "error": "no",
        },
        NOW,
    ),
    make(GrainType.GOAL, {"subject": "acme", "description": "grow"}, NOW),
]


def old_store(path):
    """A database as the third schema made it, with the rows that version wrote."""
    db = sqlite3.connect(path)
    db.executescript("".join(schema.MIGRATIONS[:3]) + f"PRAGMA application_id = {schema.APPLICATION_ID}; PRAGMA user_version = 3;")
    for grain in GRAINS:
        tool = grain.type is GrainType.TOOL
        db.execute(
            "INSERT INTO grains (hash, type, ns, created_ms, tool_name, is_error, signature, call_id, session_id, fields_json)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                grain.hash,
                grain.type.value,
                grain.ns,
                grain.created_ms,
                *(("Bash", 1, "0123456789abcdef", "c1", "claude:s") if tool else (None,) * 5),
                canonical(grain.fields),
            ),
        )
    first, second, note, *both = [grain.hash for grain in GRAINS[:5]]
    db.execute("UPDATE grains SET superseded_by = ? WHERE hash = ?", (second, first))
    db.execute("UPDATE grains SET derived_from = ? WHERE hash = ?", (first, second))
    heads = [("project:p1", "L1", "lesson", second), ("project:p1", "tests.md", "native_feedback:claude", note)]
    heads += [("shared", "acme", "tier", one) for one in both]
    db.executemany("INSERT INTO heads VALUES (?, ?, ?, ?)", heads)
    db.commit()
    kept = {
        "grains": [tuple(row) for row in db.execute(f"SELECT {COLUMNS} FROM grains ORDER BY seq")],
        "heads": sorted(tuple(row) for row in db.execute("SELECT ns, subject, relation, hash FROM heads")),
    }
    db.close()
    os.chmod(path, 0o600)
    return kept


COLUMNS = "seq, hash, type, ns, created_ms, superseded_by, derived_from, tool_name, is_error, signature, call_id, session_id, fields_json"


@pytest.fixture
def store(home):
    paths = Paths(home)
    os.makedirs(os.path.dirname(paths.database), mode=0o700)
    return paths, old_store(paths.database)


def test_every_grain_and_every_head_is_kept(store):
    paths, kept = store
    done = create_or_migrate(paths.database, paths.backups, paths.home)
    assert done[-2:] == [
        f"migrated the database to schema {schema.SCHEMA_VERSION}",
        "gave back the room that was left free in the file",
    ]
    db = connect(paths.database)
    assert [tuple(row) for row in db.execute(f"SELECT {COLUMNS} FROM grains ORDER BY seq")] == kept["grains"]
    heads = "SELECT ns, subject, relation, hash FROM grains WHERE head > 0"
    assert sorted(tuple(row) for row in db.execute(heads)) == kept["heads"]
    assert {one.grain.fields["object"] for one in grains.forked(db, None)} == {"gold", "silver"}
    assert [(row[0], row[1]) for row in db.execute("SELECT subject, relation FROM grains WHERE type = 'goal'")] == [("acme", None)]
    assert grains.heads(db, HeadKey("project:p1", "L1", "lesson")) == [GRAINS[1].hash]
    assert grains.calls_known(db, "claude:s", ["c1", "c2"]) == {"c1"}
    assert index.refresh(db) == len(GRAINS)
    db.close()


def test_the_memory_reads_it_whole(store):
    paths, _ = store
    create_or_migrate(paths.database, paths.backups, paths.home)
    with Memory(paths.database, telemetry="off") as memory:
        assert memory.verify() == {"ok": True, "grains": len(GRAINS), "problems": []}
        assert [one["relation"] for one in memory.search("café", ns="project:p1")] == ["native_feedback:claude"]
        assert len(memory.forks()[0]["heads"]) == 2
        assert [one["hash"] for one in memory.recall("acme", type="goal")] == [GRAINS[6].hash]


def test_a_memory_file_is_copied_beside_itself_and_its_folder_is_left_as_it_is(tmp_path):
    old_store(tmp_path / "m.afl")
    os.chmod(tmp_path, 0o755)
    (tmp_path / "mine.new").write_text("a file of somebody")
    os.utime(tmp_path / "mine.new", (1, 1))
    with Memory(tmp_path / "m.afl", telemetry="off") as memory:
        assert memory.stats()["grains"] == len(GRAINS)
        assert sorted(os.listdir(tmp_path)) == ["m.afl", "m.afl-shm", "m.afl-wal", "m.afl.backups", "mine.new"]
        assert len(os.listdir(tmp_path / "m.afl.backups")) == 1
    assert tmp_path.stat().st_mode & 0o777 == 0o755


def test_two_processes_may_migrate_at_once(store, monkeypatch):
    paths, kept = store
    step, raced = migrate._step, []

    def second(db, number, path):
        if not raced:
            raced.append(number)
            create_or_migrate(paths.database, paths.backups, paths.home)
        step(db, number, path)

    monkeypatch.setattr(migrate, "_step", second)
    create_or_migrate(paths.database, paths.backups, paths.home)
    db = connect(paths.database)
    assert [tuple(row) for row in db.execute(f"SELECT {COLUMNS} FROM grains ORDER BY seq")] == kept["grains"]
    db.close()


KILLED = """
import os, signal, sqlite3, sys
from afl_core.store import migrate

path, left = sys.argv[1], int(sys.argv[2])

class Copying(sqlite3.Connection):
    def backup(self, target, **how):
        super().backup(target, pages=1, progress=self.count)

    def count(self, *_how_far):
        global left
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)

def opened(path):
    db = sqlite3.connect(path, isolation_level=None, timeout=5, factory=Copying)
    db.row_factory = sqlite3.Row
    return db

migrate._open = opened
migrate.open_or_create(path)
"""


@pytest.mark.parametrize("pages", [1, 5, 12])
def test_a_copy_whose_making_was_killed_stands_in_nobodys_way(tmp_path, pages):
    path, copies = tmp_path / "m.afl", tmp_path / "m.afl.backups"
    old_store(path)
    assert subprocess.run([sys.executable, "-c", KILLED, str(path), str(pages)]).returncode == -signal.SIGKILL
    (left,) = copies.iterdir()
    copies.joinpath("m.afl.17.tmp-journal").write_bytes(b"of an older version")
    with Memory(path, telemetry="off") as memory:
        assert memory.verify() == {"ok": True, "grains": len(GRAINS), "problems": []}
        assert left.exists()  # it could be another process's that is still at it
        assert len([one for one in copies.iterdir() if one.name.rpartition(".")[2].isdecimal()]) == 1
    path.unlink()
    old_store(path)
    os.utime(left, (1, 1))
    with Memory(path, telemetry="off"):
        assert not left.exists()
        assert len(list(copies.iterdir())) == 3


def test_a_step_that_comes_too_late_takes_no_newer_schema_back(tmp_path):
    path = str(tmp_path / "m.afl")
    migrate.open_or_create(path)
    later = schema.SCHEMA_VERSION + 1
    db = migrate._open(path)
    db.executescript(
        f"BEGIN IMMEDIATE; {schema.marked(later, 'ALTER TABLE grains ADD COLUMN later TEXT;')} PRAGMA user_version = {later}; COMMIT;"
    )
    before = [tuple(row) for row in db.execute("SELECT name, sql FROM sqlite_master ORDER BY name")]
    for number in range(1, later):
        migrate._step(db, number, path)
        assert not db.in_transaction
    assert [tuple(row) for row in db.execute("SELECT name, sql FROM sqlite_master ORDER BY name")] == before
    assert db.execute("PRAGMA user_version").fetchone()[0] == later
    db.close()


# ----------------------------------------------------------------------------------------- what older versions forgot may have left bytes behind


def forgetful(path):
    """A memory of the fifth schema in which something was forgotten, with a word between the rows of both its files, and a question asked."""
    with Memory(path) as memory:
        gone = memory.add_fact("acme", "owner", "somebody")
        memory.add_batch({"type": "fact", "subject": f"s{n}", "relation": "is", "object": f"value {n}"} for n in range(300))
        memory.forget(gone)
        memory.search("value 7")
        memory.flush()
    with contextlib.closing(sqlite3.connect(path)) as db:
        db.executescript(
            "DROP INDEX grains_address; CREATE UNIQUE INDEX old_address ON grains (hash);"
            f"DROP TABLE schema_{schema.SCHEMA_VERSION}; PRAGMA user_version = 5; PRAGMA wal_checkpoint(TRUNCATE)"
        )
    assert put_between_cells(path, WORD) > 10
    assert put_between_cells(path.parent / (path.name + ".telemetry.db"), WORD) > 0


def test_what_was_forgotten_before_leaves_no_byte_in_the_file_its_copy_and_its_telemetry(tmp_path):
    forgetful(tmp_path / "m.afl")
    assert files_with(tmp_path, WORD) == ["m.afl", "m.afl.telemetry.db"]
    with Memory(tmp_path / "m.afl") as memory:
        assert files_with(tmp_path, WORD) == []
        assert len(os.listdir(tmp_path / "m.afl.backups")) == 1
        assert [one["sample"] for one in memory.telemetry()["queries"]] == ["value 7"]
        assert (memory.stats()["grains"], memory.stats()["unswept"]) == (300, 0)
        assert memory.verify()["ok"]


def test_what_a_reader_kept_of_it_goes_with_a_later_opening(tmp_path):
    forgetful(tmp_path / "m.afl")
    with contextlib.closing(sqlite3.connect(tmp_path / "m.afl.telemetry.db", isolation_level=None)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM telem_meta").fetchone()
        with Memory(tmp_path / "m.afl") as memory:
            assert (memory.stats()["grains"], memory.stats()["unswept"]) == (300, 1)
    with Memory(tmp_path / "m.afl") as memory:
        assert files_with(tmp_path, WORD) == []
        assert memory.stats()["unswept"] == 0
        assert [one["sample"] for one in memory.telemetry()["queries"]] == ["value 7"]


def test_the_room_of_the_table_that_was_rebuilt_is_given_back(tmp_path):
    forgetful(tmp_path / "m.afl")
    before = (tmp_path / "m.afl").stat().st_size
    with Memory(tmp_path / "m.afl"):
        assert (tmp_path / "m.afl").stat().st_size <= before
