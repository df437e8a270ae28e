"""Whatever a caller gives, the answer is a value or an error of the one family that names the argument; nothing is done by halves."""

from __future__ import annotations

import os
import re
import sqlite3

import pytest

from afl_core import Memory
from afl_core.model.errors import AflError

ODD = ["\ud800", None, 5, b"x", ["a"], {"a": 1}, object()]
TEXTS = ["\0", "", " ", "a" * 200_000, "'\"*", "NEAR(a b)", "a OR b", "-x", "{a}:b", "🙂‍↔️", "ﬀ", "\u202e"]
NUMBERS = [1.5, "3", True, float("nan"), [1]]
WITH_TEXT = {
    "recall": lambda memory, value: memory.recall(value),
    "recall relation": lambda memory, value: memory.recall("acme", value),
    "recall ns": lambda memory, value: memory.recall("acme", ns=value),
    "recall type": lambda memory, value: memory.recall(type=value),
    "recall tool": lambda memory, value: memory.recall(tool_name=value),
    "recall call": lambda memory, value: memory.recall(tool_call_id=value),
    "recall session": lambda memory, value: memory.recall(session_id=value),
    "recall run": lambda memory, value: memory.recall("acme", run_id=value),
    "search": lambda memory, value: memory.search(value),
    "search ns": lambda memory, value: memory.search("here", ns=value),
    "latest": lambda memory, value: memory.latest(value, "is"),
    "history": lambda memory, value: memory.history("acme", value),
    "forks": lambda memory, value: memory.forks(value),
    "telemetry": lambda memory, value: memory.telemetry(ns=value),
    "get": lambda memory, value: memory.get(value),
    "forget": lambda memory, value: memory.forget(value),
    "forget_subject": lambda memory, value: memory.forget_subject(value, dry_run=True),
    "forget_session": lambda memory, value: memory.forget_session(value, dry_run=True),
    "because": lambda memory, value: memory.forget(memory.add_fact("z", "z", "z"), because=value),
    "retract": lambda memory, value: memory.retract(value),
    "undo": lambda memory, value: memory.undo(value),
    "supersede": lambda memory, value: memory.supersede(value, object="x"),
    "supersede_by": lambda memory, value: memory.supersede_by(value, value),
    "merge_heads": lambda memory, value: memory.merge_heads(value, "r", "o"),
    "source": lambda memory, value: memory.assemble([{"query": value}, {"subject": value}]),
    "input": lambda memory, value: memory.record_tool_call("t", "r", input=value),
    "actor": lambda memory, value: Memory(memory.path + ".other", actor=value),
    "ns": lambda memory, value: Memory(memory.path + ".other", ns=value),
    "passphrase": lambda memory, value: Memory(memory.path + ".sealed", passphrase=value),
    "mode": lambda memory, value: Memory(memory.path + ".other", telemetry=value),
}
WITH_NUMBER = {
    "recall": lambda memory, value: memory.recall("acme", k=value),
    "search": lambda memory, value: memory.search("here", value),
    "assemble": lambda memory, value: memory.assemble([{"query": "here"}], k=value),
    "budget": lambda memory, value: memory.assemble([{"query": "here"}], value),
    "limit": lambda memory, value: memory.assemble([{"query": "here"}], limit=value),
    "days": lambda memory, value: memory.telemetry(days=value),
}


@pytest.fixture
def filled(memory):
    memory.add_fact("acme", "is", "here")
    return memory


def asked(call):
    """The error's code, '' for none; another exception fails the test."""
    try:
        found = call()
    except AflError as bad:
        return bad.code
    if isinstance(found, Memory):
        found.close()
    return ""


@pytest.mark.parametrize("way", WITH_TEXT)
def test_any_text_is_answered_and_what_is_none_is_named(filled, way):
    for value in TEXTS:
        asked(lambda value=value: WITH_TEXT[way](filled, value))
    for value in ODD:
        code = asked(lambda value=value: WITH_TEXT[way](filled, value))
        is_asked = way in ("search", "source", "input") and isinstance(value, str)  # a question is only compared
        assert value is None or is_asked or code in ("AFL-MODEL-010", "AFL-MODEL-005", "AFL-MODEL-002"), (value, code)
    assert filled.recall("acme")[0]["object"] == "here"
    assert filled.verify()["ok"]


