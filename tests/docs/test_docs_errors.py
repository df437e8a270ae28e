"""Every error code in the source is in the reference with each of its sentences and next steps, and none that is not there."""

from __future__ import annotations

import ast
import re

import pytest

CODE = re.compile(r"AFL-[A-Z]+-\d{3}")


@pytest.fixture
def documented(page, code):
    return {code(row.cells["code"])[0]: row.cells for row in page("docs/reference/errors.md").table("code", "what it says", "what to do")}


def in_source(sources):
    """Every code that stands as a whole text in the source."""
    return {
        node.value if CODE.fullmatch(node.value) else CODE.search(node.value)[0]
        for module in sources
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and (CODE.fullmatch(node.value) or node.value.startswith("afl: AFL-"))
    }


def classes(sources):
    """Error class -> its own code."""
    return {
        node.name: line.value.value
        for module in sources
        for node in ast.walk(module.tree)
        if isinstance(node, ast.ClassDef)
        for line in node.body
        if isinstance(line, ast.Assign) and line.targets[0].id == "code" and isinstance(line.value, ast.Constant)
    }


def constants(sources):
    """Name of a module's constant -> the code it stands for."""
    return {
        node.targets[0].id: node.value.value
        for module in sources
        for node in module.tree.body
        if isinstance(node, ast.Assign)
        and isinstance(node.value, ast.Constant)
        and CODE.fullmatch(str(node.value.value))
        and isinstance(node.targets[0], ast.Name)
    }


def raised(sources, pattern):
    """(code, sentence, hint) of every error that is made with its own words; '' for a hint made elsewhere or not there."""
    own, named = classes(sources), constants(sources)
    for module in sources:
        words = assigned(module.tree)
        for node in ast.walk(module.tree):
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name) or node.func.id not in own or not node.args:
                continue
            keywords = {keyword.arg: keyword.value for keyword in node.keywords}
            given = keywords.get("code")
            code = (
                own[node.func.id]
                if given is None
                else given.value
                if isinstance(given, ast.Constant)
                else named.get(getattr(given, "id", ""))
            )
            sentence = words.get(id(node), {}).get(node.args[0].id, node.args[0]) if isinstance(node.args[0], ast.Name) else node.args[0]
            for text in pattern(sentence):
                for hint in pattern(keywords["hint"]) or [""] if "hint" in keywords else [""]:
                    yield code, text, hint


def assigned(tree):
    """For each call in a function: the names the function gives a value to just once, and that value."""
    found = {}
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef):
            inside = list(ast.walk(function))
            given = [
                (node.targets[0].id, node.value)
                for node in inside
                if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
            ]
            once = {name: value for name, value in given if [other for other, _ in given].count(name) == 1}
            found |= {id(node): once for node in inside if isinstance(node, ast.Call)}
    return found


def test_every_code_in_the_source_is_documented_and_no_other(sources, documented):
    assert in_source(sources) == documented.keys()


def test_every_sentence_of_an_error_stands_beside_its_code(sources, documented, pattern):
    missing = [
        (code, sentence)
        for code, sentence, _ in raised(sources, pattern)
        if code and sentence.strip("… :") and sentence not in documented.get(code, {}).get("what it says", "")
    ]
    assert missing == []


def test_every_next_step_of_an_error_stands_beside_its_code(sources, documented, pattern):
    missing = [
        (code, hint)
        for code, _, hint in raised(sources, pattern)
        if code and hint.strip("… :") and hint not in documented.get(code, {}).get("what to do", "")
    ]
    assert missing == []


def test_no_documented_sentence_is_one_that_nobody_says_any_more(sources, documented, pattern):
    said = {}
    for code, sentence, _ in raised(sources, pattern):
        said.setdefault(code, set()).add(sentence)
    quoted = {
        code: {part.strip() for part in cells["what it says"].split("<br>") if not part.strip().startswith("_")}
        for code, cells in documented.items()
    }
    assert {code: left for code, parts in quoted.items() if (left := parts - said.get(code, set()))} == {}


def test_codes_stand_in_order_under_the_heading_of_their_family(page, code):
    rows = page("docs/reference/errors.md").table("code", "what it says", "what to do")
    codes = [code(row.cells["code"])[0] for row in rows]
    assert len(codes) == len(set(codes))
    assert [row.heading for row in rows] == [f"`{one.rpartition('-')[0]}`" for one in codes]
    for family in {one.rpartition("-")[0] for one in codes}:
        numbers = [one for one in codes if one.startswith(f"{family}-")]
        assert numbers == sorted(numbers)


def test_the_example_in_the_reference_is_what_the_command_says(page, run_console):
    assert run_console(page("docs/reference/errors.md")) == 1
