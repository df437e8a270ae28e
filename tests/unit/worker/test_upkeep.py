"""Retention by the clock, and the sweep of what interrupted processes left."""

from __future__ import annotations

import os
import pathlib
import time

import attrs
import capture_world as worlds
import pytest

from afl_core.memory import index, write
from afl_core.model import grain
from afl_core.model.clock import DAY_MS
from afl_core.store import status
from afl_core.store.connection import writing
from afl_core.worker import upkeep
from afl_core.worker.key_sweep import sweep_keys

RETENTION = 10

SAID = "do it, the password is Uhu_Nest_8q"
KEPT = "do it, the password is [REDACTED:credential]"
"""Words of which the index does not hold everything, so that their raw form is sealed."""


@pytest.fixture
def world(home):
    made = worlds.World(home, now=worlds.RECORDED_MS + 60_000)
    made.session(home / "t.jsonl")
    yield made
    made.close()


@pytest.fixture
def captured(world, home):
    """A session of three events, one of which waits for a review and holds a secret."""
    worlds.Tape(home / "t.jsonl").person(SAID).call("c1").result("c1", "Exit code 1", is_error=True)
    world.absorb()
    assert world.waiting() == [(KEPT, 0)]
    return world


def reviewed(world):
    with writing(world.db):
        world.db.execute("UPDATE queue SET status = 'acknowledged'")


def count(world, table="events"):
    return world.db.execute(f"SELECT count(*) FROM {table}").fetchone()[0]


def in_days(world, days):
    world.now = worlds.RECORDED_MS + 60_000 + int(days * DAY_MS)


def settings(world, **changed):
    world.home.__dict__["settings"] = attrs.evolve(world.home.settings, **changed)


def age_blobs(world, ms):
    for name, _ in list(world.home.blobs.names()):
        moment = (world.now - ms) / 1000
        os.utime(world.home.blobs.path(name), (moment, moment))


def test_reviewed_evidence_lives_until_the_retention_and_not_longer(captured):
    reviewed(captured)
    in_days(captured, RETENTION)
    assert upkeep.run(captured.home)["events"] == 0
    in_days(captured, RETENTION + 0.01)
    assert upkeep.run(captured.home)["events"] == 3
    assert (count(captured), count(captured, "sightings"), count(captured, "queue")) == (0, 0, 0)


def test_a_session_with_words_that_wait_for_a_review_is_kept_whole(captured):
    in_days(captured, 5 * RETENTION)
    upkeep.run(captured.home)
    assert count(captured) == 3


def test_words_that_were_given_up_keep_nothing_alive(captured):
    with writing(captured.db):
        captured.db.execute("UPDATE queue SET status = 'exhausted'")
    in_days(captured, RETENTION + 1)
    assert upkeep.run(captured.home)["events"] == 3


def test_raw_records_that_were_never_reviewed_go_at_three_retentions_and_the_rows_stay(captured):
    in_days(captured, 3 * RETENTION)
    assert upkeep.run(captured.home)["raw"] == 0
    in_days(captured, 3 * RETENTION + 0.01)
    age_blobs(captured, upkeep.ORPHAN_MS + 1)
    done = upkeep.run(captured.home)
    assert done["raw"] == 1
    assert done["blobs"] == 1
    assert list(captured.home.blobs.names()) == []
    assert captured.events("text")[0] == KEPT


def test_no_retention_keeps_everything(captured):
    reviewed(captured)
    settings(captured, retention_days=0)
    in_days(captured, 1000)
    done = upkeep.run(captured.home)
    assert "events" not in done
    assert count(captured) == 3


def test_more_evidence_than_one_batch_is_removed_in_one_pass(captured, monkeypatch):
    reviewed(captured)
    monkeypatch.setattr(upkeep, "BATCH", 2)
    in_days(captured, RETENTION + 1)
    assert upkeep.run(captured.home)["events"] == 3


def test_another_sessions_evidence_does_not_wait_for_this_ones_review(captured, home):
    worlds.Tape(home / "other.jsonl", prefix="o").person("elsewhere")
    captured.session(home / "other.jsonl", "claude:other")
    captured.absorb("claude:other")
    with writing(captured.db):
        captured.db.execute(
            "UPDATE queue SET status = 'acknowledged' WHERE event_id IN (SELECT event_id FROM events WHERE text = 'elsewhere')"
        )
    in_days(captured, RETENTION + 1)
    assert upkeep.run(captured.home)["events"] == 1
    assert count(captured) == 3


def test_orphan_blobs_are_swept_and_shared_ones_kept(captured):
    tools = captured.tools()
    with writing(captured.db):
        tools.writer.register(captured.db)
    orphan = tools.blobs.put(tools.writer, b"left by a killed process")
    kept = {row[0] for row in captured.db.execute("SELECT DISTINCT blob FROM events WHERE blob IS NOT NULL")}
    age_blobs(captured, upkeep.ORPHAN_MS + 1)
    with writing(captured.db):
        captured.db.execute("DELETE FROM events WHERE kind = 'tool_call'")
    assert upkeep.run(captured.home)["blobs"] == 1
    assert {name for name, _ in captured.home.blobs.names()} == kept
    assert orphan not in kept


