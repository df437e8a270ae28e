"""Python in the documentation runs, shows what it says, and the example plug-in is one that a home finds and uses."""

from __future__ import annotations

import doctest
import json
import re
import sys
import tomllib

import pytest

PAGES_WITH_PYTHON = (
    "afl_redactors/README.md",
    "docs/grains.md",
    "docs/memory.md",
    "docs/memory-encryption.md",
    "docs/memory-import.md",
    "docs/plugins.md",
    "docs/recall.md",
)

USE = """
import json
from afl_core.plugins.discovery import read_entry_points
from afl_core.plugins.isolation import Guard, MemoryLedger
from afl_core.plugins.registry import Registry
from afl_core.redaction.chain import Chain

registry = Registry(read_entry_points())
chain = Chain(registry.redactors(), Guard(MemoryLedger()), lambda secret: "")
text = "ask BADGE-1234, and the password is hunter2-Ab9!"
print(json.dumps({
    "plugins": {one.name: [one.distribution, one.version, list(one.kinds), one.problem] for one in registry.plugins()},
    "order": [redactor.name for _, redactor in registry.redactors()],
    "redacted": chain.redact(text).text,
}))
"""


def python_blocks(page):
    return [fence.text for fence in page.fences if fence.language == "python"]


def test_python_stands_only_in_pages_that_are_run(pages, root):
    assert sorted(str(one.path.relative_to(root)) for one in pages if python_blocks(one)) == sorted(PAGES_WITH_PYTHON)


@pytest.mark.parametrize("path", PAGES_WITH_PYTHON)
def test_python_in_a_page_runs_top_to_bottom_and_shows_what_it_says(page, path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "documented"}
    runner = doctest.DocTestRunner(verbose=False)
    for number, text in enumerate(python_blocks(page(path)), 1):
        if ">>>" in text:
            told = []
            test = doctest.DocTestParser().get_doctest(text, names, f"{path}, block {number}", path, 0)
            runner.run(test, out=told.append, clear_globs=False)
            assert runner.failures == 0, "".join(told)
            names = test.globs
        else:
            exec(compile(text, f"{path}, block {number}", "exec"), names)
    assert names.keys() > {"__name__"}


@pytest.fixture
def example(page, tmp_path):
    """The example plug-in as an installed distribution: its module, and the metadata that its pyproject.toml leads to."""
    plugins = page("docs/plugins.md")
    project = tomllib.loads(next(fence.text for fence in plugins.fences if fence.language == "toml"))
    [(name, module)] = project["project"]["entry-points"]["afl.plugins"].items()
    assert project["tool"]["hatch"]["build"]["targets"]["wheel"]["only-include"] == [f"{module}.py"]
    (tmp_path / f"{module}.py").write_text(python_blocks(plugins)[0], "utf-8")
    metadata = tmp_path / f"{module}-{project['project']['version']}.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {project['project']['name']}\nVersion: {project['project']['version']}\n", "utf-8"
    )
    (metadata / "entry_points.txt").write_text(f"[afl.plugins]\n{name} = {module}\n", "utf-8")
    return tmp_path


def test_the_example_plug_in_is_found_and_redacts_beside_ours(example, child_environment):
    import subprocess

    environment = {**child_environment, "PYTHONPATH": str(example)}
    done = subprocess.run([sys.executable, "-W", "error", "-c", USE], env=environment, capture_output=True, encoding="utf-8", timeout=60)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["plugins"]["badges"] == ["acme-badges", "1.0", ["redactors"], ""]
    assert told["order"] == sorted(told["order"])
    assert "ask [REDACTED:badge]" in told["redacted"]
    assert "hunter2" not in told["redacted"]


def test_the_example_plug_in_keeps_the_contract_that_the_page_tests_it_with(page):
    names = {"__name__": "documented"}
    for text in python_blocks(page("docs/plugins.md")):
        if ">>>" not in text:
            exec(compile(text, "docs/plugins.md", "exec"), names)
    suite = names["TestBadges"]()
    methods = [name for name in dir(suite) if name.startswith("test_")]
    assert len(methods) > 4
    for name in methods:
        getattr(suite, name)()


def test_every_contract_suite_is_named(page, root):
    suites = {path.stem for path in (root / "afl_core/src/afl_core/testing/contracts").glob("[!_]*.py")}
    sentence = " ".join(page("docs/plugins.md").text.split())
    assert suites == {"redactor", "host", "scenarios", "reviewer", "keystore"}
    assert "a suite for redactors, hosts, reviewers and keystores each" in sentence
    assert "`HostScenarios` (`contracts/scenarios.py`)" in sentence


def test_every_scenario_of_the_host_suite_is_in_its_table(page):
    from afl_core.testing.conformance.rules import RULES

    named = [
        name
        for line in page("docs/plugins.md").text.splitlines()
        if line.startswith("| `")
        for name in re.findall(r"`(\w+)`", line.split("|")[1])
    ]
    assert named == list(RULES)


def test_the_pin_in_the_example_is_the_one_our_own_plug_ins_have(page, root):
    project = tomllib.loads(next(fence.text for fence in page("docs/plugins.md").fences if fence.language == "toml"))
    ours = tomllib.loads((root / "afl_redactors/pyproject.toml").read_text("utf-8"))
    assert [one for one in ours["project"]["dependencies"] if one.startswith("afl-core")] == project["project"]["dependencies"]


def test_json_and_toml_in_the_documentation_can_be_read(pages):
    readers = {"json": json.loads, "toml": tomllib.loads}
    read = [readers[fence.language](fence.text) for one in pages for fence in one.fences if fence.language in readers]
    assert read
