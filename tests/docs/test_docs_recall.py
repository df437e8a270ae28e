"""The terms that docs/recall.md shows are the ones that are made, and its weights are the default ones."""

from __future__ import annotations

import attrs

from afl_core.memory.rank import DEFAULT
from afl_core.memory.terms import terms


def test_the_examples_of_terms_are_what_is_made_of_them(page, code):
    rows = page("docs/recall.md").table("script", "terms", "example")
    for row in rows:
        text, *shown = code(row.cells["example"])
        assert set(terms(text)) == set(shown), row.cells["script"]
    assert len(rows) == 5


def test_the_weights_in_the_table_are_the_default_ones(page, code):
    told = {code(row.cells["part"])[0]: row.cells["by default"] for row in page("docs/recall.md").table("part", "what it is", "by default")}
    assert {name: float(told[name]) for name in attrs.asdict(DEFAULT)} == attrs.asdict(DEFAULT)
