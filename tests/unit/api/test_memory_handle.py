"""The public memory: what it takes and gives, what it refuses, and that importing the package costs nothing."""

from __future__ import annotations

import subprocess
import sys

import pytest

import afl_core
from afl_core.api.memory import Memory
from afl_core.memory import write
from afl_core.model.errors import AflError
from afl_core.model.grain import GrainType, make


def refused(call):
    with pytest.raises(AflError) as caught:
        call()
    return caught.value.code


def test_the_package_offers_the_memory_and_importing_it_loads_nothing():
    assert afl_core.Memory is Memory
    assert afl_core.AflError is AflError
    seen = subprocess.run(
        [
            sys.executable,
            "-c",
            "import sys, afl_core; print(sorted(m for m in sys.modules if m.startswith('afl_core.') or m in ('attrs', 'sqlite3')))",
        ],
        capture_output=True,
        text=True,
    )
    assert seen.stdout.strip() == "[]"
    assert not hasattr(afl_core, "Nothing")


def test_a_fact_that_is_said_again_is_not_stored_again(memory, clock):
    first = memory.add_fact("acme", "tier", "gold", confidence=0.9)
    clock.advance(seconds=1)
    assert memory.add_fact("acme", "tier", "gold") == first
    assert memory.add_fact("acme", "tier", "gold", confidence=0.9) == first
    assert memory.add_fact("acme", "tier", "gold", confidence=0.5) != first
    assert memory.stats()["grains"] == 2


def test_a_batch_is_all_or_nothing(memory):
    with pytest.raises(AflError, match=r"fact\.object"):
        memory.add_batch(
            [{"type": "fact", "subject": "a", "relation": "b", "object": "c"}, {"type": "fact", "subject": "a", "relation": "b"}]
        )
    assert memory.stats()["grains"] == 0


def test_every_call_of_a_tool_is_a_grain_and_one_of_a_session_is_there_once(memory):
    same = {memory.record_tool_call("Bash", "ok") for _ in range(3)}
    assert len(same) == 3
    known = memory.record_tool_call("Bash", "ok", thread="s", call_id="c", input="[1, 2]")
    assert memory.record_tool_call("Bash", "other", thread="s", call_id="c") == known
    assert memory.record_tool_call("Bash", "ok", thread="t", call_id="c") != known
    assert [one["input"] for one in memory.recall(tool_call_id="c", session_id="s")] == [[1, 2]]
    assert len(memory.recall(tool_name="Bash")) == 5
    assert refused(lambda: memory.record_tool_call("Bash", "ok", input="{")) == "AFL-MODEL-002"


def test_a_failed_call_has_its_signature_whichever_way_it_came(memory):
    memory.record_tool_call("Bash", "failed after 17 ms", is_error=True)
    memory.add("tool", tool_name="Bash", content="failed after 18 ms", is_error=True)
    memory.add("tool", tool_name="Bash", content="worked after 18 ms", is_error=False)
    found = [row[0] for row in memory._files.reader().execute("SELECT signature FROM grains ORDER BY seq")]
    assert found[0] == found[1] is not None
    assert found[2] is None


@pytest.mark.parametrize("ns", ["afl-loop", "global", "agent:authz", "project:p"])
def test_a_namespace_with_an_owner_is_refused_on_every_way_in(memory, ns):
    fact = {"subject": "a", "relation": "b", "object": "c", "namespace": ns}
    with memory._files.writer() as db:
        owned = write.add(db, make(GrainType.FACT, fact, 1))
        live = write.add(db, make(GrainType.FACT, {**fact, "subject": "d"}, 1))
    mine = memory.add_fact("x", "y", "z")
    ways = [
        lambda: memory.add("fact", fact),
        lambda: memory.add_fact("a", "b", "c", namespace=ns),
        lambda: memory.add_batch([{"type": "fact", **fact}]),
        lambda: memory.record_tool_call("Bash", "ok", namespace=ns),
        lambda: memory.supersede(owned, object="other"),
        lambda: memory.supersede(owned, object="other", namespace="shared"),
        lambda: memory.supersede(mine, namespace=ns),
        lambda: memory.supersede_by(live, mine),
        lambda: memory.retract(owned),
        lambda: memory.undo(owned),
        lambda: memory.merge_heads("a", "b", "c", ns=ns),
    ]
    assert {refused(way) for way in ways} == {"AFL-MODEL-006"}
    assert memory.latest("a", "b", ns=ns)["hash"] == owned


