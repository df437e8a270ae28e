"""Recalls leave counts behind, never on the caller's way, and a sidecar that fails is counted and named, not felt."""

from __future__ import annotations

import contextlib
import gc
import os
import sqlite3
import threading
import warnings

import pytest
from stored_bytes import files_with

from afl_core import Memory
from afl_core.memory import telemetry as room
from afl_core.memory.telemetry import mode_of
from afl_core.model.clock import DAY_MS
from afl_core.model.errors import AflError
from afl_core.store import telemetry as rows


@contextlib.contextmanager
def sidecar(memory):
    with contextlib.closing(sqlite3.connect(memory.path + ".telemetry.db", isolation_level=None)) as db:
        db.row_factory = sqlite3.Row
        yield db


def in_sidecar(memory, statement):
    with sidecar(memory) as db:
        return db.execute(statement).fetchall()


@pytest.mark.parametrize(
    ("given", "mode"),
    [
        ("off", "off"),
        ("none", "off"),
        ("", "off"),
        ("AGG", "aggregate"),
        ("on", "aggregate"),
        (" aggregate ", "aggregate"),
        ("Full", "full"),
    ],
)
def test_modes_have_synonyms(given, mode):
    assert mode_of(given) == mode


def test_another_word_is_refused(opens):
    with pytest.raises(AflError) as refused:
        opens(telemetry="some")
    assert refused.value.code == "AFL-MODEL-005"


def test_off_makes_no_file_and_tells_nothing(opens, tmp_path):
    memory = opens(telemetry="off")
    memory.search("gold")
    memory.flush()
    assert memory.telemetry() == {"mode": "off", "access": [], "queries": [], "budget": {"sample_count": 0, "overflow_count": 0}}
    assert not os.path.exists(memory.path + ".telemetry.db")


def test_recalls_and_questions_are_counted(memory, clock):
    address = memory.add_fact("acme", "tier", "gold")
    memory.recall("acme")
    memory.search("gold", run_id="r1")
    memory.search(" GOLD ")
    memory.search("nothing like it")
    told = memory.telemetry()
    assert told["access"] == [{"hash": address, "recall_count": 3, "last_ms": clock()}]
    assert [(one["sample"], one["run_count"], one["empty_count"], one["sum_results"]) for one in told["queries"]] == [
        ("gold", 2, 0, 2),
        ("nothing like it", 1, 1, 0),
    ]
    assert told["mode"] == "aggregate"


def test_only_the_full_mode_keeps_each_recall(opens):
    memory = opens(telemetry="full")
    address = memory.add_fact("acme", "tier", "gold")
    memory.recall("acme", run_id="r1")
    memory.flush()
    row = in_sidecar(memory, "SELECT * FROM telem_recall_log")[0]
    assert (row["run_id"], row["subject"], row["query"], row["n_results"], row["top_hashes"]) == ("r1", "acme", None, 1, f'["{address}"]')
    assert row["latency_us"] >= 0


