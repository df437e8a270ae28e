"""The shape of a receipt: accepted in full or refused with the path of what is wrong."""

from __future__ import annotations

import copy

import hypothesis
import hypothesis.strategies as st
import jsonschema
import pytest
import review_world

from afl_core.lessons.families import family_id
from afl_core.model.errors import ReviewError
from afl_core.model.lesson import Severity
from afl_core.review.commit import incident_fingerprint
from afl_core.review.prompt import schema
from afl_core.review.receipt import parse_receipt
from afl_core.review.substance import is_substantive


def refused(value) -> str:
    with pytest.raises(ReviewError) as caught:
        parse_receipt(value)
    assert caught.value.reason == "receipt_shape"
    return caught.value.sentence


def with_lesson(world, **changes):
    return world.receipt(world.lesson(**changes))


def without(value, *path):
    changed = copy.deepcopy(value)
    inner = changed
    for step in path[:-1]:
        inner = inner[step]
    del inner[path[-1]]
    return changed


def put(value, new, *path):
    changed = copy.deepcopy(value)
    inner = changed
    for step in path[:-1]:
        inner = inner[step]
    inner[path[-1]] = new
    return changed


def test_a_whole_receipt_becomes_nouns(world):
    receipt = parse_receipt(world.receipt(world.lesson(**world.severe("Blocker"))))
    (lesson,) = receipt.lessons
    assert lesson.severity is Severity.BLOCKER
    assert lesson.evidence_refs[0].referent_quote == "all tests pass"
    assert lesson.card.must_do == "run the tests and read their output first"
    assert lesson.effectiveness is None


def test_every_accepted_receipt_of_these_tests_fits_the_schema_that_reviewers_get(world):
    for made in (
        world.receipt(),
        with_lesson(world),
        world.receipt(world.lesson(**world.severe("Critical", effectiveness=world.effectiveness("x")))),
    ):
        assert parse_receipt(made).status == made["status"]
        assert jsonschema.Draft202012Validator(schema()).is_valid(made)


def test_the_schema_keeps_to_what_structured_output_services_accept():
    allowed = {"type", "enum", "properties", "items", "anyOf", "required", "additionalProperties", "description", "minItems"}

    def walk(node):
        assert set(node) <= allowed
        assert node.get("minItems", 1) == 1
        if node.get("type") == "object":
            assert node["additionalProperties"] is False
            assert node["required"] == list(node["properties"])
        for inner in (*node.get("properties", {}).values(), *node.get("anyOf", ()), *([node["items"]] if "items" in node else [])):
            walk(inner)

    walk(schema())
    names = schema()["properties"]["lessons"]["items"]["properties"]
    assert "project_id" not in names
    assert "referent_quote" in names["evidence_refs"]["items"]["properties"]


@pytest.mark.parametrize(
    ("path", "sentence"),
    [
        (("write_complete",), "write_complete: must be true"),
        (("review_receipt_id",), "review_receipt_id: missing"),
        (("report_content",), "report_content: missing"),
        (("status",), "status: missing"),
        (("lessons",), "lessons: missing"),
        (("lessons", 0, "card"), "lessons[0].card: missing"),
        (("lessons", 0, "card", "when"), "lessons[0].card.when: missing"),
        (("lessons", 0, "card", "must_do"), "lessons[0].card.must_do: missing"),
        (("lessons", 0, "card", "verify"), "lessons[0].card.verify: missing"),
        (("lessons", 0, "lesson_id"), "lessons[0].lesson_id: missing"),
        (("lessons", 0, "class_id"), "lessons[0].class_id: missing"),
        (("lessons", 0, "generalizable"), "lessons[0].generalizable: missing"),
        (("lessons", 0, "base_revision"), "lessons[0].base_revision: missing"),
        (("lessons", 0, "evidence_refs"), "lessons[0].evidence_refs: must have at least 1 item, has 0"),
        (("lessons", 0, "evidence_refs", 0, "feedback_quote"), "lessons[0].evidence_refs[0].feedback_quote: missing"),
        (("lessons", 0, "causal_chain"), "lessons[0].causal_chain: must have at least 5 items, has 0"),
    ],
)
def test_what_is_missing_is_named_by_its_path(world, path, sentence):
    assert refused(without(with_lesson(world), *path)) == sentence


