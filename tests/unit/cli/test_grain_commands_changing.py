"""What is true now takes the place of what was, from the command line, and every one of these steps can be taken back."""

from __future__ import annotations

import json

import pytest
from grain_commands import SECRET, asked


@pytest.fixture
def gold(grains):
    return asked(grains, "add", "fact", "acme", "tier", "gold", "--confidence", "0.8")["hash"]


def said(grains):
    return [one["object"] for one in asked(grains, "recall", "acme")["grains"]]


def test_another_object_takes_the_place_of_a_fact_and_the_rest_is_taken_over_until_it_is_undone(grains, gold):
    new = asked(grains, "supersede", gold[:12], "silver")
    assert (new["superseded"], new["fields"]["object"], new["fields"]["confidence"]) == (gold, "silver", 0.8)
    assert said(grains) == ["silver"]
    assert asked(grains, "undo", gold)["undone"] == "supersede"
    assert said(grains) == ["gold"]


def test_other_fields_and_a_grain_that_is_there_take_the_place_of_one(grains, gold):
    sure = asked(grains, "supersede", gold, "--field", "confidence=0.95")["hash"]
    other = asked(grains, "add", "fact", "acme", "plan", "gold")["hash"]
    assert asked(grains, "supersede", sure, "--by", other)["hash"] == other
    assert [one["relation"] for one in asked(grains, "recall", "acme")["grains"]] == ["plan"]
    assert asked(grains, "undo", sure)["undone"] == "link"
    assert asked(grains, "supersede", sure, "--json-fields", '{"object": "lead"}')["fields"]["object"] == "lead"


def test_what_is_taken_back_is_recalled_no_more_and_comes_back(grains, gold):
    assert "taken back" in grains("retract", gold)[1]
    assert said(grains) == []
    assert "AFL-STORE-021: grain " in grains("retract", gold)[1]
    assert "undid retract" in grains("undo", gold)[1]
    assert said(grains) == ["gold"]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["supersede", "HASH"], "AFL-USAGE-001"),
        (["supersede", "HASH", "silver", "--by", "HASH"], "one of them, not both"),
        (["supersede", "HASH", "--field", "type=event"], "AFL-MODEL-002: type says which grain it is"),
        (["supersede", "HASH", "--json-fields", '{"hash": "x"}'], "AFL-MODEL-002: hash says which grain it is"),
        (["supersede", "HASH", "--by", "HASH"], "AFL-STORE-021"),
        (["undo", "HASH"], "AFL-STORE-021"),
        (["undo", "ffffffff"], "AFL-STORE-020"),
        (["retract", "zz"], "AFL-STORE-020"),
        (["merge", "acme", "tier", "silver"], "AFL-STORE-031"),
    ],
)
def test_what_cannot_be_done_says_why_and_what_to_do(grains, gold, arguments, told):
    status, printed = grains(*(gold if one == "HASH" else one for one in arguments))
    assert (status, told in printed, "next: " in printed) == (1, True, True)
    assert said(grains) == ["gold"]


def test_what_takes_a_place_in_the_homes_store_is_redacted_with_its_relation(afl, world, fed):
    old = json.loads(afl("add", "fact", "srv", "password", "none", "--json")[1])["hash"]
    for value in ("hunter2hunter", SECRET):
        new = json.loads(afl("supersede", old, value, "--json")[1])
        assert (new["fields"]["object"].startswith("[REDACTED"), new["redacted"]) == (True, 1)
        old = new["hash"]
    stored = "\n".join(world.db.iterdump())
    assert "hunter2hunter" not in stored
    assert SECRET not in stored


def test_a_value_that_is_given_twice_and_not_the_same_is_refused(grains):
    assert "subject is given twice" in grains("add", "fact", "a", "b", "c", "--field", "subject=z")[1]
    assert "confidence is given twice" in grains("add", "fact", "a", "b", "c", "--confidence", "0.5", "--field", "confidence=0.4")[1]


def test_a_namespace_is_refused_where_it_would_make_no_difference(grains, gold):
    assert "leave --ns out" in grains("forget", gold, "--ns", "other", "--yes")[1]
    for command in (["verify"], ["sweep"], ["undo", gold], ["retract", gold]):
        assert "No such option" in grains(*command, "--ns", "other")[1]
    assert said(grains) == ["gold"]


def test_a_call_that_is_recorded_again_with_another_outcome_is_not_taken_for_recorded(grains):
    call = ("record-tool-call", "--name", "bash", "--thread", "s", "--call-id", "c1", "--result")
    first = asked(grains, *call, "one")
    again = asked(grains, *call, "two")
    assert (first["recorded"], again["recorded"], again["hash"]) == (True, False, first["hash"])
    assert "the first one stays" in grains(*call, "two")[1]
    assert "the first one stays" not in grains(*call, "one")[1]


def test_an_object_is_said_of_a_fact_only(grains):
    note = asked(grains, "add", "observation", "--field", "content=the build is slow")["hash"]
    assert "AFL-USAGE-001: an OBJECT is said of a fact" in grains("supersede", note, "the build is fast")[1]
    assert asked(grains, "supersede", note, "--field", "content=the build is fast")["fields"]["content"] == "the build is fast"


def test_a_next_step_is_about_the_home_and_the_file_that_were_named(grains, tmp_path):
    assert f"next: run: afl install --home '{tmp_path}/my home'" in grains("recall", "x", "--home", f"{tmp_path}/my home")[1]
    grains("add", "fact", "a", "is", "b", "--db", f"{tmp_path}/other.afl")
    assert f"next: run: afl forks --db {tmp_path}/other.afl" in grains("merge", "a", "is", "c", f"--db={tmp_path}/other.afl")[1]
