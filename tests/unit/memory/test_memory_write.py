"""Grains get in, give way and are taken back; tool calls are counted once each."""

from __future__ import annotations

import pytest

from afl_core.memory import write
from afl_core.model.errors import StoreError
from afl_core.model.grain import GrainType, HeadKey, make
from afl_core.store import grains
from afl_core.store.connection import writing

NOW = 1_767_225_600_000
KEY = HeadKey("shared", "acme", "deploys_to")


def fact(value, at=NOW):
    return make(GrainType.FACT, {"subject": "acme", "relation": "deploys_to", "object": value}, at)


def call(db, **changed):
    given = {
        "tool_name": "Bash",
        "call_id": "c1",
        "input_text": '{"command":"make"}',
        "is_error": True,
        "exit_code": 2,
        "duration_ms": 10,
        "error_text": "make: *** no rule for target 7",
        "at_ms": NOW,
    }
    session_id = changed.pop("session_id", "claude:s")
    return next(iter(write.record_tool_calls(db, "project:p", session_id, [write.ToolCall(**{**given, **changed})])), None)


def dump(db):
    return [tuple(row) for row in db.execute("SELECT * FROM grains ORDER BY seq")]


def test_adding_what_is_there_changes_nothing(db):
    with writing(db):
        address = write.add(db, fact("east"))
        before = dump(db)
        assert write.add(db, fact("east")) == address
    assert dump(db) == before


def test_a_second_value_becomes_the_only_head_and_both_stay_live(db):
    with writing(db):
        one, two = write.add(db, fact("east")), write.add(db, fact("west"))
    assert grains.heads(db, KEY) == [two]
    assert grains.get(db, one).superseded_by is None


def test_superseding_hides_the_old_and_links_the_new(db):
    with writing(db):
        old = write.add(db, fact("east"))
        new = write.supersede(db, old, fact("west", NOW + 1))
    assert grains.heads(db, KEY) == [new]
    assert grains.get(db, old).superseded_by == new
    assert db.execute("SELECT derived_from FROM grains WHERE hash = ?", (new,)).fetchone()[0] == old


def test_a_grain_cannot_be_superseded_twice_and_a_missing_one_not_at_all(db):
    with writing(db):
        old = write.add(db, fact("east"))
        write.supersede(db, old, fact("west", NOW + 1))
    with pytest.raises(StoreError) as twice, writing(db):
        write.supersede(db, old, fact("north", NOW + 2))
    assert twice.value.code == "AFL-STORE-021"
    with pytest.raises(StoreError) as missing, writing(db):
        write.supersede(db, "0" * 64, fact("north", NOW + 2))
    assert missing.value.code == "AFL-STORE-020"


def test_undoing_a_supersession_brings_the_old_head_back_and_it_can_be_done_again(db):
    with writing(db):
        old = write.add(db, fact("east"))
        new = write.supersede(db, old, fact("west", NOW + 1))
        after = dump(db)
        write.unsupersede(db, old, new)
        assert grains.heads(db, KEY) == [old]
        assert grains.get(db, old).superseded_by is None
        assert grains.get(db, new).superseded_by == grains.WITHDRAWN
        write.supersede(db, old, fact("west", NOW + 1))
    assert dump(db) == after


def test_taking_back_the_head_gives_it_to_the_newest_that_is_left(db):
    with writing(db):
        one, two = write.add(db, fact("east")), write.add(db, fact("west", NOW + 1))
        write.retract(db, two)
        assert grains.heads(db, KEY) == [one]
        write.retract(db, one)
    assert grains.heads(db, KEY) == []


def test_a_withdrawn_grain_comes_back_when_it_is_added_again(db):
    with writing(db):
        address = write.add(db, fact("east"))
        write.retract(db, address)
        write.add(db, fact("east"))
    assert grains.heads(db, KEY) == [address]
    assert grains.get(db, address).superseded_by is None


def test_a_tool_call_is_stored_once_however_often_the_transcript_is_read(db):
    with writing(db):
        assert call(db) is not None
        assert call(db, at_ms=NOW + 5) is None
        assert call(db, call_id="c2") is not None
        assert call(db, session_id="claude:t") is not None
    assert db.execute("SELECT count(*) FROM grains").fetchone()[0] == 3


def test_a_failure_keeps_a_capped_text_and_its_signature(db):
    with writing(db):
        address = call(db, input_text="i" * 600, error_text="e" * 1_100)
        other = call(db, call_id="c2", input_text="", error_text="e" * 1_100)
    fields = grains.get(db, address).grain.fields
    assert (len(fields["input"]), len(fields["error"])) == (512, 1024)
    rows = db.execute("SELECT signature, is_error, tool_name FROM grains WHERE hash IN (?, ?)", (address, other)).fetchall()
    assert len({row["signature"] for row in rows}) == 1
    assert all(row["signature"] and row["is_error"] == 1 and row["tool_name"] == "Bash" for row in rows)


def test_a_success_keeps_no_text(db):
    with writing(db):
        address = call(db, is_error=False, exit_code=0, error_text="the whole output")
    assert "the whole output" not in db.execute("SELECT fields_json FROM grains WHERE hash = ?", (address,)).fetchone()[0]
    assert db.execute("SELECT signature FROM grains").fetchone()[0] is None


def test_bytes_that_a_tool_should_not_print_do_not_stop_it(db):
    with writing(db):
        address = call(db, input_text="a\0b", error_text="x\ud800\0y", is_error=True, call_id="e\u0301")
        assert call(db, call_id="e\u0301") is None
    assert grains.get(db, address).grain.fields["error"] == "x?\ufffdy"


def test_what_is_read_back_has_the_address_it_is_stored_under(db):
    with writing(db):
        write.add(db, fact("caf\u0065\u0301"))
        call(db)
    for (address,) in db.execute("SELECT hash FROM grains").fetchall():
        assert grains.get(db, address).grain.hash == address