@pytest.mark.parametrize(
    ("path", "new", "sentence"),
    [
        (("status",), "done", "status: must be one of reviewed, reviewed_no_lesson"),
        (("extra",), 1, "extra: unknown"),
        (("lessons",), {}, "lessons: must be a list, not an object"),
        (("lessons", 0), "x", "lessons[0]: must be an object, not a text"),
        (("lessons", 0, "extra"), 1, "lessons[0].extra: unknown"),
        (("lessons", 0, "card", "note"), "x", "lessons[0].card.note: unknown"),
        (("lessons", 0, "severity"), "Minor", "lessons[0].severity: Minor is not a lesson; report it in minor_findings"),
        (("lessons", 0, "responsibility"), "user_misunderstanding", "lessons[0].responsibility: must be one of agent_fault"),
        (("lessons", 0, "confidence"), "low", "lessons[0].confidence: must be one of medium, high"),
        (("lessons", 0, "generalizable"), "yes", "lessons[0].generalizable: must be true or false"),
        (("lessons", 0, "base_revision"), True, "lessons[0].base_revision: must be a whole number"),
        (("lessons", 0, "base_revision"), -1, "lessons[0].base_revision: must be at least 0"),
        (("lessons", 0, "scope", "paths"), "src", "lessons[0].scope.paths: must be a list, not a text"),
        (("lessons", 0, "scope", "tools"), [7], "lessons[0].scope.tools[0]: must be a text, not a number"),
        (("lessons", 0, "scope", "signals"), ["x"] * 33, "lessons[0].scope.signals: must have at most 32 items, has 33"),
        (("lessons", 0, "card", "why"), "  ", "lessons[0].card.why: empty"),
        (("lessons", 0, "card", "why"), "x" * 601, "lessons[0].card.why: must have at most 600 characters, has 601"),
        (("lessons", 0, "card", "why"), "a\ud800", "lessons[0].card.why: holds characters that are no text"),
        (("lessons", 0, "card", "source_ids"), [], "lessons[0].card.source_ids: must have at least 1 item, has 0"),
        (("lessons", 0, "causal_chain", 2), "x" * 501, "lessons[0].causal_chain[2]: must have at most 500 characters, has 501"),
        (
            ("lessons", 0, "evidence_refs", 0, "referent_event_ids"),
            [],
            "lessons[0].evidence_refs[0].referent_event_ids: must have at least 1 item, has 0",
        ),
        (("minor_findings",), [{}], "minor_findings[0].class_id: missing"),
        (("report_content",), "x" * 40_000, "report_content: must have at most 32768 characters, has 40000"),
        (("report_content",), "证" * 20_000, "report_content: must have at most 32768 bytes, has 60000"),
    ],
)
def test_what_is_wrong_is_named_by_its_path(world, path, new, sentence):
    assert refused(put(with_lesson(world), new, *path)) == sentence


def test_a_receipt_that_is_no_object_is_refused():
    assert refused([]) == "receipt: must be an object, not a list"


def test_status_and_lessons_cannot_contradict_each_other(world):
    assert refused(world.receipt(world.lesson(), status="reviewed_no_lesson")).startswith("status: is reviewed_no_lesson")
    assert refused(world.receipt(status="reviewed")).startswith("status: is reviewed,")


def test_a_critical_lesson_needs_its_decisions_and_a_blocker_its_limits(world):
    critical = with_lesson(world, severity="Critical")
    assert refused(critical) == "lessons[0].decision_timeline: Critical needs at least 2 decisions"
    critical = put(critical, ["a", "b"], "lessons", 0, "decision_timeline")
    assert refused(critical) == "lessons[0].counterfactual_checkpoint: Critical needs this"
    parse_receipt(put(critical, "then", "lessons", 0, "counterfactual_checkpoint"))
    blocker = with_lesson(world, **world.severe("Blocker"))
    for name in ("impact_scope", "stop_condition", "rollback_or_isolation"):
        assert refused(put(blocker, None, "lessons", 0, name)) == f"lessons[0].{name}: Blocker needs this"
    assert "Blocker needs this list" in refused(without(blocker, "lessons", 0, "global_promotion_evidence"))


