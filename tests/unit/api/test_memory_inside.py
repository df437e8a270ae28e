"""What somebody does from inside of a long call, where he is told how far it is: it is done whole, or refused with its next step, and never lost."""

from __future__ import annotations

import json
import pathlib
import sqlite3

import pytest

from afl_core.api.memory import Memory
from afl_core.model.errors import AflError, StoreError

CHANGES = {
    "add": lambda memory, _: memory.add_fact("globex", "is", "there"),
    "add_batch": lambda memory, _: memory.add_batch([{"type": "fact", "subject": "globex", "relation": "is", "object": "there"}]),
    "record_tool_call": lambda memory, _: memory.record_tool_call("bash", "ok"),
    "supersede": lambda memory, address: memory.supersede(address, object="there"),
    "retract": lambda memory, address: memory.retract(address),
    "forget": lambda memory, address: memory.forget(address),
    "export": lambda memory, _: memory.export(memory.path + ".again"),
    "import": lambda memory, _: memory.import_(facts_beside(memory.path)),
}


def facts_beside(path):
    rows = pathlib.Path(path + ".jsonl")
    rows.write_text('{"subject": "globex", "relation": "is", "object": "there"}', encoding="utf-8")
    return rows


@pytest.fixture
def memory(tmp_path):
    with Memory(tmp_path / "m.afl") as opened:
        opened.add_batch({"type": "observation", "content": f"n{n}"} for n in range(2_100))
        opened.flush()
        yield opened


def once(call):
    """A `progress` that calls this the first time; and what that raised."""
    raised = []

    def progress(*_):
        if not raised:
            raised.append(None)
            try:
                call()
            except AflError as bad:
                raised[0] = bad

    return progress, raised


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("long", ["verify", "export"])
def test_a_change_from_inside_of_a_reading_is_refused_and_can_be_made_afterwards(memory, tmp_path, long, change):
    address = memory.add_fact("acme", "is", "here")
    before = memory.stats()
    progress, raised = once(lambda: CHANGES[change](memory, address))
    if long == "verify":
        assert memory.verify(progress=progress)["ok"]
    else:
        memory.export(tmp_path / "all.jsonl", progress=progress)
    [bad] = raised
    assert isinstance(bad, StoreError)
    assert (bad.code, "another handle" in bad.hint) == ("AFL-STORE-038", True)
    assert {**memory.stats(), "bytes": 0} == {**before, "bytes": 0}
    CHANGES[change](memory, address)
    assert memory.verify()["ok"]


def test_questions_and_other_handles_go_on_inside_of_a_reading(memory, tmp_path):
    memory.add_fact("acme", "is", "here")
    memory.flush()
    found = []
    with Memory(memory.path) as other:

        def look():
            found.append([one["object"] for one in (*memory.recall("acme"), *memory.search("here"))])
            found.append(memory.verify()["ok"])
            other.add_fact("globex", "is", "there")

        progress, raised = once(look)
        assert memory.verify(progress=progress)["ok"]
    assert raised == [None]
    assert found == [["here", "here"], True]
    assert memory.recall("globex")[0]["object"] == "there"


def test_a_change_from_inside_of_an_import_stays_and_another_import_is_refused(memory, tmp_path):
    rows = tmp_path / "facts.jsonl"
    rows.write_text("".join(json.dumps({"subject": "acme", "relation": f"r{n}", "object": "here"}) + "\n" for n in range(500)))
    progress, raised = once(lambda: memory.add_fact("globex", "is", "there"))
    assert memory.import_(rows, progress=progress).added == 500
    assert raised == [None]
    assert memory.recall("globex")[0]["object"] == "there"
    again = tmp_path / "more.jsonl"
    again.write_text(rows.read_text().replace("acme", "globex"))
    progress, raised = once(lambda: memory.import_(rows))
    assert memory.import_(again, progress=progress).added == 500
    assert raised[0].code == "AFL-STORE-038"
    assert memory.import_(rows).already == 500


def test_what_is_tried_inside_of_a_dry_run_stays_and_the_dry_run_does_not(memory, tmp_path):
    rows = tmp_path / "facts.jsonl"
    rows.write_text("".join(json.dumps({"subject": "acme", "relation": "is", "object": "here"}) + "\n" for _ in range(300)))
    progress, raised = once(lambda: memory.add_fact("globex", "is", "there"))
    report = memory.import_(rows, dry_run=True, progress=progress)
    assert (report.added, report.already, raised) == (1, 299, [None])
    assert (memory.recall("acme"), memory.recall("globex")[0]["object"]) == ([], "there")


def test_a_dry_run_without_room_for_its_copy_says_where_room_is_missing(memory, tmp_path, monkeypatch):
    class Full(sqlite3.Connection):
        def backup(self, *_, **__):
            raise sqlite3.OperationalError("database or disk is full")

    from afl_core.store import copies

    rows = tmp_path / "facts.jsonl"
    rows.write_text('{"subject": "acme", "relation": "is", "object": "here"}')
    full = sqlite3.connect(memory.path, factory=Full)
    with pytest.raises(StoreError) as bad, copies.copied(full):
        pass
    full.close()
    assert (bad.value.code, "SQLITE_TMPDIR" in bad.value.hint, memory.path in bad.value.sentence) == ("AFL-STORE-039", True, True)
