"""A memory with a passphrase: nothing of what it says is readable in its files, and everything works as in the clear."""

from __future__ import annotations

import os
import sqlite3

import pytest
from stored_bytes import files_with

from afl_core import Memory
from afl_core.model.errors import AflError
from afl_core.settings.paths import Paths
from afl_core.store.migrate import create_or_migrate
from afl_core.vault import content

SECRETS = ("acme", "tier", "goldstandard", "Bash", "nosuchfile", "session-9", "call-7", "whoplays", "beschreibung")


@pytest.fixture
def sealed(opens):
    return opens(passphrase="correct horse", telemetry="full")


def readable(folder):
    data = b"".join((folder / name).read_bytes() for name in os.listdir(folder))
    return [secret for secret in SECRETS if secret.encode() in data]


def fill(memory):
    fact = memory.add_fact("acme", "tier", "goldstandard")
    call = memory.record_tool_call("Bash", "nosuchfile 17", is_error=True, thread="session-9", call_id="call-7")
    memory.add("skill", name="acme", description="beschreibung")
    memory.search("whoplays goldstandard", run_id="run")
    memory.recall("acme")
    return fact, call


def test_nothing_it_says_is_readable_in_its_files(sealed, tmp_path):
    fill(sealed)
    sealed.flush()
    assert readable(tmp_path) == []
    sealed.close()
    assert readable(tmp_path) == []


def test_the_same_in_the_clear_is_readable_which_the_documentation_says(memory, tmp_path):
    fill(memory)
    memory.flush()
    assert set(readable(tmp_path)) == set(SECRETS)


def test_it_finds_by_every_name_and_by_whole_words(sealed, clock):
    fact, call = fill(sealed)
    for asked in ({"subject": "acme", "relation": "tier"}, {"relation": "tier"}):
        assert [one["hash"] for one in sealed.recall(**asked)] == [fact]
    for asked in ({"tool_name": "Bash"}, {"tool_call_id": "call-7"}, {"session_id": "session-9"}):
        assert [one["hash"] for one in sealed.recall(**asked)] == [call]
    assert [one["hash"] for one in sealed.search("goldstandard")] == [fact]
    sealed.add_fact("城市", "是", "东京都", namespace="other")
    assert [one["object"] for one in sealed.search("京都", ns="other")] == ["东京都"]
    assert sealed.search("京都") == []
    clock.advance(seconds=1)
    again = sealed.supersede(fact, object="silver")
    assert sealed.latest("acme", "tier")["hash"] == again
    assert len(sealed.history("acme", "tier")) == 2
    assert sealed.record_tool_call("Bash", "again", thread="session-9", call_id="call-7") == call
    assert sealed.verify()["ok"]


def test_telemetry_is_told_to_who_has_the_passphrase(sealed, opens):
    fact, _ = fill(sealed)
    told = sealed.telemetry()
    assert [one["sample"] for one in told["queries"]] == ["whoplays goldstandard"]
    assert fact in [one["hash"] for one in told["access"]]


def test_forgetting_takes_exactly_the_questions_that_hold_its_words(sealed, clock):
    fact, _ = fill(sealed)
    sealed.search("weather")
    sealed.flush()
    clock.advance(seconds=1)
    assert sealed.forget_subject("acme")
    told = sealed.telemetry()
    assert [one["sample"] for one in told["queries"]] == ["weather"]
    assert fact not in [one["hash"] for one in told["access"]]


def test_a_value_that_stays_out_is_known_here_too(sealed):
    address = sealed.add_fact("acme", "tier", "gold")
    sealed.forget(address, keep_out=True)
    with pytest.raises(AflError) as refused:
        sealed.add_fact("acme", "tier", "GOLD")
    assert refused.value.code == "AFL-STORE-030"
    assert sealed.allow("fact", subject="acme", relation="tier", object="gold")


def code_of(call):
    with pytest.raises(AflError) as refused:
        call()
    return refused.value.code


