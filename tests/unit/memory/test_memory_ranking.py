"""The order of what is recalled: match times confidence times age, by the formula, and the same every time."""

from __future__ import annotations

import pytest

from afl_core import Memory
from afl_core.memory.rank import Weights, ranked, score
from afl_core.memory.recall import telling, too_common
from afl_core.model.clock import DAY_MS
from afl_core.model.grain import GrainType, make
from afl_core.store.grains import Stored

NOW = 1_767_225_600_000


def grain(confidence=None, days=0.0, word="gold"):
    fields = {"subject": "a", "relation": "b", "object": word, "confidence": confidence, "created_at": NOW - int(days * DAY_MS)}
    return Stored(make(GrainType.FACT, fields, NOW), 1, None)


@pytest.mark.parametrize(
    ("confidence", "days", "wanted"),
    [(None, 0, 2.0), (1.0, 0, 2.0), (0.0, 0, 1.0), (0.5, 0, 1.5), (1.0, 90, 1.5), (0.5, 90, 1.125), (0.0, 180, 0.625), (1.0, -5, 2.0)],
)
def test_the_score_is_match_times_confidence_times_age(confidence, days, wanted):
    assert score(grain(confidence, days), 2.0, NOW) == pytest.approx(wanted)


def test_the_weights_are_parameters(tmp_path):
    assert score(grain(0.0, 10), 1.0, NOW, Weights(sure=1.0, fresh=1.0)) == 1.0
    assert score(grain(None, 0), 1.0, NOW, Weights(confidence=0.0)) == 0.5
    assert score(grain(1.0, 10), 1.0, NOW, Weights(fresh=0.0, half_life_days=10.0)) == pytest.approx(0.5)
    with Memory(tmp_path / "m.afl", telemetry="off", weights=Weights(fresh=0.0, half_life_days=1.0), clock=lambda: NOW) as memory:
        memory.add_fact("a", "b", "old", confidence=1.0, created_at=NOW - 2 * DAY_MS)
        assert memory.recall("a")[0]["score"] == pytest.approx(0.25)


def test_ties_go_to_the_newer_and_then_to_the_greater_address():
    sure = grain(0.0, 0)
    old = [grain(1.0, 0, word) for word in ("x", "y", "z")]
    order = ranked([(one, 1.0) for one in (sure, *old)], NOW, 10)
    assert [one.stored.grain.hash for one in order] == [*sorted((one.grain.hash for one in old), reverse=True), sure.grain.hash]
    assert ranked([(one, 1.0) for one in (*reversed(old), sure)], NOW, 10) == order


@pytest.fixture
def memory(tmp_path):
    with Memory(tmp_path / "m.afl", telemetry="off", clock=lambda: NOW) as made:
        yield made


def test_what_is_sure_and_recent_comes_first(memory):
    for name, confidence, days in (("unsure", 0.1, 0), ("sure", 1.0, 0), ("old", 1.0, 400), ("ancient", 0.1, 900)):
        memory.add_fact("acme", name, "gold", confidence=confidence, created_at=NOW - days * DAY_MS)
    assert [one["relation"] for one in memory.recall("acme")] == ["sure", "unsure", "old", "ancient"]
    assert [one["relation"] for one in memory.search("gold")] == ["sure", "unsure", "old", "ancient"]
    assert len(memory.recall("acme", k=2)) == 2


def test_a_better_match_outweighs_a_little_age(memory):
    memory.add("observation", content="the deploy of the billing service failed because of billing quota", created_at=NOW - DAY_MS)
    memory.add(
        "observation", content="billing was mentioned once in a long sentence about many other things and people and places and days"
    )
    assert "failed" in memory.search("billing")[0]["content"]


@pytest.mark.parametrize(
    "asked",
    [
        {"subject": "acme"},
        {"subject": "acme", "relation": "tier"},
        {"relation": "tier"},
        {"subject": "acme", "type": "fact"},
        {"subject": "acme", "ns": "*"},
        {"relation": "tier", "ns": "*"},
        {"type": "fact"},
        {"type": "fact", "ns": "*"},
        {},
        {"ns": "*"},
    ],
    ids=str,
)
def test_every_way_to_ask_finds_it(memory, asked):
    address = memory.add_fact("acme", "tier", "gold")
    memory.add_fact("acme", "tier", "gold", namespace="elsewhere")
    memory.add("observation", content="gold")
    found = memory.recall(**asked)
    assert address in [one["hash"] for one in found]
    assert all(one["namespace"] == "shared" for one in found) == ("ns" not in asked)


def test_tools_sessions_and_calls_are_found_by_their_names(memory):
    address = memory.record_tool_call("Bash", "ok", thread="s1", call_id="c1")
    memory.record_tool_call("Read", "ok", thread="s2", call_id="c2")
    for asked in ({"tool_name": "Bash"}, {"session_id": "s1"}, {"tool_call_id": "c1"}, {"tool_call_id": "c1", "type": "tool", "ns": "*"}):
        assert [one["hash"] for one in memory.recall(**asked)] == [address]
    assert memory.recall(tool_call_id="c1", session_id="s2") == []


def test_the_rarest_six_terms_are_asked_for_and_none_that_very_many_hold():
    counts = {f"t{number}": number + 1 for number in range(10)}
    assert telling(counts, 100) == ["t0", "t1", "t2", "t3", "t4", "t5"]
    assert telling({"the": 50, "gold": 49}, 50) == ["gold"]
    assert telling({"the": 50, "a": 51}, 50) == ["the"]
    assert telling({"部": 50, "部署": 50}, 50) == ["部署"]
    assert [too_common(grains) for grains in (10, 30_000, 10_000_000)] == [200, 300, 512]


def test_a_common_word_asked_for_alone_gives_as_many_as_are_wanted_of_one_namespace(memory):
    for ns in ("a", "b"):
        memory.add_batch([{"type": "observation", "content": f"deploy n{n}", "namespace": ns} for n in range(600)])
    found = memory.search("deploy", k=500, ns="a")
    assert len(found) == 500
    assert {one["namespace"] for one in found} == {"a"}


def test_a_common_word_gives_the_newest_of_a_namespace_also_where_other_namespaces_have_newer_ones(memory):
    texts = [f"common {'more ' * (n % 40)}" for n in range(600)]
    for ns in ("mine", "theirs", "others"):
        memory.add_batch([{"type": "observation", "content": f"{text} {ns}{n}", "namespace": ns} for n, text in enumerate(texts)])
    found = memory.search("common", k=5, ns="mine")
    assert {one["content"].split()[-1] for one in found} <= {f"mine{n}" for n in range(600 - 512, 600)}
    assert len(memory.search("common", k=512, ns="mine")) == 512
