"""What was forgotten is in no file of the memory any more, in no row of its audit, and stays out when that was asked for."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import threading
import time

import pytest
from stored_bytes import files_with, put_between_cells

from afl_core import Memory
from afl_core.changes.audit import verify_chain
from afl_core.memory import erase, write
from afl_core.model.errors import AflError, StoreError
from afl_core.store import migrate, terms, wal
from afl_core.store.audit import rows
from afl_core.store.connection import connect

WORD = "xylophone"


def refused(call):
    with pytest.raises(AflError) as caught:
        call()
    return caught.value.code


@pytest.mark.parametrize("telemetry", ["full", "aggregate", "off"])
def test_an_erased_word_is_in_no_file(memory, opens, tmp_path, clock, telemetry):
    asks = opens(telemetry="full")
    for number in range(50):
        memory.add_fact(f"entity-{number}", "note", f"value {number}")
    secret = memory.add_fact("acme", "owner", f"plays the {WORD}")
    for question in (f"who plays {WORD}?", "who plays?"):
        asks.search(question)
    asks.recall("acme")
    asks.close()
    assert files_with(tmp_path, WORD) != []
    clock.advance(seconds=1)
    opens(telemetry=telemetry).forget(secret)
    assert files_with(tmp_path, WORD) == []
    assert memory.verify()["ok"]
    assert memory.search(WORD) == []
    assert [one["recall_count"] for one in memory.telemetry()["access"] if one["hash"] == secret] == []


@pytest.mark.parametrize("way", ["forget", "forget_subject", "sweep", "opening"])
def test_copies_of_a_row_that_stayed_between_the_cells_of_pages_go_too(tmp_path, clock, way):
    path = tmp_path / "m.afl"
    with Memory(path, telemetry="full", clock=clock) as memory:
        secret = memory.add_fact("acme", "owner", "somebody")
        memory.add_batch({"type": "fact", "subject": f"s{n}", "relation": "is", "object": f"value {n}"} for n in range(300))
        memory.search("value")
        if way in ("sweep", "opening"):
            with memory._files.writer() as db:
                erase.forget(db, secret, clock(), keep_out=False)
    assert put_between_cells(path, WORD) > 10
    assert put_between_cells(tmp_path / "m.afl.telemetry.db", WORD) > 0
    assert files_with(tmp_path, WORD) == ["m.afl", "m.afl.telemetry.db"]
    if way == "sweep":
        db = connect(path)
        assert erase.pending(db) == [secret]
        erase.sweep(db)
        db.close()
        assert files_with(tmp_path, WORD) == ["m.afl.telemetry.db"]
        return
    with Memory(path, telemetry="full", clock=clock) as memory:
        if way == "forget":
            memory.forget(secret)
        elif way == "forget_subject":
            memory.forget_subject("acme")
        assert files_with(tmp_path, WORD) == []
        assert memory.verify()["ok"]
        assert len(memory.search("value", k=50)) == 50


def test_several_are_forgotten_at_once_all_or_none(memory, tmp_path):
    secrets = [memory.add_fact("acme", f"owner {n}", f"{WORD} {n}") for n in range(5)]
    kept = memory.add_fact("acme", "tier", "gold")
    assert refused(lambda: memory.forget_many([*secrets, "0" * 64])) == "AFL-STORE-020"
    assert refused(lambda: memory.forget_many(secrets[0])) == "AFL-MODEL-010"
    assert refused(lambda: memory.forget_many([secrets[0], 7])) == "AFL-MODEL-010"
    assert memory.stats()["grains"] == 6
    given = [secrets[0][:20], *secrets, secrets[1]]
    assert memory.forget_many(iter(given), dry_run=True) == secrets
    statements = []
    memory._files.reader().set_trace_callback(statements.append)
    assert memory.forget_many(given, because="wrong customer") == secrets
    memory._files.reader().set_trace_callback(None)
    assert statements.count("VACUUM") == 1
    assert memory.forget_many([]) == []
    assert [one["hash"] for one in memory.recall("acme")] == [kept]
    assert files_with(tmp_path, WORD) == []
    told = [(row.action, row.target) for row in rows(memory._files.reader()) if row.action == "grain.forget"]
    assert len(set(told)) == len(secrets)


FULL = """
import resource, signal, sys
from afl_core import Memory
from afl_core.model.errors import StoreError

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
memory = Memory(sys.argv[1], telemetry="off")
memory.add_batch({"type": "observation", "content": f"{n} " + "long words " * 40} for n in range(3_000))
secret = memory.add_fact("acme", "owner", "xylophone")
memory.flush()
memory._files.reader().execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
_, most = resource.getrlimit(resource.RLIMIT_FSIZE)
resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, most))
try:
    memory.forget(secret)
