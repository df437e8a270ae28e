"""Bundles made with the real DejaDB 1.2.0 (dejadb/make_dejadb_bundle.py) come in with our names and addresses; damaged ones do not come in at all."""

from __future__ import annotations

import hashlib
import pathlib
import struct
import sys

import msgpack
import pytest
from exchange_world import opened
from hypothesis import given, settings
from hypothesis import strategies as st

from afl_core.exchange.errors import ExchangeError
from afl_core.model.errors import AflError

HERE = pathlib.Path(__file__).parent / "dejadb"
EVERY_TYPE, FORK = HERE / "every_type.mgb", HERE / "fork.mgb"
TYPES = {"fact": 1, "event": 2, "state": 3, "tool": 5, "observation": 6, "skill": 11}


@pytest.fixture
def memory(tmp_path):
    with opened(tmp_path / "a.afl") as one:
        yield one


def blob(kind, flags=0, version=1, **body):
    return (
        bytes((version, flags, TYPES.get(kind, 99)))
        + bytes(6)
        + msgpack.packb({"ca": 1_700_000_000_000, "ns": "shared", "c": 1.0, "t": kind, **body})
    )


def address(packed):
    return hashlib.sha256(packed).hexdigest()


def written(path, *records):
    """A bundle of (op, grain or the address of one that was forgotten)."""
    data = b"MGB1"
    for op, given_ in records:
        packed, name = (b"", given_) if isinstance(given_, str) else (given_, address(given_))
        data += struct.pack("<Bq32sI", op, 1, bytes.fromhex(name), len(packed)) + packed
    path.write_bytes(data)
    return path


def fields(memory, kind):
    return [one["fields"] for one in map(memory.get, hashes(memory)) if one["type"] == kind]


def hashes(memory):
    return [row[0] for row in memory._files.reader().execute("SELECT hash FROM grains ORDER BY seq")]


def test_a_real_bundle_comes_in_and_what_it_says_of_itself_does_not(memory):
    report = memory.import_(EVERY_TYPE)
    assert report.format == "dejadb"
    assert (report.added, report.changed, report.erased) == (16, 1, 0)
    assert [one.reason for one in report.skipped] == ["namespace 'agent:authz' is written only by its owner"]
    assert memory.verify()["ok"]
    assert memory.stats()["by_type"] == {
        "consensus": 1, "consent": 1, "event": 1, "fact": 5, "goal": 1, "observation": 1, "reasoning": 1, "skill": 1, "state": 1, "tool": 2,
        "workflow": 1,
    }  # fmt: skip


def test_short_names_become_ours_and_unknown_ones_stay(memory):
    memory.import_(EVERY_TYPE)
    first = memory.history("acme", "deploy_target")[-1]
    [zoe] = memory.recall("Zoë")
    expected = {
        "subject": "Zoë", "relation": "likes", "object": "日本のお茶", "user_id": "u1", "tags": ["a", "b"], "importance": 0.5, "confidence": 1.0,
        "source_type": "user_explicit", "valid_to": 1_800_000_000_000, "verification_status": "verified", "temporal_type": "state",
        "related_to": [{"hash": first["hash"], "relation_type": "supports", "weight": 0.5}], "my_own": {"deep": [1, 2.5, None, True]},
        "created_at": 1_700_000_001_234, "namespace": "shared",
    }  # fmt: skip
    assert {name: value for name, value in zoe.items() if name not in ("hash", "type", "score")} == expected
    [event] = fields(memory, "event")
    assert (event["content"], event["session_id"], event["run_id"], event["model_id"]) == ("hello there", "s1", "r1", "m")
    [state] = fields(memory, "state")
    assert (state["context"], state["temporal_type"]) == ({"goal": "ship", "tt": "mine"}, "state")
    failed, fine = fields(memory, "tool")
    assert (failed["tool_name"], failed["tool_content"], failed["is_error"], failed["input"]) == (
        "bash",
        "no such file",
        True,
        {"cmd": "ls"},
    )
    assert (failed["session_id"], failed["tool_call_id"], fine["duration_ms"]) == ("s1", "c1", 12)
    [skill] = fields(memory, "skill")
    assert (skill["name"], skill["description"], skill["practice_count"], skill["proficiency"]) == ("git", "use git", 4, 0.7)
    [seen] = fields(memory, "observation")
    assert (seen["object"], seen["observer_id"], seen["observer_type"]) == ("saw it", "eye", "human")
    [goal] = fields(memory, "goal")
    assert (goal["description"], goal["goal_state"], goal["subject"]) == ("ship it", "active", "team")
    assert not {"s", "o", "c", "ca", "ns", "t", "ctx", "cctx"} & set().union(*(memory.get(one)["fields"] for one in hashes(memory)))


def test_supersessions_and_the_newest_of_plain_additions_are_as_they_were(memory):
    memory.import_(EVERY_TYPE)
    assert memory.latest("acme", "deploy_target")["object"] == "eu-west-1"
    old = memory.history("acme", "deploy_target")[-1]
    assert old["superseded_by"] == memory.latest("acme", "deploy_target")["hash"]
    assert memory.latest("acme", "deploy_target")["derived_from"] == old["hash"]
    assert memory.latest("acme", "tier")["object"] == "Platinum"
    assert memory.forks() == []


