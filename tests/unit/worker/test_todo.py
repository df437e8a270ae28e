"""What the daemon sees of a home: every kind of thing that waits, and nothing where nothing does. Looking writes nothing."""

from __future__ import annotations

import fcntl
import os
import pathlib
import sqlite3

import pytest

from afl_core.model.clock import DAY_MS
from afl_core.settings.paths import Paths
from afl_core.store import status
from afl_core.store.connection import connect, writing
from afl_core.store.migrate import create_or_migrate
from afl_core.worker.roots import Root
from afl_core.worker.todo import HOOKS_MS, LOOK_BACK_MS, NEXT, Lookout

NOW = 1_767_225_600_000


class Place:
    """A home with a store in which nothing waits."""

    def __init__(self, home):
        self.home = home
        self.paths = Paths(home)
        for folder in (self.paths.run, self.paths.spool):
            os.makedirs(folder, 0o700)
        create_or_migrate(self.paths.database, self.paths.backups, self.paths.data)
        self.note("reconcile", NOW)
        self.note("upkeep", NOW)
        self.lookout = Lookout(self.paths)

    def note(self, name, at, **body):
        db = connect(self.paths.database)
        with writing(db):
            status.put(db, name, body, at)
        db.close()

    def do(self, sql, *values):
        db = sqlite3.connect(self.paths.database, isolation_level=None)
        db.execute(sql, values)
        db.close()

    def session(self, path, *, seen=NOW, offset=None):
        self.do(
            "INSERT INTO sessions (session_id, host, native_id, project_id, cwd, transcript_path, started_ms, seen_ms)"
            " VALUES (?, 'claude', 'n', 'p', '/', ?, ?, ?)",
            f"claude:{path.name}", str(path), seen, seen,
        )  # fmt: skip
        if offset is not None:
            found = os.stat(path)
            self.do(
                "INSERT INTO cursors (path, host, session_id, device, inode, generation, offset, state_json, version, updated_ms)"
                " VALUES (?, 'claude', ?, ?, ?, 1, ?, '{}', 1, ?)",
                str(path), f"claude:{path.name}", found.st_dev, found.st_ino, offset, seen,
            )  # fmt: skip

    def review(self, state, *, wake=0, lease=None):
        self.do(
            "INSERT INTO reviews (review_id, project_id, host, status, immediate, next_wake_ms, lease_until_ms, created_ms, updated_ms)"
            " VALUES ('r', 'p', 'claude', ?, 0, ?, ?, 0, 0)",
            state, wake, lease,
        )  # fmt: skip

    def look(self, roots=(), now=NOW):
        return self.lookout.look(roots, now)


@pytest.fixture
def place(home):
    return Place(home)


@pytest.fixture
def transcript(home):
    path = home / "t.jsonl"
    path.write_bytes(b'{"a": 1}\n')
    return path


def test_nothing_waits_in_a_home_that_was_just_read(place, transcript):
    place.session(transcript, offset=9)
    before = {
        path: path.read_bytes() for path in pathlib.Path(place.paths.data).rglob("*") if path.is_file() and not path.name.endswith("-shm")
    }
    assert place.look([Root(str(place.home), "*.jsonl")]) == {}
    assert all(path.read_bytes() == content for path, content in before.items())


def test_records_in_the_spool_wait(place):
    (pathlib.Path(place.paths.spool) / "7.rec").write_bytes(b"")
    (pathlib.Path(place.paths.spool) / "8.tmp").write_bytes(b"")
    assert place.look() == {"spool 7.rec": ""}


def test_hook_rows_wait_until_they_got_their_event(place):
    row = "INSERT INTO intake (intake_id, host, event, kind, session_id, project_id, total_bytes, received_ms, state) VALUES (?, 'c', 'e', 'stop', 's', 'p', 0, 5, ?)"
    place.do(row, "1", "born")
    assert place.look() == {}
    place.do(row, "2", "new")
    assert place.look() == {"hooks s": "5"}
    for at, waits in (
        (NOW, False),
        (NOW - HOOKS_MS, False),
        (NOW - HOOKS_MS - 1, True),
        (NOW + 1, True),
    ):  # the last one is of another clock
        place.do("UPDATE intake SET received_ms = ?", at)
        assert bool(place.look()) is waits


def test_a_transcript_waits_that_ends_elsewhere_than_its_cursor_or_is_another_file(place, transcript):
    place.session(transcript, offset=4)
    assert place.look() == {f"transcript {transcript}": "4"}
    place.do("UPDATE cursors SET offset = 9")
    assert place.look() == {}
    with transcript.open("ab") as more:
        more.write(b"more\n")
    assert place.look() == {f"transcript {transcript}": "9"}
    other = place.home / "other"
    other.write_bytes(b'{"a": 1}\n')
    os.replace(other, transcript)
    assert place.look() == {f"transcript {transcript}": "9"}


