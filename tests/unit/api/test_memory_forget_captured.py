"""What hooks captured can be erased by a person, down to its bytes, and no reading of the transcript brings it back; nothing else writes there."""

from __future__ import annotations

import errno
import os

import capture_world as worlds
import pytest
from stored_bytes import files_with

from afl_core.api.memory import Memory
from afl_core.api.native_memory import imported
from afl_core.changes.audit import verify_chain
from afl_core.memory import write
from afl_core.model.errors import AflError
from afl_core.model.grain import GrainType, make
from afl_core.store import grains
from afl_core.store.audit import rows
from afl_core.store.connection import writing
from afl_core.testing.recorded import project_slug
from afl_core.vault.blobs import Blobs
from afl_core.worker import upkeep

WORD = "xylophone"
EVENTS = 6
NS = f"project:{worlds.PROJECT}"


def holding(folder):
    """Files below a folder that hold the word."""
    return files_with(folder, WORD)


@pytest.fixture
def world(home):
    made = worlds.World(home)
    made.session(home / "t.jsonl")
    tape = worlds.Tape(home / "t.jsonl")
    tape.person("go").call("c1", "Bash", command=f"play {WORD}").result(
        "c1", f"Exit code 2\nno {WORD} here" + " and nothing else" * 9_000, True
    )
    tape.call("c2", "Bash", command="make").result("c2", "Exit code 1\nno rule", True).agent("it failed")
    made.absorb()
    yield made
    made.close()


@pytest.fixture
def memory(world):
    with Memory(world.home.paths.database, clock=world.home.clock) as one:
        yield one


def captured(memory):
    return {one["tool_call_id"]: one["hash"] for one in memory.recall(type="tool", ns="*")}


def read_anew(world, *, forgotten=("cursors",)):
    """Read the transcript from its beginning, as when the file was replaced, or events are gone."""
    with writing(world.db):
        for table in (*forgotten, "transcripts"):
            world.db.execute(f"DELETE FROM {table}")
    assert world.absorb(worlds.SESSION).bytes_read > 0
    assert len(world.events("event_id")) == EVENTS


def test_a_captured_call_goes_with_the_words_of_its_events_and_its_raw_stretch(world, memory):
    data = world.home.paths.data
    assert holding(data)
    blobs = dict(world.home.blobs.names())
    assert blobs
    address = captured(memory)["c1"]
    assert memory.forget(address, dry_run=True) == [address]
    assert holding(data)
    assert memory.forget(address, because="mine") == [address]
    assert holding(data) == []
    assert set(dict(world.home.blobs.names())) < set(blobs)
    assert world.events("text", "tool_name", "blob", session_id=worlds.SESSION)[1:3] == [("", None, None)] * 2
    assert len(world.events("event_id")) == EVENTS
    assert list(captured(memory)) == ["c2"]
    assert memory.verify()["ok"]
    assert list(rows(world.db))[-1].action == "grain.forget"
    assert verify_chain(world.db) is None


@pytest.mark.parametrize("gone", [("cursors",), ("cursors", "sightings", "events"), ("cursors", "sightings", "events", "operations")])
def test_a_transcript_that_is_read_again_does_not_bring_it_back(world, memory, gone):
    memory.forget(captured(memory)["c1"])
    read_anew(world, forgotten=gone)
    assert list(captured(memory)) == ["c2"]
    world.now += 1_000
    worlds.Tape(world.home.paths.home + "/t.jsonl", prefix="later").person("more").call("c3").result("c3", "Exit code 1", True)
    world.absorb()
    assert set(captured(memory)) == {"c2", "c3"}


def raw_texts(world):
    """Everything that is sealed as raw text."""
    return "".join(world.home.blobs.get(world.home.opener, name).decode() for name, _ in world.home.blobs.names())


@pytest.mark.parametrize("gone", [("cursors",), ("cursors", "sightings", "events")])
def test_its_words_are_not_sealed_again_either_nor_do_they_stand_in_events_that_are_born_anew(world, memory, gone):
    assert WORD in raw_texts(world)
    memory.forget(captured(memory)["c1"])
    worlds.Tape(world.home.paths.home + "/t.jsonl", prefix="later").person("more").call("c3").result("c3", "fine " * 9_000)
    with writing(world.db):
        for table in (*gone, "transcripts"):
            world.db.execute(f"DELETE FROM {table}")
    assert world.absorb(worlds.SESSION).bytes_read > 0
    assert WORD not in raw_texts(world)
    assert "fine fine" in raw_texts(world)
    assert holding(world.home.paths.data) == []
    assert [one for one in world.db.execute("SELECT text, tool_name, blob FROM events WHERE call_id = 'c1'") if any(one)] == []
    assert set(captured(memory)) >= {"c2"}


