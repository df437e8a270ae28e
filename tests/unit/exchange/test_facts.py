"""Facts as JSON lines, and telling the formats apart."""

from __future__ import annotations

import json

import pytest
from exchange_world import NOW, opened

from afl_core.exchange.errors import ExchangeError
from afl_core.exchange.files import Source
from afl_core.exchange.imports import format_of


@pytest.fixture
def memory(tmp_path):
    with opened(tmp_path / "a.afl") as one:
        yield one


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "some.jsonl"

    def write(*rows):
        path.write_text("".join(f"{row if isinstance(row, str) else json.dumps(row)}\n" for row in rows), "utf-8")
        return path

    return write


def test_facts_keep_whatever_else_a_row_says(memory, file):
    report = memory.import_(
        file({"subject": "acme", "relation": "is", "object": "here", "confidence": 0.5, "tags": ["x"], "colour": "red"})
    )
    assert (report.format, report.added) == ("facts", 1)
    [found] = memory.recall("acme")
    assert (found["confidence"], found["tags"], found["colour"], found["namespace"]) == (0.5, ["x"], "red", "shared")


def test_of_several_facts_of_one_thing_the_last_row_is_the_newest(memory, file):
    memory.import_(file(*({"subject": "acme", "relation": "is", "object": word} for word in ("one", "two", "three"))))
    assert memory.latest("acme", "is")["object"] == "three"
    assert memory.forks() == []


def test_facts_taken_in_twice_change_nothing_with_or_without_times(memory, file):
    rows = [{"subject": "acme", "relation": "is", "object": word} for word in ("one", "two")]
    path = file(*rows, {"subject": "pat", "relation": "is", "object": "here", "created_at": NOW})
    assert memory.import_(path).added == 3
    assert memory.import_(path).added == 0
    assert memory.latest("acme", "is")["object"] == "two"


def test_a_fact_that_was_taken_back_here_does_not_return(memory, file):
    path = file({"subject": "acme", "relation": "is", "object": "one", "created_at": NOW})
    memory.import_(path)
    memory.retract(memory.latest("acme", "is")["hash"])
    assert memory.import_(path).already == 1
    assert memory.latest("acme", "is") is None


def test_numbers_and_truths_become_their_words_and_times_are_read(memory, file):
    memory.import_(file({"subject": "acme", "relation": "seats", "object": 7, "created_at": "2026-01-01T00:00:00Z"}))
    memory.import_(file({"subject": "acme", "relation": "paid", "object": True}))
    assert (memory.latest("acme", "seats")["object"], memory.latest("acme", "seats")["created_at"]) == ("7", NOW)
    assert memory.latest("acme", "paid")["object"] == "true"


def test_a_bad_fact_is_named_with_its_field_and_stops_nobody(memory, file):
    report = memory.import_(
        file(
            {"subject": "acme", "relation": "is", "object": "here"},
            {"subject": "acme", "relation": "is"},
            {"subject": "acme", "relation": "is", "object": "x", "confidence": 7},
            {"subject": "acme", "relation": "is", "object": "x", "created_at": "soon"},
            {"subject": "acme", "relation": "is", "object": "x", "namespace": "global"},
            {"subject": "acme", "relation": "is", "object": "x", "type": "song"},
            {"subject": "acme", "relation": "was", "object": "there"},
        )
    )
    assert (report.added, [one.line for one in report.skipped]) == (2, [2, 3, 4, 5, 6])
    told = {one.line: one.reason for one in report.skipped}
    assert "fact.object" in told[2]
    assert "fact.confidence" in told[3]
    assert "global" in told[5]
    assert "song" in told[6]


@pytest.mark.parametrize(
    ("row", "format"),
    [
        ({"format": "afl-bundle/1"}, "bundle"),
        ({"format": "afl-bundle/9"}, "bundle"),
        ({"subject": "a", "relation": "b", "object": "c", "name": "x", "content": "y"}, "facts"),
        ({"tool_name": "x"}, "tool-log"),
        ({"name": "x", "output": "y"}, "tool-log"),
        ({"role": "user", "content": "hello"}, "tool-log"),
        ({"role": "assistant", "tool_calls": []}, "tool-log"),
    ],
)
def test_a_format_is_known_by_its_first_telling_row(file, row, format):
    with Source(file("", "{broken", row)) as source:
        assert format_of(source) == format


@pytest.mark.parametrize("rows", [[], ["hello"], [{"name": "x"}], ["\x00\x01"]])
def test_a_file_of_no_known_format_is_refused_with_the_way_out(memory, file, rows):
    with pytest.raises(ExchangeError) as bad:
        memory.import_(file(*rows))
    assert bad.value.code == "AFL-EXCHANGE-002"
    assert "--format" in bad.value.hint


def test_an_unknown_name_of_a_format_is_refused(memory, file):
    with pytest.raises(ExchangeError) as bad:
        memory.import_(file(), format="csv")
    assert "tool-log" in bad.value.hint