def test_transcripts_that_are_gone_long_unseen_or_not_to_be_kept_do_not_wait(place, transcript):
    place.session(place.home / "gone.jsonl")
    place.session(transcript, seen=NOW - LOOK_BACK_MS - 1)
    assert place.look() == {}
    place.do("UPDATE sessions SET seen_ms = ?", NOW)
    assert place.look() == {f"transcript {transcript}": "None"}
    place.do("INSERT INTO meta VALUES ('capture_enabled', '0')")
    assert place.look([Root(str(place.home), "*.jsonl")]) == {}


def test_a_transcript_in_a_hosts_root_that_no_session_is_known_for_waits(place, transcript):
    root = [Root(str(place.home), "*.jsonl")]
    now = os.stat(transcript).st_mtime_ns // 1_000_000
    place.note("reconcile", now)
    place.note("upkeep", now)
    assert place.look(root, now) == {f"transcript {transcript}": ""}
    assert place.look(root, now + LOOK_BACK_MS + 60_000).keys() == {"upkeep"}
    place.session(transcript, offset=9)
    assert place.look(root, now) == {}


@pytest.mark.parametrize(
    ("state", "wake", "lease", "waits"),
    [
        ("pending", NOW, None, True), ("pending", NOW + 1, None, False), ("pending", NOW + DAY_MS, None, False), ("pending", NOW + DAY_MS + 1, None, True),
        ("running", 0, NOW - 1, True), ("running", 0, NOW, False), ("running", 0, NOW + 60_000, False), ("running", 0, NOW + 2 * DAY_MS, True),
        ("running", 0, None, True), ("completed", 0, None, False), ("failed", 0, None, False),
    ],
)  # fmt: skip
def test_a_review_waits_when_its_time_has_come_its_lease_ended_or_neither_can_be_meant(place, state, wake, lease, waits):
    place.review(state, wake=wake, lease=lease)
    assert bool(place.look()) is waits


def test_pending_reviews_are_left_to_whoever_runs_another(place):
    place.review("pending", wake=NOW)
    place.do(
        "INSERT INTO reviews (review_id, project_id, host, status, immediate, lease_until_ms, created_ms, updated_ms) VALUES ('q', 'p', 'c', 'running', 0, ?, 0, 0)",
        NOW + 1,
    )
    assert place.look() == {}
    assert place.look(now=NOW + 2).keys() == {"review r", "review q"}


def test_a_time_of_the_workers_is_left_to_a_front_that_lives(place):
    place.note("jobs_next_ms", 0, at_ms=NOW + 5)
    handle = os.open(place.paths.front_lock, os.O_RDWR | os.O_CREAT, 0o600)
    fcntl.flock(handle, fcntl.LOCK_EX)
    assert place.look(now=NOW + 5) == {}
    os.close(handle)
    assert place.look(now=NOW + 5).keys() == {"timer jobs_next_ms"}


@pytest.mark.parametrize("name", [NEXT, "jobs_next_ms"])
def test_a_time_that_a_pass_or_the_worker_named_waits_until_a_pass_came_after_it(place, name):
    place.note(name, 0, at_ms=None)
    assert place.look() == {}
    place.note(name, 0, at_ms=NOW + 5)
    assert place.look() == {}
    assert place.look(now=NOW + 5) == {f"timer {name}": str(NOW + 5)}
    place.note("reconcile", NOW + 6)
    assert place.look(now=NOW + 7) == {}
    place.note(name, 0, at_ms=NOW + 400 * DAY_MS)
    assert place.look(now=NOW + 7) == {f"timer {name}": str(NOW + 400 * DAY_MS)}


def test_the_first_pass_and_the_daily_upkeep_wait(place):
    assert place.look(now=NOW + DAY_MS).keys() == {"upkeep"}
    assert place.look(now=NOW - 1).keys() == {"upkeep"}  # it was made by another clock
    place.do("DELETE FROM status")
    assert place.look().keys() == {"first pass", "upkeep"}


@pytest.mark.parametrize("damage", [b"", b"not a database at all, whatever it is", None])
def test_a_store_that_cannot_be_read_is_a_reason_for_a_pass(place, damage):
    for suffix in ("-wal", "-shm"):
        pathlib.Path(place.paths.database + suffix).unlink(missing_ok=True)
    if damage is None:
        os.unlink(place.paths.database)
    else:
        pathlib.Path(place.paths.database).write_bytes(damage)
    (found,) = place.look()
    assert found.startswith("cannot tell: ")


def test_a_store_that_somebody_writes_to_is_read_all_the_same(place):
    db = connect(place.paths.database)
    with writing(db):
        status.put(db, "x", {}, NOW)
        assert place.look() == {}
    db.close()