def test_counters_fall_out_of_the_window_and_then_out_of_the_file(memory, clock):
    memory.add_fact("acme", "tier", "gold")
    memory.search("gold")
    memory.assemble([{"query": "gold"}])
    memory.flush()
    clock.advance(days=10)
    memory.search("silver")
    assert [one["sample"] for one in memory.telemetry(days=30)["queries"]] == ["gold", "silver"]
    assert [one["sample"] for one in memory.telemetry(days=10)["queries"]] == ["silver"]
    assert memory.telemetry(days=10)["budget"]["sample_count"] == 0
    clock.advance(days=rows.COUNTER_DAYS)
    memory.search("bronze")
    memory.flush()
    days = [row[0] for row in in_sidecar(memory, "SELECT day FROM telem_query_stat ORDER BY day")]
    assert days == [clock() // DAY_MS - rows.COUNTER_DAYS, clock() // DAY_MS]


def test_the_log_is_pruned_by_age_and_by_number(opens, clock, monkeypatch):
    monkeypatch.setattr(rows, "LOG_ROWS", 3)
    memory = opens(telemetry="full")
    memory.add_fact("acme", "tier", "gold")
    for number in range(5):
        memory.recall(f"s{number}")
        memory.flush()
    clock.advance(days=1)
    memory.recall("later")
    memory.flush()
    assert [row[0] for row in in_sidecar(memory, "SELECT subject FROM telem_recall_log ORDER BY id")] == ["s3", "s4", "later"]
    clock.advance(days=rows.LOG_DAYS + 1)
    memory.recall("last")
    memory.flush()
    assert [row[0] for row in in_sidecar(memory, "SELECT subject FROM telem_recall_log")] == ["last"]


def test_a_full_ring_drops_the_oldest_and_says_how_many(memory, monkeypatch):
    monkeypatch.setattr(memory._telemetry, "_thread", threading.current_thread())  # nobody empties it
    for number in range(room.RING + 5):
        memory._telemetry.recalled(rows.Recalled(memory._clock(), "shared", f"s{number}", None, f"q{number}", (), 1))
    assert memory.stats()["telemetry"]["dropped"] == 5
    memory._telemetry._thread = None
    asked = {one["sample"] for one in memory.telemetry()["queries"]}
    assert "q4" not in asked
    assert {"q5", f"q{room.RING + 4}"} <= asked


def test_a_thread_of_its_own_writes_what_waits(opens, monkeypatch):
    monkeypatch.setattr(room, "EVERY_S", 0.01)
    memory = opens()
    memory.add_fact("acme", "tier", "gold")
    memory.search("gold")
    thread = memory._telemetry._thread
    written = threading.Event()
    for _ in range(500):
        if memory.stats()["telemetry"]["waiting"] == 0 and memory._telemetry._flushes:
            written.set()
            break
        thread.join(0.01)
    assert written.is_set()
    memory.close()
    assert not thread.is_alive()


@pytest.mark.parametrize("damage", ["garbage", "directory", "foreign"])
def test_a_sidecar_that_cannot_be_used_is_counted_and_named_and_no_recall_notices(opens, tmp_path, damage):
    place = tmp_path / "m.afl.telemetry.db"
    if damage == "directory":
        place.mkdir()
    elif damage == "garbage":
        place.write_bytes(b"this was never a database of anybody, and it is long enough to tell. " * 40)
    else:
        other = sqlite3.connect(place)
        other.execute("CREATE VIEW telem_meta AS SELECT 1 AS other")
        other.close()
    memory = opens()
    address = memory.add_fact("acme", "tier", "gold")
    assert [one["hash"] for one in memory.search("gold")] == [address]
    memory.flush()
    state = memory.stats()["telemetry"]
    assert state["failures"] == 1
    assert state["last_error"]
    with pytest.raises(AflError) as refused:
        memory.telemetry()
    assert refused.value.code == "AFL-STORE-037"
    assert [one["hash"] for one in memory.search("gold")] == [address]
    memory.close()


def test_a_damaged_sidecar_goes_with_the_next_forget(opens, tmp_path, clock):
    (tmp_path / "m.afl.telemetry.db").write_bytes(b"this was never a database of anybody, and it is long enough to tell. " * 40)
    memory = opens()
    address = memory.add_fact("acme", "tier", "gold")
    assert memory.forget(address) == [address]
    assert not (tmp_path / "m.afl.telemetry.db").exists()
    clock.advance(seconds=1)
    memory.search("gold")
    assert memory.telemetry()["queries"][0]["sample"] == "gold"


def test_a_locked_sidecar_keeps_a_forget_from_being_called_done(memory, clock, monkeypatch):
    address = memory.add_fact("acme", "tier", "gold")
    memory.search("gold")
    memory.flush()
    memory._telemetry._open().execute("PRAGMA busy_timeout = 20")
    with sidecar(memory) as holds:
        holds.execute("BEGIN IMMEDIATE")
        with pytest.raises(AflError) as refused:
            memory.forget(address)
    assert refused.value.code == "AFL-STORE-032"
    assert memory.stats()["unswept"] == 1
    assert memory.sweep()
    assert memory.stats()["unswept"] == 0
    assert memory.telemetry()["queries"] == []


def test_an_older_sidecar_is_begun_anew(memory):
    memory.add_fact("acme", "tier", "gold")
    memory.search("gold")
    memory.flush()
    with sidecar(memory) as db:
        db.execute("UPDATE telem_meta SET v = '3' WHERE k = 'schema_version'")
    memory._telemetry._db.close()
    memory._telemetry._db = None
    memory.search("silver")
    assert [one["sample"] for one in memory.telemetry()["queries"]] == ["silver"]


def test_a_recall_that_still_saw_a_grain_that_is_forgotten_meanwhile_leaves_nothing_behind(opens, tmp_path):
    memory, other = opens(telemetry="full"), opens(telemetry="off")
    gone = memory.add_fact("acme", "owner", "xylophone")
    memory.add_fact("acme", "tier", "gold")
    note = memory._telemetry.recalled

    def forgotten_first(one):
        if gone in one.hashes:
            other.forget(gone)
        note(one)

    memory._telemetry.recalled = forgotten_first
    assert len(memory.search("xylophone")) == 1
    memory.search("gold")
    memory.flush()
    assert [one["sample"] for one in memory.telemetry()["queries"]] == ["gold"]
    assert files_with(tmp_path, "xylophone") == []
    assert "m.afl.telemetry.db" not in files_with(tmp_path, gone)


@pytest.mark.parametrize("way", ["flush", "telemetry"])
def test_from_inside_of_a_reading_telemetry_waits_on(opens, tmp_path, way):
    memory, other = opens(telemetry="full"), opens(telemetry="off")
    gone = memory.add_fact("acme", "owner", "xylophone")
    memory.add_batch({"type": "observation", "content": f"gold {n}"} for n in range(1_500))
    memory.flush()
    told = []

    def ask(_seen):
        if not told:
            memory.search("xylophone")
            memory.search("gold")
            memory._telemetry.flush() if way == "flush" else memory.telemetry()
            told.append(memory.stats()["telemetry"]["waiting"])

    memory.verify(progress=ask)
    assert told[0] >= 2
    other.forget(gone)
    memory.flush()
    assert files_with(tmp_path, "xylophone") == []
    assert memory.stats()["telemetry"]["failures"] == 0


@pytest.mark.parametrize(
    ("fields", "question"),
    [
        ({"content": "x", "context": {"why": "zugzwang"}}, "zugzwang"),
        ({"content": "x", "user_id": "zugzwang"}, "who is zugzwang"),
        ({"content": "gold " * 5_000 + "zugzwang"}, "zugzwang"),
        ({"content": "zugzwang"}, "all zugzwangs"),
        ({"content": "\u2603\u2603\u2603"}, "\u2603\u2603\u2603"),
        ({"content": "茶室"}, "好茶室的"),
    ],
)
def test_no_question_that_holds_a_word_of_a_forgotten_grain_stays(opens, fields, question):
    memory = opens(telemetry="full")
    memory.add("observation", content="gold")
    gone = memory.add("observation", fields)
    for asked in (question, "gold"):
        memory.search(asked)
    memory.flush()
    memory.forget(gone)
    assert [one["sample"] for one in memory.telemetry()["queries"]] == ["gold"]


@pytest.mark.parametrize("index_text", [True, False])
def test_questions_about_others_stay_also_where_the_grains_are_not_indexed_yet(opens, index_text):
    memory = opens(telemetry="full", index_text=index_text)
    memory.add_batch({"type": "fact", "subject": f"project-{n}", "relation": "deploy_target", "object": f"eu-{n}"} for n in range(50))
    gone = memory.add_fact("project-gone", "deploy_target", "xylophone")
    for n in range(50):
        memory.recall(f"project-{n}", "deploy_target")
    memory.recall("project-gone")
    memory.flush()
    before = in_sidecar(memory, "SELECT count(*) FROM telem_recall_log")[0][0]
    memory.forget(gone)
    assert (before, in_sidecar(memory, "SELECT count(*) FROM telem_recall_log")[0][0]) == (51, 50)


def test_a_memory_that_nobody_closed_ends_with_its_thread_and_its_files(tmp_path):
    def used():
        memory = Memory(tmp_path / "m.afl")
        memory.add_fact("acme", "is", "here")
        memory.recall("acme")
        return memory._telemetry._thread

    thread = used()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()
        thread.join(30)
    assert not thread.is_alive()
    if os.path.isdir("/proc/self/fd"):
        held = [os.path.realpath(f"/proc/self/fd/{one}") for one in os.listdir("/proc/self/fd")]
        assert not [one for one in held if one.startswith(str(tmp_path))]
