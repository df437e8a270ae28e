"""What follows a forgetting, by hand: a value is let in again, and a forget that broke off is ended."""

from __future__ import annotations

import json
import sqlite3

import pytest
from grain_commands import SECRET, asked


@pytest.mark.parametrize(
    "again",
    [
        ["fact", "ACME", " Pass  word", "hunter twо"],
        ["fact", "subject=acme", "relation=pass word", "object=hunter two"],
        ["fact", "--json-fields", '{"subject": "acme", "relation": "pass word", "object": "hunter two"}'],
    ],
)
def test_a_value_that_was_kept_out_is_let_in_again(grains, again):
    grains("add", "fact", "acme", "pass word", "hunter two")
    assert grains("forget", "--subject", "acme", "--keep-out", "--yes")[0] == 0
    status, said = grains("add", "fact", "acme", "pass word", "hunter two")
    assert (status, "AFL-STORE-030" in said, "afl allow" in said) == (1, True, True)
    assert grains("allow", "fact", "acme", "pass word", "other") == (0, "it was not kept out\n")
    assert grains("allow", *again) == (0, "it may be added again\n")
    assert asked(grains, "allow", *again)["allowed"] is False
    assert grains("add", "fact", "acme", "pass word", "hunter two")[0] == 0


def test_a_value_of_another_type_is_named_by_its_fields(grains):
    address = asked(grains, "add", "observation", "--field", "content=a=b owl")["hash"]
    grains("forget", address, "--keep-out", "--yes")
    assert "AFL-STORE-030" in grains("add", "observation", "--field", "content=A=B  owl")[1]
    for wrong, code in ((["owl"], "AFL-USAGE-001"), (["body=owl"], "AFL-MODEL-003"), ([], "AFL-MODEL-003")):
        status, said = grains("allow", "observation", *wrong)
        assert (status, code in said) == (1, True)
    assert "AFL-MODEL-003" in grains("allow", "moon", "a=b")[1]
    assert asked(grains, "allow", "observation", "content=a=b owl")["allowed"] is True


def test_what_the_homes_store_keeps_out_is_let_in_as_it_was_given(afl, world, fed):
    _, said = afl("add", "fact", "acme", "token", SECRET, "--json")
    afl("forget", json.loads(said)["hash"], "--keep-out", "--yes")
    assert afl("add", "fact", "acme", "token", SECRET)[0] == 1
    assert afl("allow", "fact", "acme", "token", SECRET) == (0, "it may be added again\n")
    assert afl("add", "fact", "acme", "token", SECRET)[0] == 0


def test_several_grains_are_forgotten_at_once_all_or_none(grains):
    given = [asked(grains, "add", "fact", "acme", f"owner {n}", "xylophone")["hash"] for n in range(3)]
    status, said = grains("forget", *given, "f" * 64, "--yes")
    assert (status, "AFL-STORE-020" in said) == (1, True)
    assert grains("forget", given[0][:10], given[1], "--dry-run")[1].endswith("2 grains would be erased\n")
    assert asked(grains, "forget", given[0][:10], given[1], "--yes")["hashes"] == given[:2]
    assert [one["hash"] for one in asked(grains, "search", "xylophone")["grains"]] == given[2:]


def test_a_forget_that_met_a_reader_is_ended_by_a_sweep(grains, tmp_path):
    address = asked(grains, "add", "fact", "acme", "owner", "xylophone")["hash"]
    assert asked(grains, "sweep") == {"command": "sweep", "unswept": 0}
    reader = sqlite3.connect(tmp_path / "notes.afl", isolation_level=None)
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM grains").fetchone()
    for command in (["forget", address, "--yes"], ["sweep"]):
        status, said = grains(*command)
        assert (status, "AFL-STORE-032" in said, "afl sweep" in said) == (1, True, True)
    reader.close()
    assert grains("sweep") == (0, "nothing is left of what was forgotten\n")
    assert not [path.name for path in tmp_path.iterdir() if path.is_file() and b"xylophone" in path.read_bytes()]