except StoreError as bad:
    print(bad.code, bad.sentence, bad.hint, sep="|")
print(memory.stats()["unswept"], len(memory.recall("acme")), memory.verify()["ok"])
resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
print(memory.sweep(), memory.stats()["unswept"], memory.verify()["ok"])
memory.close()
"""


def test_a_file_that_cannot_be_made_anew_is_told_and_a_sweep_ends_it(tmp_path):
    done = subprocess.run([sys.executable, "-c", FULL, str(tmp_path / "m.afl")], capture_output=True, text=True, check=True)
    told, between, after = done.stdout.splitlines()
    code, sentence, hint = told.split("|")
    assert code == "AFL-STORE-032"
    assert sentence.startswith("the grains are deleted, but their bytes are still in the file: ")
    assert os.path.getsize(tmp_path / "m.afl") > 1_000_000
    assert "afl sweep" in hint
    assert (between, after) == ("1 0 True", "True 0 True")
    assert files_with(tmp_path, WORD) == []


def test_questions_go_that_hold_a_word_nobody_else_says_and_others_stay(memory, clock):
    memory.add_fact("acme", "tier", "gold standard")
    secret = memory.add_fact("acme", "owner", f"gold {WORD}")
    for question in (WORD, f"is {WORD} gold", "gold", "weather"):
        memory.search(question)
    memory.flush()
    clock.advance(seconds=1)
    memory.forget(secret)
    assert sorted(one["sample"] for one in memory.telemetry()["queries"]) == ["gold", "weather"]


def test_a_subject_is_forgotten_with_its_parts_of_every_type_and_without_its_namesakes(memory, tmp_path, clock):
    gone = [
        memory.add_fact("pat", "likes", "zugzwang"),
        memory.add_fact("pat#visit1", "saw", "zugzwang"),
        memory.add("goal", subject="pat", description="zugzwang"),
    ]
    stays = memory.add_fact("patricia", "likes", "tea")
    memory.recall("pat")
    memory.search("what does pat like")
    memory.flush()
    clock.advance(seconds=1)
    assert memory.forget_subject("pat", dry_run=True) == gone
    assert memory.stats()["grains"] == 4
    assert memory.forget_subject("pat", because="she asked") == gone
    assert files_with(tmp_path, "zugzwang") == []
    assert memory.telemetry()["queries"] == []
    assert memory.get(stays)["object"] == "tea"
    assert memory.forget_subject("pat") == []


def test_a_subject_can_be_forgotten_in_every_namespace(memory):
    memory.add_fact("pat", "likes", "tea")
    memory.add_fact("pat", "likes", "tea", namespace="other")
    assert len(memory.forget_subject("pat", ns="*")) == 2


def test_the_audit_tells_who_when_why_and_how_many_and_never_whom(memory, tmp_path):
    memory.add_fact("pat smith", "likes", "tea")
    memory.forget_subject("pat smith", because="request 7")
    db = memory._files.reader()
    row = next(iter(rows(db)))
    assert (row.actor, row.action, len(row.target)) == ("user:local", "grain.forget_subject", 16)
    assert verify_chain(db) is None
    assert files_with(tmp_path, "pat smith") == []
    assert files_with(tmp_path, "request 7") != []


def test_a_dry_run_changes_nothing(memory):
    address = memory.add_fact("acme", "tier", "gold")
    assert memory.forget(address[:8], dry_run=True) == [address]
    assert memory.latest("acme", "tier")["hash"] == address
    assert memory._files.reader().execute("SELECT count(*) FROM audit").fetchone()[0] == 0


@pytest.mark.parametrize("again", ["gold", "GOLD", " gold ", "g\u200bold", "gоld", "ｇｏｌｄ", "gòld", "go\u00adld", "𝐠𝐨𝐥𝐝", "g0ld"])
def test_a_value_that_stays_out_is_known_in_every_spelling_on_every_way_in(memory, again):
    address = memory.add_fact("acme", "tier", "gold")
    other = memory.add_fact("acme", "tier", "silver")
    memory.forget(address, keep_out=True)
    fact = {"subject": "acme", "relation": "tier", "object": again}
    ways = [
        lambda: memory.add("fact", fact),
        lambda: memory.add_fact("acme", "tier", again),
        lambda: memory.add_batch([{"type": "fact", "subject": "b", "relation": "c", "object": "d"}, {"type": "fact", **fact}]),
        lambda: memory.supersede(other, object=again),
    ]
    assert [refused(way) for way in ways] == ["AFL-STORE-030"] * 4
    assert memory.stats()["kept_out"] == 1
    assert memory.stats()["grains"] == 1


def test_a_tool_call_that_stays_out_is_refused_and_may_come_in_again_when_it_is_allowed(memory, clock):
    address = memory.record_tool_call("Bash", "secret output")
    memory.forget(address, keep_out=True)
    clock.advance(seconds=1)
    assert refused(lambda: memory.record_tool_call("Bash", "Secret  output")) == "AFL-STORE-030"
    assert not memory.allow("tool", tool_name="Bash", tool_content="other")
    assert memory.allow("tool", tool_name="Bash", tool_content="SECRET output")
    assert memory.record_tool_call("Bash", "secret output")
    assert memory.stats()["kept_out"] == 0


def test_a_reader_that_holds_the_log_is_named_and_the_rest_is_done_later(memory, opens, tmp_path, monkeypatch):
    secret = memory.add_fact("acme", "owner", WORD)
    memory._files.reader().execute("PRAGMA busy_timeout = 50")
    reading = sqlite3.connect(memory.path)
    reading.execute("BEGIN")
    reading.execute("SELECT count(*) FROM grains").fetchone()
    statements = []
    memory._files.reader().set_trace_callback(statements.append)
    assert refused(lambda: memory.forget(secret)) == "AFL-STORE-032"
    memory._files.reader().set_trace_callback(None)
    assert "VACUUM" not in statements  # each would put a copy of the file into the log
    assert memory.stats()["unswept"] == 1
    assert refused(lambda: memory.get(secret)) == "AFL-STORE-020"
    assert refused(memory.sweep) == "AFL-STORE-032"
    reading.close()
    assert files_with(tmp_path, WORD) != []
    opens()
    assert files_with(tmp_path, WORD) == []
    assert memory.stats()["unswept"] == 0
    assert memory.sweep() is False


def test_what_another_process_still_holds_of_a_forgotten_grain_is_not_written(memory, opens, tmp_path, clock):
    secret = memory.add_fact("acme", "owner", WORD)
    other = opens(telemetry="full")
    other.search(WORD)
    clock.advance(seconds=1)
    memory.forget(secret)
    clock.advance(seconds=1)
    other.search("weather")
    other.flush()
    assert files_with(tmp_path, WORD) == []
    assert [one["sample"] for one in other.telemetry()["queries"]] == ["weather"]


def test_copies_from_before_a_migration_go_too(memory, tmp_path):
    secret = memory.add_fact("acme", "owner", WORD)
    kept = tmp_path / ("m.afl" + migrate.COPIES)
    kept.mkdir()
    (kept / "m.afl.1767225600000").write_text(WORD)
    (kept / "notes").write_text("mine")
    memory.forget(secret)
    assert os.listdir(kept) == ["notes"]


def test_a_forgotten_middle_of_a_chain_leaves_the_chain_whole(memory, clock):
    one = memory.add_fact("acme", "tier", "one")
    clock.advance(seconds=1)
    two = memory.supersede(one, object="two")
    clock.advance(seconds=1)
    three = memory.supersede(two, object="three")
    memory.forget(two)
    assert memory.get(one)["superseded_by"] == three
    assert memory.get(three)["derived_from"] == one
    assert [each["object"] for each in memory.history("acme", "tier")] == ["three", "one"]
    memory.forget(three)
    assert memory.latest("acme", "tier") is None
    assert memory.get(one)["superseded_by"] == "withdrawn"
    assert memory.add_fact("acme", "tier", "one", created_at=memory.get(one)["created_at"]) == one
    assert memory.latest("acme", "tier")["hash"] == one


def test_no_place_is_given_twice_and_a_new_grain_is_found_behind_a_forgotten_one(memory):
    addresses = [memory.add_fact("acme", str(number), "gold") for number in range(3)]
    memory.search("gold")
    for address in reversed(addresses):
        memory.forget(address)
    again = memory.add_fact("acme", "new", "gold")
    assert [one["hash"] for one in memory.search("gold")] == [again]


def test_old_calls_that_were_captured_expire_from_the_index_too_and_what_a_person_recorded_stays(memory, clock):
    memory.record_tool_call("Bash", "no such file", call_id="c", thread="s")
    captured = write.ToolCall("k", "Bash", "{}", is_error=True, exit_code=1, duration_ms=1, error_text="no such file", at_ms=clock())
    with memory._files.writer() as db:
        write.record_tool_calls(db, "project:p", "s", [captured])
    assert len(memory.search("file", ns="*")) == 2
    clock.advance(days=40)
    with memory._files.writer() as db:
        assert erase.expire(db, clock() - 1) == 1
    assert [one["namespace"] for one in memory.search("file", ns="*")] == ["shared"]
    assert memory.verify()["ok"]


def test_what_is_not_there_cannot_be_forgotten(memory):
    with pytest.raises(StoreError, match="there is no grain"):
        memory.forget("0" * 64)


def test_the_place_of_what_was_forgotten_last_is_not_given_again(memory):
    memory.add("observation", content="first")
    last = memory.add("observation", content="second")
    memory.flush()
    for word in ("third", "fourth"):
        memory.forget(last)
        last = memory.add("observation", content=word)
        assert [one["content"] for one in memory.search(word)] == [word]


def test_a_forget_in_the_middle_of_an_export_says_nothing_of_a_deletion_that_is_taken_back(memory, tmp_path):
    secret = memory.add_fact("acme", "owner", WORD)
    memory.add_batch({"type": "observation", "content": f"n{n}"} for n in range(3_000))
    memory._files.reader().execute("PRAGMA busy_timeout = 50")
    codes = []

    def progress(done, whole):
        if 0 < done < whole and not codes:
            codes.append(refused(lambda: memory.forget(secret)))

    memory.export(tmp_path / "all.jsonl", progress=progress)
    assert codes == ["AFL-STORE-038"]
    assert memory.get(secret)["object"] == WORD
    assert memory.stats()["unswept"] == 0
    assert memory.forget(secret) == [secret]


def test_a_forget_that_another_ones_rest_stands_in_the_way_of_deletes_its_own_grain_too(memory, tmp_path):
    first, second = memory.add_fact("a", "is", "one"), memory.add_fact("b", "is", WORD)
    memory._files.reader().execute("PRAGMA busy_timeout = 50")
    reading = sqlite3.connect(memory.path)
    reading.execute("BEGIN")
    reading.execute("SELECT count(*) FROM grains").fetchone()
    for address in (first, second):
        assert refused(lambda address=address: memory.forget(address)) == "AFL-STORE-032"
        assert refused(lambda address=address: memory.get(address)) == "AFL-STORE-020"
    reading.close()
    assert memory.sweep()
    assert files_with(tmp_path, WORD) == []


def test_a_memory_with_a_damaged_page_still_opens_after_a_forget(tmp_path):
    path = tmp_path / "m.afl"
    with Memory(path, telemetry="off") as memory:
        given = [memory.add_fact(f"s{n}", "is", f"value{n} " + "x" * 200) for n in range(1_000)]
        memory.search("value1")
    data = bytearray(path.read_bytes())
    page = data.find(b"value500 xxx") // 2048 * 2048
    data[page : page + 16] = b"\xff" * 16
    path.write_bytes(data)
    for address in given[10:12]:
        with Memory(path, telemetry="off") as memory:
            assert refused(lambda address=address, memory=memory: memory.forget(address)) == "AFL-STORE-032"
            assert memory.get(given[20])["subject"] == "s20"


def questions(memory):
    return {one["sample"] for one in memory.telemetry()["queries"]}


def test_a_forget_ends_another_one_that_broke_off_and_makes_the_file_anew_once(memory, tmp_path, monkeypatch):
    left, mine = memory.add_fact("acme", "owner", WORD), memory.add_fact("acme", "tier", "gold")
    memory.search(WORD)
    memory.flush()
    with memory._files.writer() as db:
        erase.forget(db, left, memory._clock(), keep_out=False)
    assert files_with(tmp_path, WORD) != []
    renewed = counted(monkeypatch)
    memory.forget(mine)
    assert len(renewed) == 2  # the memory and its sidecar
    assert files_with(tmp_path, WORD) == []
    assert memory.stats()["unswept"] == 0


def test_a_forget_of_another_handle_that_goes_on_is_not_taken_for_done(memory, opens, monkeypatch):
    theirs, mine = memory.add_fact("acme", "owner", WORD), memory.add_fact("acme", "tier", "gold")
    other = opens()
    scrub = memory._telemetry.scrub

    def scrub_while_another_deletes(*given, **named):
        with other._files.writer() as db:
            erase.forget(db, theirs, memory._clock(), keep_out=False)
        scrub(*given, **named)

    monkeypatch.setattr(memory._telemetry, "scrub", scrub_while_another_deletes)
    memory.forget(mine)
    assert erase.pending(memory._files.reader()) == [theirs]


def counted(monkeypatch):
    """Grows by one whenever a file is made anew."""
    seen, vacuum = [], wal._vacuum
    monkeypatch.setattr(wal, "_vacuum", lambda db: (seen.append(1), vacuum(db)))
    return seen


def test_forgets_of_several_threads_are_each_made_once_and_questions_of_others_stay(memory, tmp_path, clock, monkeypatch):
    given = [memory.add_fact("acme", f"owner {n}", f"{WORD} {n}") for n in range(6)]
    memory.add_fact("acme", "tier", "gold")
    memory.search("gold")
    memory.flush()
    clock.advance(seconds=1)
    renewed = counted(monkeypatch)
    threads = [threading.Thread(target=memory.forget, args=(address,)) for address in given]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert len(renewed) == 2 * len(given)
    assert questions(memory) == {"gold"}
    assert files_with(tmp_path, WORD) == []


def test_what_is_asked_while_a_forget_waits_for_its_turn_is_not_kept(memory, tmp_path, clock):
    secret = memory.add_fact("acme", "owner", WORD)
    memory.search(WORD)
    memory.flush()
    writing = sqlite3.connect(memory.path, isolation_level=None)
    writing.execute("BEGIN IMMEDIATE")
    waits = threading.Thread(target=memory.forget, args=(secret,))
    waits.start()
    until(lambda: memory._files._lock.acquire(blocking=False) is False or memory._files._lock.release())
    clock.advance(seconds=1)
    memory.search(WORD)
    clock.advance(seconds=1)
    writing.execute("ROLLBACK")
    writing.close()
    waits.join(30)
    memory.flush()
    assert files_with(tmp_path, WORD) == []


def until(holds):
    """Wait for something that another thread is about to do."""
    for _ in range(3_000):
        if holds():
            return
        time.sleep(0.01)
    raise AssertionError("it did not come to pass")


def test_a_memory_can_be_searched_however_many_grains_were_forgotten_one_by_one(opens, monkeypatch):
    monkeypatch.setattr(wal, "_vacuum", lambda _db: None)  # which makes no difference here, and takes the time
    memory = opens(telemetry="off")
    given = memory.add_batch({"type": "fact", "subject": f"s{n}", "relation": "is", "object": f"v {n}"} for n in range(1_100))
    memory.add_fact("acme", "tier", "gold")
    memory.search("gold")
    levels = []
    for address in given:
        memory.forget(address)
        levels.append(terms._number(memory._files.reader().execute("SELECT block FROM terms_data WHERE id = 10").fetchone()[0][4:]))
        assert memory.stats()["not_indexed"] == 0
    assert [one["object"] for one in memory.search("gold")] == ["gold"]
    assert memory.verify()["ok"]
    assert max(levels) <= terms.LEVELS + 4
    assert max(levels) > terms.LEVELS or sqlite3.sqlite_version_info > (3, 40, 1)  # where levels do not grow this shows nothing


@pytest.mark.parametrize("index_text", [True, False])
def test_an_index_that_is_worn_is_begun_anew_by_the_forget_and_by_nobody_else(opens, tmp_path, monkeypatch, index_text):
    monkeypatch.setattr(terms, "LEVELS", 3)
    memory = opens(telemetry="off", passphrase=None)
    memory.add_batch({"type": "fact", "subject": f"s{n}", "relation": "is", "object": f"{WORD} v {n}"} for n in range(300))
    memory.search("v")
    bare = opens(telemetry="off", index_text=index_text)
    for n in range(3):
        bare.forget_subject(f"s{n}")
    assert (memory.stats()["not_indexed"] > 0) is not index_text
    assert len(memory.search(WORD, 512)) == 297
    assert memory.verify()["ok"]
    memory.forget_many(one["hash"] for one in memory.recall(k=512))
    assert files_with(tmp_path, WORD) == []