def test_scopes_narrow(opens):
    full = opens()
    address = full.add_fact("acme", "tier", "gold")
    reads = opens(scopes={"read"})
    assert [one["hash"] for one in reads.search("gold")] == [address]
    for way in (lambda: reads.add_fact("a", "b", "c"), lambda: reads.forget(address), lambda: reads.undo(address), reads.sweep):
        assert refused(way) == "AFL-SCOPE-001"
    writes = opens(scopes={"write"})
    assert writes.supersede(address, object="silver")
    for way in (lambda: writes.recall("acme"), lambda: writes.latest("acme", "tier"), writes.stats, writes.verify):
        assert refused(way) == "AFL-SCOPE-001"
    assert refused(lambda: opens(scopes={"rule"})) == "AFL-MODEL-007"


def test_an_address_may_be_shortened_as_long_as_it_is_one(memory):
    address = memory.add_fact("acme", "tier", "gold")
    assert memory.get(address[:6])["hash"] == address
    assert refused(lambda: memory.get(address[:5])) == "AFL-STORE-020"
    assert refused(lambda: memory.get("zz" * 8)) == "AFL-STORE-020"
    many = [memory.add_fact("acme", str(number), "gold") for number in range(3)]
    with memory._files.writer() as db:
        db.executemany("UPDATE grains SET hash = 'abcdef' || substr(hash, 7) WHERE hash = ?", [(one,) for one in many])
    assert refused(lambda: memory.get("abcdef")) == "AFL-STORE-035"


def test_a_closed_memory_says_so_and_may_be_closed_again(memory):
    memory.search("x")
    memory.close()
    memory.close()
    assert refused(lambda: memory.recall("acme")) == "AFL-STORE-033"


def test_a_memory_without_its_index_says_so_and_a_later_one_finds_everything(opens):
    bare = opens(index_text=False)
    address = bare.add_fact("acme", "tier", "gold")
    assert refused(lambda: bare.search("gold")) == "AFL-STORE-036"
    bare.flush()
    assert [one["hash"] for one in opens().search("gold")] == [address]


def test_a_superseded_value_of_another_subject_is_in_the_history_of_its_successor(memory, clock):
    old = memory.add_fact("acme", "tier", "gold")
    clock.advance(seconds=1)
    memory.supersede(old, subject="acme inc", object="gold")
    assert [one["subject"] for one in memory.history("acme inc", "tier")] == ["acme inc", "acme"]
    assert [one["subject"] for one in memory.history("acme", "tier")] == ["acme"]
    assert memory.latest("acme", "tier") is None


def test_what_cannot_be_opened_is_refused_with_its_reason(opens, tmp_path):
    (tmp_path / "text.afl").write_text("not a database, but longer than a header of one hundred bytes " * 3)
    (tmp_path / "link.afl").symlink_to(tmp_path / "text.afl")
    (tmp_path / "dir.afl").mkdir()
    assert refused(lambda: opens("text.afl")) == "AFL-STORE-002"
    assert refused(lambda: opens("link.afl")) == "AFL-PATH-006"
    assert refused(lambda: opens("dir.afl")) == "AFL-PATH-006"
    assert refused(lambda: opens("missing/m.afl")) == "AFL-STORE-001"
    (tmp_path / "empty.afl").write_bytes(b"")
    assert opens("empty.afl").add_fact("a", "b", "c")


def test_assembling_takes_whole_grains_and_tells_what_was_left_out(memory):
    for number in range(4):
        memory.add_fact("acme", f"note{number}", f"gold number {number}")
    memory.add_fact("zeta", "note", "silver")
    found = memory.assemble([{"subject": "acme"}, {"query": "silver", "weight": 2}], limit=3)
    assert (found["budget"], len(found["grains"]), len(found["dropped"])) == ({"unit": "grains", "limit": 3, "used": 3}, 3, 2)
    assert "zeta note silver" in found["text"]
    assert refused(lambda: memory.assemble([{"topic": "x"}])) == "AFL-MODEL-008"
    assert memory.telemetry()["budget"] == {"sample_count": 1, "overflow_count": 1}


def test_what_was_said_in_one_millisecond_is_told_newest_first(tmp_path):
    with Memory(tmp_path / "m.afl", clock=lambda: 1_796_060_000_000) as memory:
        for number in range(12):
            memory.add_fact("acme", "deploy_target", f"place {number}")
        assert [one["object"] for one in memory.history("acme", "deploy_target")] == [f"place {number}" for number in range(11, -1, -1)]
        assert memory.latest("acme", "deploy_target")["object"] == "place 11"


def test_a_memory_looks_once_when_it_is_opened_whether_the_time_is_frozen(tmp_path, monkeypatch):
    monkeypatch.setenv("AFL_NOW_MS", "1000")
    with Memory(tmp_path / "frozen.afl", telemetry="off") as memory:
        monkeypatch.setenv("AFL_NOW_MS", "rubbish")
        assert memory.get(memory.add_fact("a", "b", "c"))["created_at"] == 1000
    with pytest.raises(AflError) as refused:
        Memory(tmp_path / "other.afl", telemetry="off")
    assert refused.value.code == "AFL-MODEL-004"
