"""Every reason code a person can meet is in the reference as the source has it: reviews, reviewers, omissions, the hook's and the front's counts."""

from __future__ import annotations

import ast

import pytest

from afl_core.lessons.explain import REASONS as OMISSIONS
from afl_core.review.reasons import REASONS
from afl_core.worker.gaps import BY_CODE
from afl_core.worker.gaps import KINDS as KINDS_OF_GAPS
from afl_providers_claude.reviewer_failures import TABLE as CLAUDE
from afl_providers_codex.reviewer_failures import TABLE as CODEX
from afl_providers_gemini.reviewer_failures import TABLE as GEMINI

REVIEWERS = {"Claude Code": CLAUDE, "Codex CLI": CODEX, "Gemini CLI": GEMINI}
KINDS = {True: "an attempt", False: "postponed"}


@pytest.fixture
def reasons_page(page):
    return page("docs/reference/reasons.md")


def under(page, heading, *columns):
    return [row.cells for row in page.table(*columns) if row.heading == heading]


def test_every_reason_of_a_review_is_documented_in_order_as_the_table_in_the_source_has_it(reasons_page, code):
    rows = under(reasons_page, "Why a review did not complete", "reason", "counted", "what happened", "what to do")
    told = [(code(row["reason"])[0], row["counted"], row["what happened"], row["what to do"]) for row in rows]
    assert told == [(one.code, KINDS[one.counts], one.sentence, one.next_step) for one in REASONS.values()]


@pytest.mark.parametrize("label", REVIEWERS)
def test_every_failure_of_a_reviewer_is_documented_in_order(reasons_page, code, label):
    rows = under(reasons_page, f"What the {label} reviewer tells", "reason", "counted", "what happened", "advice")
    told = [(code(row["reason"])[0], row["counted"], row["what happened"], row["advice"]) for row in rows]
    assert told == [(one.code, KINDS[one.counts], one.meaning, one.advice or "-") for one in REVIEWERS[label]]


@pytest.mark.parametrize("label", REVIEWERS)
def test_a_reason_of_a_reviewer_is_one_that_reviews_know_and_count_alike(label):
    table = REVIEWERS[label]
    assert {one.code: one.counts for one in table} == {one.code: REASONS[one.code].counts for one in table if one.code in REASONS}


def test_every_reason_for_leaving_a_lesson_out_is_documented_in_order(reasons_page, code):
    rows = under(reasons_page, "Why a lesson was left out", "reason", "meaning")
    assert [(code(row["reason"])[0], row["meaning"]) for row in rows] == list(OMISSIONS.items())


def test_every_kind_of_gap_is_documented_in_order_as_the_table_in_the_source_has_it(reasons_page, code):
    rows = under(reasons_page, "What a pass could not read", "kind", "meaning")
    assert [(code(row["kind"])[0], row["meaning"]) for row in rows] == list(KINDS_OF_GAPS.items())


def test_every_kind_of_gap_that_is_told_anywhere_has_its_sentence(sources):
    assert told_gaps(sources) | set(BY_CODE.values()) == set(KINDS_OF_GAPS)


def test_every_count_of_the_hook_is_documented_and_no_other(reasons_page, sources, code):
    rows = under(reasons_page, "What the hook counts", "count", "meaning")
    assert {code(row["count"])[0] for row in rows} == counted_by_the_hook(sources)


def test_every_count_of_the_front_is_documented_and_no_other(reasons_page, sources, code):
    rows = under(reasons_page, "What the front counts", "count", "meaning")
    assert {code(row["count"])[0] for row in rows} == counted_by_the_front(sources)


def texts(node):
    """The texts an expression can be."""
    return {each.value for each in ast.walk(node) if isinstance(each, ast.Constant) and isinstance(each.value, str) and each.value}


def calls(tree, name):
    return [node for node in ast.walk(tree) if isinstance(node, ast.Call) and ast.unparse(node.func).endswith(name)]


def counted_by_the_hook(sources):
    found = set()
    for module in sources:
        if not module.name.startswith("afl_core/hook/"):
            continue
        for node in calls(module.tree, "_count"):
            found |= {text for argument in node.args if not isinstance(argument, ast.Subscript) for text in texts(argument)}
        for node in calls(module.tree, "DeclinedError"):
            found |= texts(node.args[0])
        for function in ast.walk(module.tree):
            if isinstance(function, ast.FunctionDef) and function.name == "spool":
                found |= {text for node in ast.walk(function) if isinstance(node, ast.Return) and node.value for text in texts(node.value)}
    return found


def counted_by_the_front(sources):
    found = set()
    for module in sources:
        if not module.name.startswith("afl_core/worker/"):
            continue
        for node in calls(module.tree, "intake.count"):
            found |= texts(node.args[1])
        for function in ast.walk(module.tree):
            if isinstance(function, ast.FunctionDef) and function.name == "understand":
                found |= {
                    node.value.value for node in ast.walk(function) if isinstance(node, ast.Return) and isinstance(node.value, ast.Constant)
                }
    return found


def told_gaps(sources):
    """The kinds that the source itself writes down: faults of a directory entry, records, directories."""
    found = set()
    for module in sources:
        for node in ast.walk(module.tree):
            if module.name == "afl_core/capture/walk.py" and isinstance(node, ast.Assign) and "fault" in ast.unparse(node.targets[0]):
                found |= texts(node.value.elts[-1] if isinstance(node.value, ast.Tuple) else node.value)
            if module.name == "afl_core/capture/read.py" and isinstance(node, ast.Dict):
                found |= {
                    text
                    for key, value in zip(node.keys, node.values, strict=True)
                    if key and texts(key) == {"kind"}
                    for text in texts(value)
                }
        if module.name == "afl_core/worker/discovery.py":
            found |= {text for node in calls(module.tree, "found.gap") for text in texts(node.args[1])}
    return found
