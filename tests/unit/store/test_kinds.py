"""Grains of which only the type or the namespace is asked: found through indexes, however many others there are."""

from __future__ import annotations

import pytest

from afl_core import Memory
from afl_core.store import grains, kinds

MANY = kinds.LOOKED_BACK + 200


@pytest.fixture
def memory(tmp_path):
    with Memory(tmp_path / "m.afl", index_text=False) as made:
        yield made


@pytest.fixture
def crowded(memory):
    """Ten facts (two of them gave way), two goals and a call of another namespace, and then very many calls."""
    facts = [memory.add_fact(f"s{number}", "is", f"value {number}") for number in range(8)]
    memory.supersede(facts[0], object="newer")
    memory.supersede(facts[1], object="newer")
    memory.add("goal", description="first", created_at=2)
    memory.add("goal", description="older", created_at=1)
    memory.add("fact", subject="far", relation="is", object="away", namespace="other")
    memory.add_batch(
        [{"type": "tool", "tool_name": f"t{number % 3}", "tool_call_id": f"c{number}", "content": "ok"} for number in range(MANY)]
    )
    return memory


def rows(memory, kind, ns="shared", most=512):
    return [grains.read(row, grains.PLAIN).grain.fields for row in kinds.newest(memory._files.reader(), kind, ns, most)]


def test_old_facts_are_found_behind_very_many_calls(crowded):
    assert [one["object"] for one in rows(crowded, "fact")] == ["newer", "newer", *(f"value {n}" for n in range(7, 1, -1))]
    assert [one["object"] for one in rows(crowded, "fact", most=3)] == ["newer", "newer", "value 7"]
    assert rows(crowded, "fact", None, most=1)[0]["subject"] == "far"
    assert {one["object"] for one in crowded.recall(type="fact", k=100)} == {"newer", *(f"value {n}" for n in range(2, 8))}


def test_the_last_calls_are_found_first(crowded):
    assert [one["tool_call_id"] for one in rows(crowded, "tool", most=2)] == [f"c{MANY - 1}", f"c{MANY - 2}"]
    assert rows(crowded, "tool", "other") == []
    assert len(rows(crowded, "tool", most=MANY)) == MANY


def test_other_types_are_found_by_when_they_were_made(crowded):
    assert [one["description"] for one in rows(crowded, "goal")] == ["first", "older"]
    assert [one["description"] for one in rows(crowded, "goal", None)] == ["first", "older"]


def test_every_namespace_is_named_once(crowded):
    crowded.add("observation", content="seen", namespace="third")
    assert kinds.namespaces(crowded._files.reader()) == ["other", "shared", "third"]


def test_calls_before_a_time_are_those_of_the_namespaces_that_were_named(crowded):
    db = crowded._files.reader()
    crowded.add_batch(
        [{"type": "tool", "tool_name": name, "tool_call_id": f"{name}{at}", "namespace": ns, "created_at": at, "content": ""}
         for ns in ("a:1", "a:2", "b:1") for name in ("x", "y") for at in (10, 20, 30)]
    )  # fmt: skip
    before = {grains.get(db, one).grain.fields["tool_call_id"] for one in kinds.calls_before(db, "a:", 25, 100)}
    assert before == {"x10", "x20", "y10", "y20"}
    assert len(kinds.calls_before(db, "a:", 25, 100)) == 8
    assert len(kinds.calls_before(db, "a:", 25, 3)) == 3
    assert kinds.calls_before(db, "c:", 25, 3) == []


@pytest.mark.parametrize(
    ("statement", "index"),
    [
        (kinds._each("subject IS NOT NULL"), "grains_subject"),
        (kinds._each("tool_name IS NOT NULL"), "grains_tool"),
        (kinds._each(kinds._OTHERS), "grains_kind"),
        (f"SELECT 1 FROM grains WHERE {kinds.in_namespace(chr(39) + 'a' + chr(39))}", "grains_kind"),
    ],
)
def test_nothing_reads_the_whole_table(statement, index, memory):
    plan = " ".join(row[3] for row in memory._files.reader().execute(f"EXPLAIN QUERY PLAN {statement}"))
    assert index in plan
    assert "SCAN grains" not in plan
