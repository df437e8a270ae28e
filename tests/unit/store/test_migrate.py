"""Creating and opening the database: what is refused before anything is touched, and that a start that was interrupted is finished."""

from __future__ import annotations

import os
import pathlib
import sqlite3
import stat
import subprocess
import sys
import threading

import pytest

from afl_core import Memory
from afl_core.model.errors import PathError, StoreError
from afl_core.settings.paths import STORE, Paths
from afl_core.store import cursors, migrate, schema, transcripts
from afl_core.store.connection import connect, writing
from afl_core.store.migrate import create_or_migrate
from afl_core.store.mounts import mount_type, parse_mountinfo, refuse_unsafe_mount


def _create(paths: Paths) -> list[str]:
    return create_or_migrate(paths.database, paths.backups, paths.home)


def test_a_new_database_is_ours_private_and_in_wal_mode(home: pathlib.Path) -> None:
    paths = Paths(home)
    assert _create(paths) == [f"created the database with schema {schema.SCHEMA_VERSION}"]
    assert _create(paths) == []
    db = connect(paths.database)
    assert db.execute("PRAGMA journal_mode").fetchone()[0] == "wal"
    assert db.execute("PRAGMA application_id").fetchone()[0] == schema.APPLICATION_ID
    assert db.execute("PRAGMA foreign_keys").fetchone()[0] == 1
    db.close()
    assert stat.S_IMODE(os.stat(paths.database).st_mode) == 0o600
    assert min(os.listdir(os.path.dirname(paths.database))) == "feedback-loop.sqlite3"


@pytest.mark.parametrize("step", ["built", "created"])
def test_an_interrupted_creation_leaves_nothing_or_a_finished_database(home: pathlib.Path, step: str) -> None:
    paths = Paths(home)

    class KilledError(Exception):
        pass

    def stop(reached: str) -> None:
        if reached == step:
            raise KilledError

    with pytest.raises(KilledError):
        create_or_migrate(paths.database, paths.backups, paths.home, checkpoint=stop)
    _create(paths)
    connect(paths.database).close()