def test_a_session_that_copies_the_records_of_it_does_not_seal_them_again(world, memory, home):
    memory.forget(captured(memory)["c1"])
    (home / "fork.jsonl").write_text((home / "t.jsonl").read_text())
    worlds.Tape(home / "fork.jsonl", prefix="fork").person("and now").call("f1").result("f1", "fine " * 9_000)
    world.session(home / "fork.jsonl", "claude:fork")
    world.absorb("claude:fork")
    assert "fine fine" in raw_texts(world)
    assert WORD not in raw_texts(world)


def test_words_that_later_rules_would_hide_do_not_come_back_with_a_new_reading(world, memory):
    memory.forget(captured(memory)["c1"])
    with writing(world.db):
        world.db.execute("UPDATE events SET manifest_json = '{}'")
    read_anew(world)
    assert WORD not in str(world.events("text"))
    assert holding(world.home.paths.data) == []


@pytest.mark.parametrize("place", ["store/copy.sqlite3", "backups/feedback-loop.sqlite3"])
def test_what_is_forgotten_in_a_copy_takes_nothing_from_the_home(world, memory, place):
    address = captured(memory)["c1"]
    before = sorted(dict(world.home.blobs.names()))
    copy = os.path.join(world.home.paths.data, place)
    os.makedirs(os.path.dirname(copy), exist_ok=True)
    world.db.execute("VACUUM INTO ?", (copy,))
    with Memory(copy, clock=world.home.clock) as other:
        assert other.forget(address) == [address]
    assert sorted(dict(world.home.blobs.names())) == before
    assert WORD in raw_texts(world)
    assert memory.get(address)["tool_call_id"] == "c1"


def test_a_raw_stretch_that_cannot_be_removed_is_named_and_the_rest_of_the_forgetting_is_done_later(world, memory, monkeypatch):
    address = captured(memory)["c1"]
    before = dict(world.home.blobs.names())
    real = os.unlink

    def refused(path, **more):
        if str(path).endswith(".enc"):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)
        return real(path, **more)

    with monkeypatch.context() as patched:
        patched.setattr(os, "unlink", refused)
        with pytest.raises(AflError, match=r"\.enc: Permission denied") as caught:
            memory.forget(address)
    assert caught.value.code == "AFL-PATH-008"
    assert memory.sweep()
    assert holding(world.home.paths.data) == []
    assert dict(world.home.blobs.names()) == before
    for name in before:
        os.utime(world.home.blobs.path(name), (0, 0))
    assert upkeep.run(world.home)["blobs"] == 1


def test_a_process_that_ends_before_a_raw_stretch_is_removed_leaves_it_to_the_upkeep_and_nothing_else(world, memory, monkeypatch):
    class EndedError(BaseException):
        """Nothing of ours handles it, as nothing handles the end of a process."""

    def end(*_given):
        raise EndedError

    address = captured(memory)["c1"]
    before = dict(world.home.blobs.names())
    with monkeypatch.context() as patched:
        patched.setattr(Blobs, "remove", end)
        with pytest.raises(EndedError):
            memory.forget(address)
    with Memory(world.home.paths.database, clock=world.home.clock) as anew:
        assert anew.stats()["unswept"] == 0
        assert anew.forget_session(worlds.SESSION, dry_run=True) == [captured(memory)["c2"]]
    assert holding(world.home.paths.data) == []
    for name in before:
        os.utime(world.home.blobs.path(name), (0, 0))
    assert upkeep.run(world.home)["blobs"] == 1


def test_a_session_goes_as_a_whole_and_another_one_stays(world, memory, home):
    other = worlds.Tape(home / "o.jsonl", prefix="o")
    other.person("go").call("o1").result("o1", "Exit code 1", True)
    world.session(home / "o.jsonl", "claude:other")
    world.absorb("claude:other")
    mine = memory.record_tool_call("mine", "by hand", thread=worlds.SESSION)
    found = memory.forget_session(worlds.SESSION, dry_run=True)
    assert set(found) == {captured(memory)["c1"], captured(memory)["c2"], mine}
    assert memory.forget_session(worlds.SESSION, NS, dry_run=True) == [one for one in found if one != mine]
    assert memory.forget_session(worlds.SESSION) == found
    assert list(captured(memory)) == ["o1"]
    assert memory.forget_session("claude:nobody") == []
    read_anew(world)
    assert list(captured(memory)) == ["o1"]