@pytest.mark.parametrize("way", WITH_NUMBER)
def test_a_number_that_is_none_is_named_and_any_other_is_answered(filled, way):
    for value in NUMBERS:
        assert asked(lambda value=value: WITH_NUMBER[way](filled, value)) == "AFL-MODEL-010", value
    for value in (-(10**30), -1, 0, 1, 10**30):
        assert asked(lambda value=value: WITH_NUMBER[way](filled, value)) == "", value


def test_the_argument_is_named(filled, tmp_path):
    for call, words in (
        (lambda: filled.assemble([{"weight": 10**400}]), "weight of source 0 is not a finite number"),
        (lambda: filled.export(tmp_path / "bundle", ns=5), "ns is not text but int"),
        (lambda: filled.merge_heads("a", "b", "c", context="d"), "fact.context is not an object"),
        (lambda: filled.recall("acme", k="3"), "k is not a whole number"),
        (lambda: filled.search(None), "query is not text but NoneType"),
        (lambda: filled.recall("a\ud800"), "subject holds half of a surrogate pair"),
        (lambda: filled.assemble([{"subject": 5}]), "subject of source 0 is not text but int"),
        (lambda: filled.assemble([{}, {"weight": float("inf")}]), "weight of source 1 is not a finite number"),
        (lambda: filled.add("fact", ["x"]), "fields is not a mapping but list"),
        (lambda: filled.add(["fact"], subject="a"), "is no type of a grain"),
        (
            lambda: filled.add_batch([{"type": "fact", "subject": "a", "relation": "b", "object": "c"}, 1]),
            "grain 1 is not a mapping but int",
        ),
        (lambda: filled.add_batch([{"subject": "a"}]), "is no type of a grain"),
        (lambda: filled.assemble("abc"), "sources are not a list of mappings"),
        (lambda: Memory(filled.path, passphrase=""), "passphrase is empty"),
        (lambda: Memory(filled.path, weights=None), "weights are no Weights"),
    ):
        with pytest.raises(AflError, match=words):
            call()


@pytest.mark.parametrize(
    "path", ["", ".", "\0", "a\ud800", b"a\xff", 5, None, "x" * 5_000, "no/such/m.afl", "/dev/null", "/dev/full", "/proc/self/mem"]
)
def test_what_cannot_be_a_memory_is_refused_by_a_sentence(tmp_path, monkeypatch, path):
    monkeypatch.chdir(tmp_path)
    assert asked(lambda: Memory(path)).startswith("AFL-")
    assert os.listdir(tmp_path) == []


def test_a_path_may_be_bytes(tmp_path):
    with Memory(os.fsencode(tmp_path / "m.afl")) as memory:
        assert memory.path == str(tmp_path / "m.afl")


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is forbidden to root")
def test_a_file_that_may_only_be_read_is_read_and_one_that_may_not_even_be_is_named(filled):
    filled.close()
    os.chmod(filled.path, 0o400)
    with Memory(filled.path) as memory:
        assert memory.recall("acme")[0]["object"] == "here"
        assert asked(lambda: memory.add_fact("a", "b", "c")) == "AFL-STORE-007"
    os.chmod(filled.path, 0o000)
    with pytest.raises(AflError, match=r"m\.afl cannot be written") as caught:
        Memory(filled.path)
    assert caught.value.code == "AFL-STORE-007"


def test_what_sqlite_says_while_a_file_is_opened_is_said_in_our_words(filled, monkeypatch):
    def refuse(*_given, **_more):
        raise sqlite3.OperationalError("unable to open database file")

    monkeypatch.setattr("afl_core.api.opened.open_or_create", refuse)
    with pytest.raises(AflError, match=re.escape(filled.path)) as caught:
        Memory(filled.path)
    assert caught.value.code == "AFL-STORE-007"