def test_a_young_orphan_may_still_get_its_event(captured):
    tools = captured.tools()
    with writing(captured.db):
        tools.writer.register(captured.db)
    tools.blobs.put(tools.writer, b"just written")
    captured.now = int(time.time() * 1000) + 1000
    settings(captured, retention_days=0)
    assert upkeep.run(captured.home)["blobs"] == 0


def test_a_blob_that_was_swept_between_writing_and_storing_is_written_again(world, home):
    worlds.Tape(home / "t.jsonl").person(SAID)

    def sweep(step):
        if step == "sealed":
            for name, _ in list(world.home.blobs.names()):
                world.home.blobs.remove(name)

    world.sync(home / "t.jsonl", checkpoint=sweep)
    assert SAID in world.raw(KEPT)


def test_hook_rows_go_with_the_retention_but_those_that_wait_stay_longer(world):
    old = world.hook("stop", None)
    waiting = world.hook("prompt", "behind a locked keystore")
    in_days(world, RETENTION + 1)
    assert upkeep.run(world.home)["intake"] == 1
    assert list(world.states()) == [waiting]
    assert old != waiting
    in_days(world, 3 * RETENTION + 1)
    assert upkeep.run(world.home)["intake"] == 1


def test_tool_grains_have_a_retention_of_their_own(captured):
    reviewed(captured)
    in_days(captured, 89)
    upkeep.run(captured.home)
    assert count(captured, "grains") == 1
    in_days(captured, 91)
    assert upkeep.run(captured.home)["tool_grains"] == 1
    assert count(captured, "grains") == 0


def test_expired_tool_grains_leave_the_text_index_and_no_note(captured):
    index.refresh(captured.db)
    assert indexed(captured, "bash") == 1
    in_days(captured, 91)
    assert upkeep.run(captured.home)["tool_grains"] == 1
    assert indexed(captured, "bash") == 0
    assert count(captured, "operations") == 0


def test_what_is_recorded_after_everything_expired_is_indexed_though_it_gets_an_old_number(captured):
    index.refresh(captured.db)
    in_days(captured, 91)
    upkeep.run(captured.home)
    with writing(captured.db):
        write.add(captured.db, grain.make(grain.GrainType.OBSERVATION, {"content": "the owl hoots"}, captured.now))
    index.refresh(captured.db)
    assert indexed(captured, "owl") == 1


def test_tool_calls_that_a_person_recorded_have_no_retention(captured):
    made = grain.make(grain.GrainType.TOOL, {"tool_name": "deploy", "tool_call_id": "by hand"}, worlds.RECORDED_MS)
    with writing(captured.db):
        write.record_call(captured.db, made)
    in_days(captured, 1000)
    assert upkeep.run(captured.home)["tool_grains"] == 1
    assert [row[0] for row in captured.db.execute("SELECT hash FROM grains")] == [made.hash]


def test_more_expired_tool_grains_than_one_batch_go_in_one_pass(captured, home, monkeypatch):
    monkeypatch.setattr(upkeep, "CALLS", 2)
    tape = worlds.Tape(home / "t.jsonl", prefix="w")
    for number in range(5):
        tape.call(f"more{number}").result(f"more{number}", "ok")
    captured.absorb()
    in_days(captured, 91)
    assert upkeep.run(captured.home)["tool_grains"] == 6


def indexed(world, word):
    return world.db.execute("SELECT count(*) FROM terms WHERE terms MATCH ?", (f'"{word}"',)).fetchone()[0]


def test_what_a_killed_review_left_is_swept(world):
    os.makedirs(world.home.paths.contexts, 0o700)
    left = pathlib.Path(world.home.paths.contexts) / "r1.1.json"
    left.write_text("{}", "utf-8")
    left.chmod(0o600)
    assert upkeep.run(world.home)["contexts"] == 1
    assert not left.exists()


def test_a_second_pass_finds_nothing_to_do(captured):
    reviewed(captured)
    in_days(captured, 100)
    age_blobs(captured, upkeep.ORPHAN_MS + 1)
    assert any(upkeep.run(captured.home).values())
    assert not any(upkeep.run(captured.home).values())


def test_a_pass_says_what_it_did(captured):
    reviewed(captured)
    in_days(captured, RETENTION + 1)
    upkeep.run(captured.home)
    assert status.get(captured.db, "upkeep")["events"] == 3


def test_expired_evidence_does_not_come_back_when_its_file_is_read_again(captured, home):
    reviewed(captured)
    in_days(captured, RETENTION + 1)
    upkeep.run(captured.home)
    data = (home / "t.jsonl").read_bytes()
    (home / "t.jsonl").unlink()
    (home / "new").write_bytes(data)
    (home / "new").rename(home / "t.jsonl")
    assert captured.absorb().born == 0