def test_a_handle_without_the_scope_may_not(world, memory):
    with Memory(world.home.paths.database, scopes=["read", "write"], clock=world.home.clock) as one:
        for call in (lambda: one.forget(captured(memory)["c1"]), lambda: one.forget_session(worlds.SESSION)):
            with pytest.raises(AflError) as caught:
                call()
            assert caught.value.code == "AFL-SCOPE-001"


def test_every_other_way_to_write_there_stays_closed(memory, tmp_path):
    address = captured(memory)["c1"]
    fact = {"subject": "a", "relation": "b", "object": "c"}
    (tmp_path / "facts").write_text('{"subject": "a", "relation": "b", "object": "c", "namespace": "global"}\n')
    assert memory.import_(tmp_path / "facts").skipped_rows == 1
    for call in (
        lambda: memory.add("fact", fact, namespace=NS),
        lambda: memory.add_fact("a", "b", "c", namespace="global"),
        lambda: memory.record_tool_call("t", "r", namespace=NS),
        lambda: memory.supersede(address, error="nothing"),
        lambda: memory.retract(address),
        lambda: memory.undo(address),
        lambda: memory.merge_heads("a", "b", "c", ns=NS),
    ):
        with pytest.raises(AflError) as caught:
            call()
        assert caught.value.code == "AFL-MODEL-006"


@pytest.mark.parametrize("ns", ["afl-loop", "agent:authz", "agent:harness"])
def test_who_decided_what_is_not_erased(world, memory, ns):
    grain = make(GrainType.FACT, {"namespace": ns, "subject": "a", "relation": "b", "object": "c"}, world.now)
    with writing(world.db):
        write.add(world.db, grain)
    for call in (lambda: memory.forget(grain.hash), lambda: memory.forget_subject("a", ns, dry_run=True)):
        with pytest.raises(AflError) as caught:
            call()
        assert caught.value.code == "AFL-MODEL-009"
    assert grains.get(world.db, grain.hash) is not None


def test_a_note_of_the_agents_own_memory_that_is_to_stay_out_is_not_imported_again(world, memory, home):
    (home / "shop").mkdir()
    folder = home / ".claude/projects" / project_slug(home / "shop") / "memory"
    folder.mkdir(parents=True)
    (folder / "a.md").write_text(f"---\nname: A\ndescription: d\nmetadata:\n  type: feedback\n---\n\nAlways play the {WORD}.\n")
    [row] = imported(world.home, str(home / "shop"), None, dry_run=False)
    ns = memory.get(row["grain"])["namespace"]
    fields = {key: value for key, value in memory.get(row["grain"])["fields"].items() if key != "created_at"}
    assert memory.forget_subject("a.md", ns, keep_out=True) == [row["grain"]]
    [row] = imported(world.home, str(home / "shop"), None, dry_run=False)
    assert (row["action"], "stays out" in row["reason"]) == ("skipped", True)
    assert memory.allow("fact", fields)
    [row] = imported(world.home, str(home / "shop"), None, dry_run=False)
    assert row["action"] == "imported"


def test_a_call_that_is_let_in_again_is_captured_by_the_next_whole_reading(world, memory):
    memory.forget(captured(memory)["c1"])
    call = {"tool_name": "Bash", "session_id": worlds.SESSION, "tool_call_id": "c1"}
    assert memory.allow("tool", call)
    assert not memory.allow("tool", call)
    read_anew(world, forgotten=("cursors", "sightings", "events"))
    assert set(captured(memory)) == {"c1", "c2"}


def test_a_forgotten_event_of_a_file_of_its_own_is_not_captured_again(tmp_path):
    with Memory(tmp_path / "own.afl") as memory:
        said = [{"content": f"I play the {WORD}", "role": "user", "created_at": 5}, {"content": "good", "role": "user", "created_at": 6}]
        call = write.ToolCall("c1", "Bash", "{}", True, 1, 5, f"no {WORD}", 7)
        assert memory.record_session("s", said, [call]) == (2, 0, 1)
        for one in memory.search(WORD):
            memory.forget(one["hash"])
        assert memory.record_session("s", said, [call]) == (0, 1, 0)
        assert holding(tmp_path) == []
        memory.add("event", {**said[0], "session_id": "s"})  # who says it on purpose may
        assert memory.record_session("s", said, [call]) == (0, 1, 0)