def test_many_creating_at_once_make_one_database(home: pathlib.Path) -> None:
    paths = Paths(home)
    problems: list[BaseException] = []

    def create() -> None:
        try:
            _create(paths)
        except BaseException as bad:  # noqa: BLE001 - carried to the main thread
            problems.append(bad)

    threads = [threading.Thread(target=create) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert problems == []
    connect(paths.database).close()


def _foreign(path: str, *, application_id: int = 0, version: int = 0) -> bytes:
    os.makedirs(os.path.dirname(path), mode=0o700)
    db = sqlite3.connect(path)
    db.execute("CREATE TABLE precious (x)")
    db.execute(f"PRAGMA application_id = {application_id}")
    db.execute(f"PRAGMA user_version = {version}")
    db.commit()
    db.close()
    return pathlib.Path(path).read_bytes()


def test_a_foreign_database_is_refused_and_not_touched(home: pathlib.Path) -> None:
    paths = Paths(home)
    before = _foreign(paths.database)
    with pytest.raises(StoreError, match="belongs to another program") as refused:
        _create(paths)
    assert refused.value.code == "AFL-STORE-002"
    assert pathlib.Path(paths.database).read_bytes() == before


def test_a_newer_database_is_refused_with_both_versions_named(home: pathlib.Path) -> None:
    paths = Paths(home)
    before = _foreign(paths.database, application_id=schema.APPLICATION_ID, version=schema.SCHEMA_VERSION + 7)
    with pytest.raises(StoreError, match=rf"schema {schema.SCHEMA_VERSION + 7}, this runtime knows {schema.SCHEMA_VERSION}") as refused:
        _create(paths)
    assert refused.value.code == "AFL-STORE-003"
    assert pathlib.Path(paths.database).read_bytes() == before


def test_a_file_that_is_no_database_is_refused_and_not_touched(home: pathlib.Path) -> None:
    paths = Paths(home)
    os.makedirs(os.path.dirname(paths.database), mode=0o700)
    pathlib.Path(paths.database).write_bytes(b"not a database at all, but somebody's notes" * 50)
    with pytest.raises(StoreError, match="is not a database of this product"):
        _create(paths)
    assert pathlib.Path(paths.database).read_bytes().startswith(b"not a database")


def test_a_symlinked_database_is_refused(home: pathlib.Path, tmp_path: pathlib.Path) -> None:
    paths = Paths(home)
    os.makedirs(os.path.dirname(paths.database), mode=0o700)
    (tmp_path / "elsewhere").write_bytes(b"")
    os.symlink(tmp_path / "elsewhere", paths.database)
    with pytest.raises(PathError, match="is a link"):
        _create(paths)


def test_an_older_database_is_backed_up_before_it_is_migrated(home: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    paths = Paths(home)
    _create(paths)
    db = connect(paths.database)
    with writing(db):
        db.execute("INSERT INTO meta VALUES ('kept', 'yes')")
    db.close()
    later = (*schema.MIGRATIONS, "CREATE TABLE added (x INTEGER);")
    for module in (migrate, schema):
        monkeypatch.setattr(module, "MIGRATIONS", later)
    monkeypatch.setattr(migrate, "SCHEMA_VERSION", len(later))
    monkeypatch.setattr("afl_core.store.connection.SCHEMA_VERSION", len(later))
    done = _create(paths)
    assert done[0].startswith("saved a copy")
    assert done[1] == f"migrated the database to schema {len(later)}"
    copies = os.listdir(paths.backups)
    assert len(copies) == 1
    copy = sqlite3.connect(os.path.join(paths.backups, copies[0]))
    assert copy.execute("SELECT value FROM meta WHERE key = 'kept'").fetchone() == ("yes",)
    assert copy.execute("PRAGMA user_version").fetchone() == (len(later) - 1,)
    copy.close()
    db = connect(paths.database)
    assert db.execute("SELECT count(*) FROM added").fetchone()[0] == 0
    db.close()


def test_a_writer_stops_when_the_database_was_upgraded_under_it(home: pathlib.Path) -> None:
    paths = Paths(home)
    _create(paths)
    db = connect(paths.database)
    other = sqlite3.connect(paths.database)
    other.execute("PRAGMA user_version = 999")
    other.close()
    with pytest.raises(StoreError, match="was upgraded to schema 999"), writing(db):
        raise AssertionError("the body must not run")
    db.close()


def test_a_locked_database_says_so_and_a_rolled_back_transaction_leaves_nothing(home: pathlib.Path) -> None:
    paths = Paths(home)
    _create(paths)
    first, second = connect(paths.database), connect(paths.database, busy_ms=10)
    with writing(first):
        with pytest.raises(StoreError, match="is locked by") as refused, writing(second):
            raise AssertionError("the body must not run")
        assert refused.value.code == "AFL-STORE-005"
    with pytest.raises(ZeroDivisionError), writing(first):
        first.execute("INSERT INTO meta VALUES ('gone', '1')")
        raise ZeroDivisionError
    assert first.execute("SELECT count(*) FROM meta").fetchone()[0] == 0
    first.close()
    second.close()


def test_a_missing_database_names_the_next_step(home: pathlib.Path) -> None:
    with pytest.raises(StoreError) as refused:
        connect(Paths(home).database)
    assert refused.value.code == "AFL-STORE-001"
    assert "afl install" in refused.value.hint


MOUNTS = """\
24 29 0:22 / / rw - ext4 /dev/vda rw
30 24 0:30 / /home/me/shared\\040folder rw - 9p host rw
31 24 0:31 / /mnt/nas rw shared:1 - nfs4 nas:/x rw
32 31 0:32 / /mnt/nas/local rw - ext4 /dev/vdb rw
"""


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/home/me", "ext4"),
        ("/home/me/shared folder/x", "9p"),
        ("/mnt/nas", "nfs4"),
        ("/mnt/nas/local/y", "ext4"),
        ("/mnt/nastier", "ext4"),
    ],
)
def test_the_deepest_mount_decides(path: str, kind: str) -> None:
    assert mount_type(path, parse_mountinfo(MOUNTS)) == kind


def test_a_network_mount_is_refused_and_the_way_out_named(tmp_path: pathlib.Path) -> None:
    table = tmp_path / "mountinfo"
    table.write_text(f"24 29 0:22 / / rw - ext4 /dev/vda rw\n31 24 0:31 / {tmp_path} rw - nfs4 nas:/x rw\n")
    with pytest.raises(StoreError, match="lies on a nfs4 mount") as refused:
        refuse_unsafe_mount(str(tmp_path / "store"), str(table))
    assert "AFL_DATA_ROOT" in refused.value.hint
    refuse_unsafe_mount("/", str(table))


def test_a_linked_or_foreign_database_is_refused_at_run_time_too(home: pathlib.Path, tmp_path: pathlib.Path) -> None:
    paths = Paths(home)
    _create(paths)
    os.rename(paths.database, tmp_path / "moved")
    os.symlink(tmp_path / "moved", paths.database)
    with pytest.raises(StoreError, match="is not a regular file") as refused:
        connect(paths.database)
    assert refused.value.code == "AFL-STORE-013"
    if os.getuid() == 0:
        os.unlink(paths.database)
        os.rename(tmp_path / "moved", paths.database)
        os.chown(paths.database, 12345, 12345)
        with pytest.raises(StoreError, match="belongs to user 12345"):
            connect(paths.database)