def test_versions_of_two_copies_are_a_fork(memory):
    memory.import_(FORK)
    [fork] = memory.forks()
    assert {one["object"] for one in fork["heads"]} == {"b", "c"}
    assert memory.verify()["ok"]


@pytest.mark.parametrize("bundle", [EVERY_TYPE, FORK])
def test_a_bundle_taken_in_twice_changes_nothing(memory, bundle):
    memory.import_(bundle)
    before = memory._files.reader().execute("SELECT hash, superseded_by, head FROM grains ORDER BY seq").fetchall()
    report = memory.import_(bundle)
    assert (report.added, report.changed, report.erased) == (0, 0, 0)
    assert [tuple(row) for row in memory._files.reader().execute("SELECT hash, superseded_by, head FROM grains ORDER BY seq")] == [
        tuple(row) for row in before
    ]


def test_a_dry_run_counts_and_writes_nothing(memory):
    report = memory.import_(EVERY_TYPE, dry_run=True)
    assert (report.added, report.skipped_rows) == (16, 1)
    assert memory.stats()["grains"] == 0


def test_a_grain_that_the_bundle_forgets_again_is_erased(memory, tmp_path):
    packed = blob("fact", s="acme", r="is", o="xylophone")
    report = memory.import_(written(tmp_path / "a.mgb", (1, packed), (3, address(packed))))
    assert (report.added, report.erased) == (1, 1)
    memory.close()
    assert b"xylophone" not in (tmp_path / "a.afl").read_bytes()


def test_a_supersession_of_what_did_not_come_along_is_named(memory, tmp_path):
    packed = blob("fact", s="acme", r="is", o="new", df="ab" * 32)
    report = memory.import_(written(tmp_path / "a.mgb", (1, packed), (2, packed)))
    assert (report.added, [(one.line, "make a whole one" in one.reason) for one in report.skipped]) == (1, [(2, True)])


@pytest.mark.parametrize(
    ("packed", "word"),
    [
        (blob("fact", s="acme", r="is"), "fact.object"),
        (blob("fact", s="acme", r="is", o=b"bytes"), "bytes"),
        (blob("fact", s="acme", r="is", o="x", c=7), "confidence"),
        (blob("fact", flags=4, s="acme", r="is", o="x"), "header"),
        (blob("fact", version=2, s="acme", r="is", o="x"), "header"),
        (blob("song"), "type 99"),
        (blob("fact")[:9] + b"\xdd\xff\xff\xff\xff", "unpacked"),
        (blob("fact")[:9] + b"\x91" * 5_000, "unpacked"),
        (blob("fact")[:9] + b"\x01", "map"),
        (b"\x01\x00", "header"),
    ],
)
def test_a_grain_that_cannot_be_read_is_named_and_stops_nobody(memory, tmp_path, packed, word):
    good = blob("fact", s="pat", r="is", o="here")
    report = memory.import_(written(tmp_path / "a.mgb", (1, packed), (1, good)))
    assert (report.added, [one.line for one in report.skipped]) == (1, [1])
    assert word in report.skipped[0].reason


@settings(max_examples=150)
@given(st.integers(0, 10**6), st.integers(0, 7), st.booleans())
def test_a_bundle_that_was_cut_short_or_changed_never_comes_in_changed(tmp_path_factory, place, bit, cut):
    data = bytearray(FORK.read_bytes())
    place %= len(data)
    starts = [4]
    while starts[-1] < len(data):
        starts.append(starts[-1] + 45 + struct.unpack_from("<I", data, starts[-1] + 41)[0])
    if cut:
        if place in starts:
            return  # whole records are a bundle of their own
        data = data[:place]
    else:
        if any(start < place <= start + 8 for start in starts):
            return  # the clock is not read
        data[place] ^= 1 << bit
    folder = tmp_path_factory.mktemp("flipped")
    (folder / "a.mgb").write_bytes(data)
    with opened(folder / "a.afl") as memory:
        with pytest.raises(AflError):
            memory.import_(folder / "a.mgb", "dejadb")
        assert memory.stats()["grains"] == 0


def test_a_forgotten_grain_without_its_forgetting_is_taken_for_damage(memory, tmp_path):
    with pytest.raises(ExchangeError) as bad:
        memory.import_(written(tmp_path / "a.mgb", (1, "ab" * 32)))
    assert (bad.value.code, "nothing was imported" in bad.value.hint) == ("AFL-EXCHANGE-009", True)


def test_without_the_library_the_command_that_installs_it_is_named(memory, monkeypatch):
    monkeypatch.setitem(sys.modules, "msgpack", None)
    with pytest.raises(ExchangeError) as bad:
        memory.import_(FORK)
    assert (bad.value.code, bad.value.hint) == ("AFL-EXCHANGE-008", "run: pip install msgpack")
