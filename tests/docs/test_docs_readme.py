"""The README begins with the repository's two commands, says why before how, and installs what there is to install."""

from __future__ import annotations

import ast
import subprocess
import sys

import pytest


@pytest.fixture
def readme(page):
    return page("README.md")


def test_the_first_block_is_the_two_commands_of_the_development_tool(readme, root):
    assert readme.fences[0].text.splitlines() == ["python3 tools/dev.py demo", "python3 tools/dev.py test"]
    before = [line for line in readme.text.partition("```")[0].splitlines() if line]
    assert len(before) == 1
    assert before[0].startswith("# ")
    known = next(
        node.value
        for node in ast.walk(ast.parse((root / "tools/dev.py").read_text("utf-8")))
        if isinstance(node, ast.Assign) and node.targets[0].id == "commands"
    )
    assert {"demo", "test", "bench"} <= {key.value for key in known.keys}


@pytest.mark.parametrize("command", ["python3 tools/dev.py demo", "python3 tools/dev.py test"])
def test_both_commands_are_named_in_the_help_of_the_development_tool(root, command):
    done = subprocess.run([sys.executable, "tools/dev.py", "--help"], cwd=root, capture_output=True, encoding="utf-8", timeout=60)
    assert done.returncode == 0
    assert command in done.stdout


def test_every_benchmark_that_a_page_names_exists(pages, root, code):
    named = {text.split()[3] for one in pages for text in code(one.text) if text.startswith("python3 tools/dev.py bench ")}
    assert named
    assert all((root / f"benchmarks/{name}.py").is_file() for name in named)


def test_why_comes_before_how(readme):
    titles = [title for level, title in readme.headings if level == 2]
    assert titles.index("Why") < titles.index("Install") < titles.index("Undo") < titles.index("Status")


def test_the_command_that_installs_is_the_one_the_root_asks_for_when_it_refuses(readme, root):
    refused = subprocess.run([sys.executable, "tools/refuse_build.py"], cwd=root, capture_output=True, encoding="utf-8", timeout=60)
    assert refused.returncode != 0
    command = refused.stderr.strip().splitlines()[-1].strip()
    assert command.startswith("pip install ./")
    assert any(command in fence.text.splitlines() for fence in readme.fences)


def test_every_distribution_is_installed_and_there_is_no_other(readme, root):
    folders = {path.parent.name for path in root.glob("*/pyproject.toml")}
    for tool in ("pip install ", "uv tool install "):
        line = next(line for fence in readme.fences for line in fence.text.splitlines() if line.startswith(tool))
        assert {word.removeprefix("./") for word in line.split() if word.startswith("./")} == folders


def test_places_in_the_readme_are_those_of_a_home(readme, code):
    from afl_core.settings.paths import Paths

    paths = Paths("/h")
    told = {code(row.cells["where"])[0] for row in readme.table("where", "what")}
    assert {path.replace("/h", "~") for path in (paths.pack, paths.data, paths.keys)} <= told


def test_every_changelog_fragment_has_a_kind_and_says_something(root, page, code):
    kinds = {"added", "changed", "fixed", "removed"}
    assert kinds <= set(code(page("changelog.d/README.md").text))
    fragments = [path for path in (root / "changelog.d").iterdir() if path.name != "README.md"]
    assert fragments
    for path in fragments:
        _name, kind, suffix = path.name.split(".")
        assert (kind in kinds, suffix) == (True, "md")
        assert path.read_text("utf-8").strip().endswith(".")


def test_the_rooms_in_the_readme_of_core_are_its_folders(root, page, code):
    told = {name for row in page("afl_core/README.md").table("room", "what lives there") for name in code(row.cells["room"])}
    source = root / "afl_core/src/afl_core"
    assert told == {path.name for path in source.iterdir() if (path / "__init__.py").exists()} | {"builtins.py"}


def test_rooms_stand_in_the_order_that_imports_are_held_to(root, page, code):
    import re
    import tomllib

    contract = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]["contracts"][0]
    held = [set(re.findall(r"\w+", layer)) for layer in contract["layers"]]
    told = [
        {name.removesuffix(".py") for name in code(row.cells["room"])}
        for row in page("afl_core/README.md").table("room", "what lives there")
    ]
    place = {room: number for number, layer in enumerate(held) for room in layer}
    rooms = [sorted(place[room] for room in row) for row in told if row != {"hook"}]
    assert rooms == sorted(rooms)


def test_the_card_in_the_readme_is_the_one_of_the_demo(readme):
    import re

    from afl_core.demo.reviewer import answer
    from afl_core.lessons.frame import FIRST_LINE, NONCE, NONCE_DIGITS
    from afl_core.model.card_text import render

    said = {"event_id": "c", "event_uid": "c", "text": "no", "redacted_text": "no"}
    did = {"event_id": "r", "event_uid": "r", "text": "done", "redacted_text": "done"}
    [lesson] = answer(
        {"events": [said, did], "feedback_candidate_event_ids": ["c"], "signals": [{"event_id": "c", "referent_event_id": "r"}]}
    )["lessons"]
    first, head, *lines, last = next(fence.text for fence in readme.fences if fence.language == "text").splitlines()
    drawn, *card = render(lesson["card"], severity=lesson["severity"], lesson_id="any", learnt_ms=0).splitlines()
    assert (first, lines) == (FIRST_LINE, card)
    varying = re.compile(r"[0-9a-f]{8}|\d{4}-\d\d-\d\d")
    assert varying.sub("", head) == varying.sub("", drawn)
    assert re.fullmatch(rf"{NONCE}[0-9a-f]{{{NONCE_DIGITS}}}", last)
