"""A grain's address is the same for the same content and pinned for good."""

from __future__ import annotations

import hashlib
import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afl_core.model.errors import ModelError
from afl_core.model.grain import GrainType, make, stored

NOW = 1_767_225_600_000
TEXT = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0"), max_size=12)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(TEXT.map(lambda text: unicodedata.normalize("NFC", text)), inner, max_size=4)
    ),
    max_leaves=12,
)
LESSON = {
    "lesson_id": "L1",
    "severity": "Blocker",
    "method_class": "verification-closure",
    "class_id": "claim-without-evidence",
    "card": {
        "when": "a",
        "must_do": "b",
        "must_not": "c",
        "verify": "d",
        "why": "e",
        "exception": "f",
        "source_ids": ["r-1"],
    },
    "namespace": "project:p1",
}


def test_the_canonical_form_and_the_address_of_a_fact_are_pinned():
    grain = make(GrainType.FACT, {"subject": "café", "relation": "serves", "object": "tea", "confidence": 0.5}, NOW)
    text = (
        '{"fields":{"confidence":0.5,"created_at":1767225600000,"namespace":"shared","object":"tea","relation":"serves",'
        '"subject":"caf\u00e9"},"type":"fact","v":1}'
    )
    assert f'{{"fields":{grain.body},"type":"fact","v":1}}' == text
    assert grain.hash == hashlib.sha256(text.encode()).hexdigest()
    assert grain.hash == "f1e028d8f1656e439de6a2a376d074d9b4c1272dc3f43a51d6dd7f70bade4f5f"


def test_the_address_of_a_lesson_is_pinned():
    assert make(GrainType.LESSON, LESSON, NOW).hash == "a4c241769e87c5e8500827bc2248b166ad8f58c3d1926f04265f6ffd0f509352"


@given(
    st.dictionaries(TEXT.map(lambda text: "x" + unicodedata.normalize("NFC", text)), VALUES, max_size=5), st.randoms(use_true_random=False)
)
def test_the_address_depends_neither_on_key_order_nor_on_the_unicode_form(extra, random):
    keys = list(extra)
    random.shuffle(keys)
    one = make(GrainType.STATE, {"context": extra}, NOW)
    shuffled = {unicodedata.normalize("NFD", key): extra[key] for key in keys}
    other = make(GrainType.STATE, {"context": shuffled}, NOW)
    assert one.hash == other.hash
    assert one.body == other.body


def normal(value):
    """A value in normal form, spelled as plainly as can be."""
    if isinstance(value, dict):
        return {normal(name): normal(item) for name, item in value.items()}
    if isinstance(value, list):
        return [normal(item) for item in value]
    if isinstance(value, str):
        return unicodedata.normalize("NFC", value)
    return 0.0 if type(value) is float and value == 0 else value


PLAIN = st.sampled_from(["note", "value 7", "", "caf\u00e9", "cafe\u0301"]) | st.booleans() | st.integers(-(2**63), 2**63 - 1)
NAMES = st.sampled_from(["note", "tool_name", "cafe\u0301"]) | TEXT


@given(st.dictionaries(NAMES.map(lambda name: "x" + unicodedata.normalize("NFC", name)), PLAIN | VALUES, max_size=5))
def test_any_fields_are_stored_as_the_json_library_writes_their_normal_form(fields):
    grain = make(GrainType.STATE, fields, NOW)
    wanted = {**normal({name: value for name, value in fields.items() if value is not None}), "namespace": "shared", "created_at": NOW}
    assert grain.body == json.dumps(wanted, ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False)
    assert grain.fields == wanted


@given(VALUES)
def test_what_is_stored_and_read_back_has_the_same_address(value):
    grain = make(GrainType.OBSERVATION, {"content": "seen", "context": {"value": value}}, NOW)
    assert stored("observation", grain.body) == grain
    assert json.loads(grain.body) == grain.fields


def test_a_change_of_any_value_changes_the_address():
    base = make(GrainType.LESSON, LESSON, NOW).hash
    others = [
        make(GrainType.LESSON, LESSON, NOW + 1).hash,
        make(GrainType.LESSON, {**LESSON, "severity": "Major"}, NOW).hash,
        make(GrainType.LESSON, {**LESSON, "note": "kept"}, NOW).hash,
        make(GrainType.LESSON, {**LESSON, "namespace": "global"}, NOW).hash,
    ]
    assert len({base, *others}) == 5