def test_nine_lessons_are_too_many(world):
    lessons = [world.lesson(lesson_id=f"l{n}", class_id=f"c{n}") for n in range(9)]
    assert refused(world.receipt(*lessons)) == "lessons: must have at most 8 items, has 9"
    parse_receipt(world.receipt(*lessons[:8]))


def test_two_lessons_of_one_family_or_one_id_are_refused(world):
    assert "same family" in refused(world.receipt(world.lesson(), world.lesson(lesson_id="other")))
    assert refused(world.receipt(world.lesson(), world.lesson(class_id="other"))) == "lessons[1].lesson_id: is used twice"


def test_one_fault_in_several_spellings_is_one_family(world):
    spelt = parse_receipt(with_lesson(world, class_id=" Claim without_evidence ")).lessons[0]
    assert spelt.class_id == "claim-without-evidence"
    assert family_id(spelt.method_class, spelt.class_id) == "4dd84d517da57aedf99a588e541b3584b462fb4f3317a41adc45d51d927cd43b"


def test_the_fingerprint_of_an_incident_is_the_known_one():
    known = "df75f1becfcd3e240af7014d2a34f3eda0a2f90cfa381cefbbb28234afb9d044"
    assert incident_fingerprint("/p", ("f1", "a1")) == incident_fingerprint("/p", ("a1", "f1", "a1")) == known


def test_a_card_that_could_never_be_given_is_refused(world):
    card = world.lesson()["card"] | dict.fromkeys(("when", "must_do", "must_not", "verify", "why"), "必须先运行测试再下结论" * 50)
    assert "tokens, at most 1600" in refused(with_lesson(world, card=card))


def test_the_old_words_for_delivery_states_are_understood(world):
    for old, new in (("observed", "reached"), ("emitted_unconfirmed", "unconfirmed")):
        made = with_lesson(world, effectiveness=world.effectiveness("x", delivery_state=old))
        assert parse_receipt(made).lessons[0].effectiveness.delivery_state == new


@pytest.mark.parametrize(
    "report",
    [
        "",
        "done",
        "ok ok ok ok ok ok ok ok ok ok ok ok ok ok",
        "<!-- a long comment that says a lot of things about the work -->",
        "```\n\n```\n[REVIEW COMPLETE]\nreview_complete: true\nDone.",
        "一二三四五六七八九十",
        "word word word word word word word word",
    ],
)
def test_a_report_that_says_nothing_is_refused(world, report):
    assert not is_substantive(report)
    assert refused(world.receipt(report_content=report or " ")).startswith("report_content: ")


@pytest.mark.parametrize(
    "report", ["The agent never ran the tests.", "助手没有运行测试就声称完成了", "```\nThe agent never ran the tests it named.\n```"]
)
def test_a_report_of_one_sentence_is_enough(report):
    assert is_substantive(report)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)


@hypothesis.given(data=st.data())
def test_whatever_is_put_anywhere_the_answer_is_a_receipt_or_a_named_refusal(data):
    world = review_world
    value = world.receipt(world.lesson(**world.severe("Blocker", effectiveness=world.effectiveness("x"))))
    inner, path = value, []
    while isinstance(inner, dict | list) and inner and (not path or data.draw(st.booleans())):
        step = data.draw(st.sampled_from(sorted(inner) if isinstance(inner, dict) else list(range(len(inner)))))
        path.append(step)
        inner = inner[step]
    changed = put(value, data.draw(JSON), *path)
    refusal = None
    try:
        parse_receipt(changed)
    except ReviewError as bad:
        refusal = bad
    if refusal is not None:
        assert refusal.reason == "receipt_shape"
        assert ": " in refusal.sentence
