"""What has to be equal in several files is equal in all of them."""

from __future__ import annotations

import ast
import json
import re
import tomllib

import pytest

NAMES = ("afl_core", "afl_redactors", "afl_providers_claude", "afl_providers_codex", "afl_providers_gemini")


def workspace(root):
    return tomllib.loads((root / "pyproject.toml").read_text("utf-8"))


def test_a_sibling_accepts_exactly_the_minor_series_of_the_core_beside_it(projects):
    major, minor, _patch = projects["afl_core"]["project"]["version"].split(".")
    pin = f"afl-core>={major}.{minor},<{major}.{int(minor) + 1}"
    for name in set(NAMES) - {"afl_core"}:
        ours = [requirement for requirement in projects[name]["project"]["dependencies"] if requirement.startswith("afl-")]
        assert ours == [pin]


def test_the_core_depends_on_no_sibling(projects):
    assert not [requirement for requirement in projects["afl_core"]["project"]["dependencies"] if requirement.startswith("afl")]


def test_all_distributions_carry_one_version(projects):
    assert len({project["project"]["version"] for project in projects.values()}) == 1


def test_the_core_says_the_version_of_its_pyproject(projects, root):
    source = ast.parse((root / "afl_core/src/afl_core/__init__.py").read_text("utf-8"))
    (said,) = (
        node.value.value for node in source.body if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__version__"
    )
    assert said == projects["afl_core"]["project"]["version"]


@pytest.mark.parametrize("name", NAMES)
def test_every_licence_file_is_the_same(root, name):
    assert (root / name / "LICENSE").read_bytes() == (root / "LICENSE").read_bytes()


def test_every_project_folder_is_a_workspace_member_a_development_requirement_and_checked(root):
    folders = {path.parent.name for path in root.glob("afl_*/pyproject.toml")}
    settings = workspace(root)["tool"]
    assert folders == set(NAMES)
    assert set(settings["uv"]["workspace"]["members"]) == folders
    assert {name.replace("-", "_") for name in settings["uv"]["sources"]} == folders
    assert set(re.findall(r"^-e \./(\w+)$", (root / "requirements/dev.txt").read_text("utf-8"), re.MULTILINE)) == folders
    assert set(settings["mypy"]["files"]) == {f"{folder}/src" for folder in folders}
    assert set(settings["importlinter"]["root_packages"]) == folders


def test_no_lock_file_and_no_requirement_names_an_index(root):
    assert not (root / "uv.lock").exists() or "uv.lock" in (root / ".gitignore").read_text("utf-8").split()
    for path in root.glob("requirements/*"):
        assert not re.search(r"https?://|--(extra-)?index-url|--find-links", path.read_text("utf-8")), path


def test_every_pinned_host_says_its_package_version_and_command(root):
    pins = json.loads((root / "requirements/hosts.json").read_text("utf-8"))
    assert set(pins) >= {"claude"}
    for pin in pins.values():
        assert re.fullmatch(r"\d+\.\d+\.\d+", pin["version"])
        assert pin["package"]
        assert pin["command"]
