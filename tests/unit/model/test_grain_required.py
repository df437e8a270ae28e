"""Every type of grain asks for its fields, one by one, and for no others; what was stored under other rules is still read."""

from __future__ import annotations

import pytest

from afl_core.model.errors import ModelError
from afl_core.model.grain import GrainType, formed, kept, make, stored, unfit

NOW = 1_768_435_200_000
CARD = {
    **dict.fromkeys(("when", "must_do", "must_not", "verify", "why", "exception"), "text"),
    "source_ids": ["r-1"],
}
REQUIRED = {
    "fact": {"subject": "acme", "relation": "is", "object": "here"},
    "event": {"content": "it was said"},
    "state": {},
    "workflow": {},
    "tool": {"tool_name": "bash"},
    "observation": {"content": "it was seen"},
    "goal": {"description": "ship it"},
    "reasoning": {},
    "consensus": {},
    "consent": {},
    "skill": {"name": "git", "description": "use git"},
    "recommendation": {},
    "lesson": {"lesson_id": "L1", "severity": "Major", "method_class": "evidence-premise", "class_id": "c", "card": CARD},
}
EACH = [(kind, name) for kind, fields in REQUIRED.items() for name in fields]
NOT_TEXT_ENOUGH = ("", " \t\n", "\u3000", None, 7, True, ["text"], {"text": "text"})


def test_the_table_of_this_test_names_every_type():
    assert set(REQUIRED) == {one.value for one in GrainType}


@pytest.mark.parametrize("kind", REQUIRED)
def test_a_grain_with_what_its_type_requires_is_made(kind):
    assert unfit(make(GrainType(kind), REQUIRED[kind], NOW)) == ""


@pytest.mark.parametrize(("kind", "name"), EACH)
def test_a_grain_without_one_of_them_is_refused_by_the_name_of_type_and_field(kind, name):
    rest = {key: value for key, value in REQUIRED[kind].items() if key != name}
    with pytest.raises(ModelError, match=rf"^{kind}\.{name} is missing"):
        make(GrainType(kind), rest, NOW)


@pytest.mark.parametrize(("kind", "name"), [one for one in EACH if one[1] != "card"])
@pytest.mark.parametrize("value", NOT_TEXT_ENOUGH, ids=repr)
def test_what_is_no_text_or_blank_does_not_count(kind, name, value):
    wrong = "missing or blank" if value is None or isinstance(value, str) else "not text"
    with pytest.raises(ModelError, match=rf"^{kind}\.{name} is {wrong}$"):
        make(GrainType(kind), {**REQUIRED[kind], name: value}, NOW)


@pytest.mark.parametrize("name", CARD)
def test_a_lesson_asks_for_all_of_its_card(name):
    card = {key: value for key, value in CARD.items() if key != name}
    with pytest.raises(ModelError, match=rf"^lesson\.card\.{name} is"):
        make(GrainType.LESSON, {**REQUIRED["lesson"], "card": card}, NOW)


@pytest.mark.parametrize(("kind", "name"), [("observation", "content"), ("goal", "description")])
def test_words_that_another_store_kept_in_object_count_where_the_field_is_not_there(kind, name):
    assert make(GrainType(kind), {"object": "its words"}, NOW).fields["object"] == "its words"
    for bad in ({"object": " "}, {"object": 7}, {name: "", "object": "its words"}):
        with pytest.raises(ModelError, match=rf"^{kind}\.{name} is missing or blank$"):
            make(GrainType(kind), bad, NOW)


@pytest.mark.parametrize(("kind", "name"), EACH)
def test_a_grain_that_was_stored_under_other_rules_is_read_as_it_is(kind, name):
    old = formed(GrainType(kind), {key: value for key, value in REQUIRED[kind].items() if key != name}, NOW)
    assert unfit(old).startswith(f"{kind}.{name} is missing")
    assert kept(kind, old.body, old.hash) == old
    assert stored(kind, old.body) == old