def test_what_sqlite_says_of_a_damaged_file_is_said_in_our_words(filled, tmp_path):
    for number in range(300):
        filled.add_fact(f"entity-{number}", "is", "x" * 200)
    filled.close()
    with sqlite3.connect(filled.path) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    db.close()
    size = os.path.getsize(filled.path)
    with open(filled.path, "r+b") as file:
        file.seek(12_288)
        file.write(b"\xff" * (size - 12_288))
    codes = set()
    try:
        with Memory(filled.path) as broken:
            for call in (
                lambda: broken.recall("entity-7"),
                lambda: broken.search("entity-7"),
                broken.forks,
                broken.stats,
                broken.verify,
            ):
                codes.add(asked(call))
    except AflError as bad:
        codes.add(bad.code)
    assert "AFL-STORE-012" in codes


def test_a_memory_that_was_closed_says_so_whatever_is_asked(filled):
    filled.close()
    filled.close()
    for call in (
        lambda: filled.recall("acme"),
        lambda: filled.search("here"),
        lambda: filled.add_fact("a", "b", "c"),
        lambda: filled.forget_session("s"),
        lambda: filled.export(filled.path + ".bundle"),
        lambda: filled.allow("fact", subject="a", relation="b", object="c"),
        filled.telemetry,
        filled.stats,
        filled.verify,
        filled.sweep,
        filled.flush,
    ):
        assert asked(call) == "AFL-STORE-033"


@pytest.mark.parametrize("name", ["created_at", "valid_from", "valid_to", "system_valid_to"])
def test_a_time_that_no_file_can_hold_is_refused_by_the_name_of_its_field(memory, name):
    for value in (1e300, -1e300, 2**63, float(2**63)):
        with pytest.raises(AflError, match=rf"^observation\.{name} does not fit in 64 bits$"):
            memory.add("observation", {"content": "seen", name: value})
    assert memory.add("observation", {"content": "seen", name: 1e15})


def test_the_word_for_every_namespace_is_no_name_of_one(memory, opens):
    everywhere = opens(ns="*")
    memory.add_fact("acme", "is", "here", namespace="other")
    assert len(everywhere.recall("acme")) == 1
    for call in (
        lambda: memory.add_fact("a", "b", "c", namespace="*"),
        lambda: everywhere.add_fact("a", "b", "c"),
        lambda: everywhere.record_tool_call("t", "r"),
        lambda: everywhere.merge_heads("a", "b", "c"),
    ):
        assert asked(call) == "AFL-MODEL-006"


def test_grains_of_any_time_are_superseded_exported_and_taken_in(filled, tmp_path, opens):
    for moment in (2**63 - 2, -(2**63), 0):
        old = filled.add("fact", subject=f"at {moment}", relation="is", object="old", created_at=moment)
        filled.supersede(old, object="new", created_at=moment + 1)
        assert filled.latest(f"at {moment}", "is")["object"] == "new"
    filled.export(tmp_path / "bundle")
    with Memory(tmp_path / "other.afl") as other:
        assert other.import_(tmp_path / "bundle").skipped_rows == 0
        assert {one["hash"] for one in other.recall(ns="*")} == {one["hash"] for one in filled.recall(ns="*")}


def test_what_was_stored_is_found_and_moved_under_the_words_it_was_stored_with(opens, tmp_path):
    spelt, name = "cafe\u0301", "caf\u00e9"
    memory = opens(ns=spelt)
    address = memory.add_fact(spelt, spelt, "here")
    call = memory.record_tool_call("t", "r", thread=spelt, call_id="1")
    assert memory.get(address)["namespace"] == name
    for one in (spelt, name):
        assert memory.recall(one, one, ns=one)[0]["hash"] == address
        assert memory.latest(one, one)["hash"] == address
        assert memory.assemble([{"subject": one, "ns": one}])["grains"] == [address]
        assert memory.forget_subject(one, dry_run=True) == [address]
        assert memory.forget_session(one, dry_run=True) == [call]
        assert memory.export(tmp_path / "bundle", one)["grains"] == 2
    with opens("other.afl") as other:
        assert other.import_(tmp_path / "bundle").added == 2
        assert other.verify()["ok"]


def test_the_namespace_of_a_handle_is_one_that_a_grain_can_hold(opens):
    with pytest.raises(AflError, match=r"^fact\.namespace holds a NUL$"):
        opens(ns="a\0b").add_fact("a", "b", "c")
