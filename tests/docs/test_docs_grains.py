"""docs/grains.md names every type of grain, with exactly the fields it requires."""

from __future__ import annotations

import pytest

from afl_core.model.errors import ModelError
from afl_core.model.grain import GrainType, make

NOW = 1_768_435_200_000


@pytest.fixture
def required(page, code):
    """Type -> the fields that the table says it requires."""
    rows = page("docs/grains.md").table("type", "required fields", "what it is for")
    return {kind: code(row.cells["required fields"]) for row in rows for kind in code(row.cells["type"])}


def test_every_type_is_in_the_table(required):
    assert sorted(required) == sorted(one.value for one in GrainType)


@pytest.mark.parametrize("kind", [one.value for one in GrainType])
def test_a_type_requires_the_fields_of_its_row_and_no_others(required, kind):
    given = {name: ALLOWED.get(name, "text") for name in required[kind]}
    for name in given:
        with pytest.raises(ModelError, match=rf"{kind}\.{name} is missing"):
            make(GrainType(kind), {**given, name: None}, NOW)
    if kind != "lesson":  # a card is more than any text
        assert make(GrainType(kind), given, NOW).type.value == kind


ALLOWED = {"severity": "Major", "method_class": "evidence-premise"}
