"""The install line of the README, run in a fresh environment, gives a working product."""

from __future__ import annotations

import json
import sys

import pytest

ENTRY_POINTS = """
import importlib.metadata, json
print(json.dumps({point.name: point.load().__name__ for point in importlib.metadata.entry_points(group="afl.plugins")}))
"""


@pytest.mark.parametrize("command", ["afl", "agent-feedback-loop"])
def test_the_command_answers_after_the_install_line(installed, run, tmp_path, command):
    shown = run(installed.with_name(command), "--help", cwd=tmp_path).stdout
    assert "Usage:" in shown


def test_the_packages_are_those_that_were_installed_not_the_checkout(installed, run, root, tmp_path):
    names = ("afl_core", "afl_redactors", "afl_providers_claude", "afl_providers_codex", "afl_providers_gemini")
    paths = run(installed, "-c", f"import {', '.join(names)}\nfor name in ({', '.join(names)}): print(name.__file__)", cwd=tmp_path).stdout
    assert len(paths.split()) == len(names)
    assert all(path.startswith(str(installed.parents[1])) for path in paths.split())
    assert str(root) not in paths


def test_every_dependency_is_satisfied(installed, run):
    assert "No broken requirements found" in run(sys.executable, "-m", "pip", "--python", installed, "check").stdout


def test_every_plug_in_of_ours_can_be_loaded_from_its_entry_point(installed, run, tmp_path):
    loaded = json.loads(run(installed, "-W", "error", "-c", ENTRY_POINTS, cwd=tmp_path).stdout)
    assert loaded == {
        "core": "afl_core.builtins",
        "redactors": "afl_redactors.plugin",
        "claude": "afl_providers_claude.plugin",
        "codex": "afl_providers_codex.plugin",
        "gemini": "afl_providers_gemini.plugin",
    }
