"""What makes a lesson fit a prompt, and that what is unknown never excludes."""

from __future__ import annotations

import json

import pytest

from afl_core.lessons.relevance import Recent, match, rule, task

EMPTY = {"paths": [], "tools": [], "task_types": [], "signals": [], "words": [], "grams": []}


def fits(prompt, cwd="/repo", seen=None, **wanted):
    return match(rule(json.dumps({**EMPTY, **wanted})), task(prompt, cwd, seen))


@pytest.mark.parametrize(
    ("prompt", "path"),
    [
        ("fix src/api/routes.py", "src/api"),
        ("fix src/api/routes.py", "src/api/routes.py"),
        ("fix `./src/api/routes.py`.", "src/api"),
        ("fix /repo/src/api/routes.py, please", "src/api"),
        ("fix /repo/src/api/routes.py", "/repo/src"),
        ("look at api/routes.py", "src/api/routes.py"),
        ("look at routes.py", "src/api/routes.py"),
        ("look at C:\\repo\\src\\api\\routes.py", "src/api"),
        ("看 src/api/routes.py 的错误", "src/api/**"),
        ("why (src/api/) again?", "src/api/"),
    ],
)
def test_a_named_path_at_or_below_the_lessons_path_fits(prompt, path):
    assert fits(prompt, paths=[path]) == {"paths": [path]}


def test_the_working_directory_and_recent_tool_calls_are_hints_that_fit():
    assert fits("go on", cwd="/repo/src/api", paths=["src/api"]) == {"paths": ["src/api"]}
    assert fits("go on", seen=Recent(paths=("/repo/src/api/x.py",)), paths=["src/api"]) == {"paths": ["src/api"]}


@pytest.mark.parametrize("prompt", ["fix docs/index.md", "fix /repo/docs/index", "edit ./docs/a"])
def test_a_prompt_that_names_a_place_elsewhere_excludes(prompt):
    assert fits(prompt, paths=["src/api"]) is None


@pytest.mark.parametrize(
    "prompt",
    [
        "go on",
        "and/or add/remove",
        "/compact",
        "read other.py",
        "see https://example.org/docs/index.md",
        "version 1.2/3",
        "~/notes/x.md",
        "",
    ],
)
def test_a_prompt_that_leaves_the_place_open_does_not_exclude(prompt):
    assert fits(prompt, paths=["src/api"]) == {}


def test_a_neighbour_with_the_same_beginning_is_another_place():
    assert fits("fix src/apiary/x.py", paths=["src/api"]) is None


def test_a_tool_fits_when_it_was_used_lately_or_is_named_as_written():
    assert fits("go on", seen=Recent(tools=frozenset({"bash"})), tools=["Bash"]) == {"tools": ["Bash"]}
    assert fits("use Bash(git push) for it", tools=["Bash(git push:*)"]) == {"tools": ["Bash(git push:*)"]}
    assert fits("use mcp__db__query", tools=["mcp__db__query"]) == {"tools": ["mcp__db__query"]}
    assert fits("read the file and bash it", tools=["Read", "Bash"]) == {}
    assert fits("use WebSearch", tools=["Web"]) == {}


def test_a_signal_needs_two_words_or_a_cjk_run():
    assert fits("please run the  Database Migration", signals=["database migration"]) == {"signals": ["database migration"]}
    assert fits("deploy now", signals=["deploy now"]) == {"signals": ["deploy now"]}
    assert fits("is it so", signals=["is it"]) == {}
    assert fits("deploy it", signals=["deploy"]) == {}
    assert fits("deploy the release", signals=["deploy", "release"]) == {"signals": ["deploy", "release"]}
    assert fits("redeploy migrations", signals=["deploy", "migration"]) == {}
    assert fits("部署到生产", signals=["生产"]) == {"signals": ["生产"]}
    assert fits("部署到生产", signals=["产"]) == {}
    assert fits("the database of migration", signals=["database migration"]) == {}


def test_a_signal_word_and_a_word_of_the_card_count_together():
    assert fits("deploy to production", signals=["deploy"], words=["production"]) == {"signals": ["deploy"], "words": ["production"]}


def test_two_words_or_one_gram_shared_with_when_fit():
    assert fits("Claiming the migrations are finished", words=["claiming", "migration", "finished"]) == {
        "words": ["claiming", "migration", "finished"]
    }
    assert fits("a migration", words=["claiming", "migration"]) == {}
    assert fits("你声明完成时要小心", grams=["声明完成", "明完成时"]) == {"grams": ["声明完成", "明完成时"]}
    assert fits("声明 完成", grams=["声明完成"]) == {}


def test_task_types_are_unknown_and_neither_fit_nor_exclude():
    assert fits("review", task_types=["code-review"]) == {}


def test_a_rule_with_the_wrong_types_matches_nothing_and_raises_nothing():
    odd = [{"paths": "src", "tools": [1, None], "signals": {"a": 1}}, [], None, "src"]
    assert [match(rule(json.dumps(one)), task("src/x.py src", "/")) for one in odd] == [{}, {}, {}, {}]


def test_the_reason_holds_only_the_lessons_own_values():
    why = fits("my secret is in src/api/secret.txt, deploy to production", paths=["src/api"], signals=["deploy"], words=["production"])
    assert why == {"paths": ["src/api"], "signals": ["deploy"], "words": ["production"]}


def test_tools_and_paths_of_the_last_twenty_calls_are_found(db, happened):
    from afl_core.lessons.relevance import recent

    happened("old", "assistant", "tool_call", tool_name="Ancient", text="{}")
    for number in range(20):
        happened(f"c{number}", "assistant", "tool_call", tool_name="Edit", text=f'{{"file_path":"/repo/src/f{number}.py"}}')
        happened(f"r{number}", "assistant", "tool_result", text="/not/this/one.py")
    happened("other", "assistant", "tool_call", tool_name="Foreign", text="", session_id="claude:t")
    seen = recent(db, "claude:s")
    assert seen.tools == {"edit"}
    assert "/repo/src/f19.py" in seen.paths
    assert "/not/this/one.py" not in seen.paths