def test_a_damaged_database_says_so_and_how_to_go_on(home: pathlib.Path) -> None:
    paths = Paths(home)
    _create(paths)
    db = connect(paths.database)
    with writing(db):
        db.executemany("INSERT INTO meta VALUES (?, ?)", [(f"key-{n}", "x" * 200) for n in range(500)])
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    db.close()
    raw = bytearray(pathlib.Path(paths.database).read_bytes())
    raw[4096:] = os.urandom(len(raw) - 4096)
    pathlib.Path(paths.database).write_bytes(raw)
    with pytest.raises(StoreError, match="is damaged") as refused:
        db = connect(paths.database)
        with writing(db):
            db.execute("SELECT count(*) FROM meta").fetchone()
            db.execute("INSERT INTO meta VALUES ('a', 'b')")
    assert refused.value.code == "AFL-STORE-012"


def test_transcripts_that_were_read_before_files_were_known_are_known_and_looked_at_once(
    home: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = Paths(home)
    first = schema.MIGRATIONS[:1]
    for name, value in (("MIGRATIONS", first), ("SCHEMA_VERSION", 1)):
        monkeypatch.setattr(migrate, name, value)
    _create(paths)
    old = sqlite3.connect(paths.database)
    old.execute(
        "INSERT INTO cursors (path, host, session_id, device, inode, generation, offset, state_json, version, updated_ms)"
        " VALUES ('/t.jsonl', 'claude', 'claude:s', 1, 2, 1, 40, '{\"adapter\":{},\"thread\":{}}', 3, 5)"
    )
    old.commit()
    old.close()
    monkeypatch.undo()
    assert f"migrated the database to schema {schema.SCHEMA_VERSION}" in _create(paths)
    db = connect(paths.database)
    known = transcripts.get(db, "/t.jsonl")
    assert known is not None
    assert (known.session_id, known.verdict, known.stamp.size) == ("claude:s", "session", -1)
    cursor = cursors.get(db, "/t.jsonl")
    assert cursor is not None
    assert (cursor.offset, cursor.anchor, cursor.version) == (40, None, 3)
    db.close()


ADDS = "import sys; from afl_core import Memory; Memory(sys.argv[1]).add_fact(*sys.argv[2:])"


def test_processes_that_open_an_empty_file_at_once_all_get_the_same_memory(tmp_path: pathlib.Path) -> None:
    for number in range(5):
        path = tmp_path / f"{number}.afl"
        path.touch(0o600)
        openers = [subprocess.Popen([sys.executable, "-c", ADDS, str(path), word, "is", "there"]) for word in ("a", "b", "c", "d")]
        assert [one.wait(60) for one in openers] == [0] * 4
        with Memory(path) as memory:
            assert {one["subject"] for one in memory.recall()} == {"a", "b", "c", "d"}
            assert memory.verify()["ok"]


def test_an_empty_file_that_somebody_fills_meanwhile_is_left_to_him(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "m.afl"
    path.touch(0o600)
    fill = migrate._fill

    def filled(given: str, page_bytes: int) -> None:
        monkeypatch.setattr(migrate, "_fill", fill)
        with Memory(path) as other:
            other.add_fact("acme", "is", "here")
        fill(given, page_bytes)

    monkeypatch.setattr(migrate, "_fill", filled)
    with Memory(path) as memory:
        assert memory.recall("acme")[0]["object"] == "here"


def test_only_copies_of_ours_go_with_what_was_forgotten(tmp_path: pathlib.Path) -> None:
    notes, beside = tmp_path / "notes" / "m.afl", tmp_path / "backups"
    ours = [f"m.afl.{end}" for end in ("1", "20261201", "17.0a1b2c3d.tmp", "17.tmp", "17.tmp-journal")]
    theirs = ["m.afl.old", "m.afl.20261201.tar.gz", "m.afl.1.bak", "other.afl.1"]
    for folder in (notes.parent / "m.afl.backups", beside):
        folder.mkdir(parents=True)
        for name in (*ours, *theirs):
            (folder / name).touch()
    assert migrate.drop_backups(str(notes)) == len(ours)
    assert sorted(os.listdir(notes.parent / "m.afl.backups")) == sorted(theirs)
    assert sorted(os.listdir(beside)) == sorted((*ours, *theirs))
    home = tmp_path / "data" / STORE
    (tmp_path / "data" / "backups").mkdir(parents=True)
    (tmp_path / "data" / "backups" / f"{home.name}.5").touch()
    assert migrate.drop_backups(str(home)) == 1