def test_keys_go_when_nothing_sealed_needs_them_and_stay_as_long_as_something_does(captured):
    for key_id in ("aa" * 8, "bb" * 8):
        with writing(captured.db):
            captured.db.execute("INSERT INTO vault_keys VALUES (?, 'intake', x'00', ?)", (key_id, captured.now))
    spooled = pathlib.Path(captured.home.paths.spool)
    spooled.mkdir(mode=0o700, exist_ok=True)
    (spooled / "r.rec").write_bytes(b"AFLP1 x claude Stop 1 1\n" + b"AFLS\x01" + bytes.fromhex("bb" * 8) + bytes(64))
    in_days(captured, 2)
    upkeep.run(captured.home)
    left = {row[0] for row in captured.db.execute("SELECT key_id FROM vault_keys")}
    assert "aa" * 8 not in left
    assert "bb" * 8 in left
    assert captured.db.execute("SELECT count(*) FROM vault_keys WHERE purpose = 'blob'").fetchone()[0] == 1
    blob = captured.db.execute("SELECT blob FROM events WHERE blob IS NOT NULL LIMIT 1").fetchone()[0]
    assert captured.home.blobs.get(captured.home.opener, blob)


def test_why_a_card_was_left_out_is_forgotten_after_a_month(captured):
    with writing(captured.db):
        captured.db.execute("INSERT INTO omissions VALUES ('i', 'l', 's', 'no_match', ?)", (captured.now,))
    in_days(captured, 29)
    upkeep.run(captured.home)
    assert count(captured, "omissions") == 1
    in_days(captured, 31)
    upkeep.run(captured.home)
    assert count(captured, "omissions") == 0


def key_ids(world):
    return {row[0] for row in world.db.execute("SELECT key_id FROM vault_keys")}


def test_a_key_that_another_process_begins_to_use_while_the_sweep_looks_around_is_kept(captured, home, monkeypatch):
    other = worlds.World(home, now=captured.now)
    other.home.writer.register(other.db)  # made long ago, and nothing was sealed with it yet
    in_days(captured, 2)
    other.now = captured.now
    worlds.Tape(home / "t.jsonl", start=captured.now - 10_000, prefix="n").person(f"sealed meanwhile, {SAID}")
    names = captured.home.blobs.names

    def slow():
        found = list(names())
        other.absorb()
        return iter(found)

    monkeypatch.setattr(captured.home.blobs, "names", slow)
    assert sweep_keys(captured.home, captured.now - 1) == 0
    assert other.messages()[-1] == ("user", f"sealed meanwhile, {KEPT}")
    other.close()
    assert SAID in captured.raw(f"sealed meanwhile, {KEPT}")


def test_a_key_that_was_swept_between_sealing_and_storing_is_there_again(world, home):
    worlds.Tape(home / "t.jsonl").person(SAID)

    def sweep(step):
        if step == "sealed":
            assert sweep_keys(world.home, world.now + 1) == 0  # it is needed already
            with writing(world.db):
                world.db.execute("DELETE FROM vault_keys")  # but a sweep that began before may not have seen it

    world.sync(home / "t.jsonl", checkpoint=sweep)
    assert SAID in world.raw(KEPT)


def test_a_key_that_was_swept_before_hook_only_words_are_stored_is_there_again(world, monkeypatch):
    world.hook("prompt", SAID, at=world.now - 600_000)
    put = world.home.blobs.put

    def swept(writer, data):
        if not world.db.in_transaction:
            name = put(writer, data)
            world.db.execute("DELETE FROM vault_keys WHERE purpose = 'blob'")
            return name
        return put(writer, data)

    monkeypatch.setattr(world.home.blobs, "put", swept)
    assert world.absorb().adopted == 1
    assert SAID in world.raw(KEPT)


def test_the_key_of_a_living_front_is_there_whenever_it_seals(world):
    from afl_core.worker.keyring import Keyring

    ring = Keyring(world.home.paths)
    ring.register(world.db, world.now)
    in_days(world, 2)
    upkeep.run(world.home)
    assert ring.intake_key_id not in key_ids(world)
    with writing(world.db):
        ring.register(world.db, world.now)
    upkeep.run(world.home)
    assert ring.intake_key_id in key_ids(world)


def test_the_spool_key_that_was_replaced_last_is_kept_for_a_hook_that_holds_it(world):
    with writing(world.db):
        for number, days in enumerate((9, 8, 7, 0)):
            row = (f"{number:016x}", world.now - days * DAY_MS)
            world.db.execute("INSERT INTO vault_keys VALUES (?, 'spool', x'00', ?)", row)
    assert sweep_keys(world.home, world.now - DAY_MS) == 2
    assert key_ids(world) >= {f"{2:016x}", f"{3:016x}"}


def test_transcripts_that_are_gone_for_long_are_forgotten_and_where_they_were_read_to_is_not(captured, home):
    captured.absorb()
    captured.now += 31 * DAY_MS
    assert upkeep.run(captured.home)["transcripts"] == 0
    (home / "t.jsonl").unlink()
    assert upkeep.run(captured.home)["transcripts"] == 1
    assert captured.db.execute("SELECT count(*) FROM transcripts").fetchone()[0] == 0
    assert captured.db.execute("SELECT count(*) FROM cursors").fetchone()[0] == 1