def test_a_wrong_passphrase_none_and_one_for_a_file_in_clear_are_told_apart(opens, sealed):
    fill(sealed)
    assert code_of(lambda: opens(passphrase="wrong")) == "AFL-VAULT-022"
    assert code_of(opens) == "AFL-STORE-034"
    opens("clear.afl").add_fact("acme", "tier", "gold")
    assert code_of(lambda: opens("clear.afl", passphrase="correct horse")) == "AFL-VAULT-021"
    assert opens(passphrase="correct horse").latest("acme", "tier")["object"] == "goldstandard"


def test_a_file_that_nothing_was_written_to_can_still_be_sealed_and_then_no_handle_writes_in_clear(opens, tmp_path):
    early = opens("m.afl", telemetry="full")
    assert code_of(lambda: early.add("fact", subject="acme")) == "AFL-MODEL-003"
    assert early.recall("acme") == early.search("xylophone") == []
    early.flush()
    sealed = opens("m.afl", passphrase="correct horse")
    sealed.add_fact("acme", "tier", "gold")
    for write in (
        lambda: early.add_fact("acme", "owner", "xylophone"),
        lambda: early.add_batch([{"type": "observation", "content": "xylophone"}]),
        lambda: early.record_tool_call("bash", "xylophone"),
        early.recall,
        lambda: early.search("gold"),
        early.flush,
    ):
        assert code_of(write) == "AFL-STORE-034"
    early.close()
    assert files_with(tmp_path, "xylophone") == []
    assert sealed.verify()["ok"]


def test_a_clear_handle_marks_a_file_that_holds_grains_before_it_writes(opens):
    first = opens("m.afl", telemetry="off")
    address = first.add_fact("acme", "tier", "gold")
    with first._files.writer() as db:
        db.execute("DELETE FROM meta WHERE key = 'content_clear'")  # as files of before there was a mark
    early = opens("m.afl", telemetry="off")
    first.forget(address)
    early.add_fact("acme", "owner", "Kim")
    assert code_of(lambda: opens("m.afl", passphrase="correct horse")) == "AFL-VAULT-021"


def test_a_file_that_is_sealed_while_a_clear_handle_looks_is_not_taken_for_one_in_clear(opens, monkeypatch):
    opens("m.afl", telemetry="off").close()
    look = content.is_sealed

    def sealed_behind(db):
        found = look(db)
        monkeypatch.setattr(content, "is_sealed", look)
        opens("m.afl", passphrase="correct horse", telemetry="off").add_fact("acme", "tier", "gold")
        return found

    monkeypatch.setattr(content, "is_sealed", sealed_behind)
    early = opens("m.afl", telemetry="full")
    assert code_of(lambda: early.add_fact("acme", "owner", "xylophone")) == "AFL-STORE-034"
    assert early.recall("nobody") == []
    early.close()
    assert opens("m.afl", passphrase="correct horse").verify()["ok"]


def test_a_home_is_never_sealed_by_opening_it_with_a_passphrase(home):
    paths = Paths(home)
    create_or_migrate(paths.database, paths.backups, paths.home)
    db = sqlite3.connect(paths.database)
    db.execute("INSERT INTO vault_keys VALUES ('0', 'intake', x'00', 1)")
    db.commit()
    db.close()
    assert code_of(lambda: Memory(paths.database, passphrase="x")) == "AFL-VAULT-021"


def test_a_record_that_was_moved_or_changed_does_not_open(sealed):
    one, two = sealed.add_fact("a", "b", "c"), sealed.add_fact("d", "e", "f")
    with sealed._files.writer() as db:
        body = db.execute("SELECT fields_json FROM grains WHERE hash = ?", (one,)).fetchone()[0]
        db.execute("UPDATE grains SET fields_json = ? WHERE hash = ?", (body, two))
    assert code_of(lambda: sealed.get(two)) == "AFL-VAULT-003"
    assert [problem[:18] for problem in sealed.verify()["problems"]] == [f"grain {two[:12]}"]