def test_equal_numbers_have_one_address_for_times_and_for_negative_zero():
    whole = make(GrainType.STATE, {"valid_to": 5, "weight": 0.0}, NOW)
    assert make(GrainType.STATE, {"valid_to": 5.0, "weight": -0.0}, NOW).hash == whole.hash


def test_unknown_keys_are_kept_and_absent_ones_are_not_stored():
    grain = make(GrainType.STATE, {"colour": {"name": "red"}, "user_id": None}, NOW)
    assert grain.fields == {"colour": {"name": "red"}, "namespace": "shared", "created_at": NOW}


@pytest.mark.parametrize(
    ("type", "fields", "named"),
    [
        (GrainType.STATE, {"a": float("nan")}, "state.a is not a finite number"),
        (GrainType.STATE, {"a": [1, float("inf")]}, "state.a[1] is not a finite number"),
        (GrainType.STATE, {"a": {"b": "x\0y"}}, "state.a.b holds a NUL"),
        (GrainType.STATE, {"a\0": 1}, "holds a NUL"),
        (GrainType.STATE, {"a": "\ud800"}, "state.a holds half of a surrogate pair"),
        (GrainType.STATE, {"a": 2**63}, "state.a does not fit"),
        (GrainType.STATE, {"a": {1: 2}}, "state.a has a key that is not text"),
        (GrainType.STATE, {"\u00e9": 1, "e\u0301": 2}, "two keys that are the same text"),
        (GrainType.STATE, {"a": b"x"}, "state.a is of type bytes"),
        (GrainType.STATE, {"confidence": 1.5}, "state.confidence"),
        (GrainType.STATE, {"created_at": 1.5}, "state.created_at"),
        (GrainType.STATE, {"created_at": True}, "state.created_at"),
        (GrainType.STATE, {"tags": "x"}, "state.tags"),
        (GrainType.STATE, {"temporal_type": "soon"}, "state.temporal_type"),
        (GrainType.STATE, {"verification_status": "maybe"}, "state.verification_status"),
        (GrainType.STATE, {"related_to": [{"weight": 1}]}, "state.related_to"),
        (GrainType.STATE, {"embedding_text": "x" * 8193}, "state.embedding_text"),
        (GrainType.STATE, {"namespace": " "}, "state.namespace"),
        (GrainType.STATE, {"context": []}, "state.context"),
        (GrainType.FACT, {"subject": "a", "relation": "b", "object": " "}, "fact.object"),
        (GrainType.TOOL, {}, "tool.tool_name"),
        (GrainType.TOOL, {"tool_name": "Bash", "is_error": 1}, "tool.is_error"),
        (GrainType.LESSON, {**LESSON, "severity": "Minor"}, "lesson.severity"),
        (GrainType.LESSON, {**LESSON, "method_class": "other"}, "lesson.method_class"),
        (GrainType.LESSON, {**LESSON, "card": None}, "lesson.card"),
        (GrainType.LESSON, {**LESSON, "card": {**LESSON["card"], "verify": " "}}, "lesson.card.verify"),
        (GrainType.LESSON, {**LESSON, "card": {**LESSON["card"], "source_ids": []}}, "lesson.card.source_ids"),
    ],
)
def test_a_grain_that_is_not_in_shape_is_refused_and_the_field_is_named(type, fields, named):
    with pytest.raises(ModelError) as refused:
        make(type, fields, NOW)
    assert refused.value.code == "AFL-MODEL-003"
    assert named in refused.value.sentence


@pytest.mark.parametrize("tells", [1.5, float("nan"), True, "soon", [1]])
def test_a_clock_that_tells_no_time_is_refused(tells):
    with pytest.raises(ModelError, match=r"state\.created_at is not a time in whole milliseconds"):
        make(GrainType.STATE, {}, tells)


def test_a_clock_that_tells_whole_milliseconds_as_a_float_makes_the_same_grain():
    assert make(GrainType.STATE, {}, float(NOW)) == make(GrainType.STATE, {}, NOW)


def test_nesting_without_end_is_refused():
    deep: list[object] = []
    for _ in range(80):
        deep = [deep]
    with pytest.raises(ModelError, match="nested deeper"):
        make(GrainType.STATE, {"a": deep}, NOW)


def test_only_facts_and_lessons_have_heads():
    assert make(GrainType.LESSON, LESSON, NOW).head_key is not None
    assert make(GrainType.TOOL, {"tool_name": "Bash"}, NOW).head_key is None
