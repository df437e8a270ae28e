"""A distribution that somebody else wrote and installed beside ours is found, loaded and called; a broken one is named and harms nobody."""

from __future__ import annotations

import json
import sys

import pytest

PYPROJECT = """
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[project]
name = "{name}"
version = "3.2.1"
dependencies = ["afl-core>=0.1,<0.2"]

[project.entry-points."afl.plugins"]
{entry} = "{module}"

[tool.hatch.build.targets.wheel]
only-include = ["{module}.py"]
"""

WORKING = """
import re

from afl_core.spec.marker import hookimpl
from afl_core.spec.redactor import Finding, Redaction

AFL_API_VERSION = 1


class Badge:
    name = "badge"
    version = "1"

    def redact(self, text):
        found = [Finding("badge", *match.span()) for match in re.finditer("BADGE-[0-9]+", text)]
        return Redaction(re.sub("BADGE-[0-9]+", "[REDACTED:badge]", text), tuple(found))


@hookimpl
def afl_redactors():
    return [Badge()]
"""

BROKEN = "raise RuntimeError('the sky fell')\n"
FROM_THE_FUTURE = "AFL_API_VERSION = 99\n"

LIST = """
import json
from afl_core.plugins.discovery import discover
from afl_core.plugins.registry import Registry

registry = Registry(discover(None))
print(json.dumps({
    "plugins": {one.name: [one.distribution, one.version, list(one.kinds), one.problem] for one in registry.plugins()},
    "redactors": {plugin: redactor.redact("ask BADGE-77 for it").text for plugin, redactor in registry.redactors() if plugin == "badges"},
}))
"""


@pytest.fixture(scope="module")
def listed(installed, run, tmp_path_factory):
    """What the product says after three foreign plug-ins were installed: a working one, a broken one and one that is too new."""
    folders = []
    for entry, source in {"badges": WORKING, "broken": BROKEN, "future": FROM_THE_FUTURE}.items():
        folder = tmp_path_factory.mktemp(entry)
        module = f"acme_{entry}"
        (folder / "pyproject.toml").write_text(PYPROJECT.format(name=f"acme-{entry}", entry=entry, module=module), "utf-8")
        (folder / f"{module}.py").write_text(source, "utf-8")
        folders.append(folder)
    run(sys.executable, "-m", "pip", "--python", installed, "install", "--quiet", "--no-build-isolation", *folders)
    return json.loads(run(installed, "-W", "error", "-c", LIST, cwd=folders[0].parent).stdout)


def test_a_third_party_redactor_is_discovered_with_its_distribution_and_version(listed):
    assert listed["plugins"]["badges"] == ["acme-badges", "3.2.1", ["redactors"], ""]


def test_a_third_party_redactor_redacts(listed):
    assert listed["redactors"] == {"badges": "ask [REDACTED:badge] for it"}


def test_a_plug_in_that_cannot_be_imported_is_named_with_its_reason(listed):
    distribution, _version, kinds, problem = listed["plugins"]["broken"]
    assert (distribution, kinds) == ("acme-broken", [])
    assert "the sky fell" in problem


def test_a_plug_in_for_a_newer_contract_is_refused_with_both_versions_named(listed):
    problem = listed["plugins"]["future"][3]
    assert "99" in problem
    assert "has 1" in problem


def test_our_own_plug_ins_are_found_beside_the_broken_ones(listed):
    assert {name: listed["plugins"][name][0] for name in ("core", "redactors", "claude", "codex", "gemini")} == {
        "core": "afl-core",
        "redactors": "afl-redactors",
        "claude": "afl-providers-claude",
        "codex": "afl-providers-codex",
        "gemini": "afl-providers-gemini",
    }
