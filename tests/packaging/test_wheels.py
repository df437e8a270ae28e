"""Each distribution builds to a wheel that holds all of its package and nothing else."""

from __future__ import annotations

import configparser
import email
import sys
import zipfile

import pytest

NAMES = ("afl_core", "afl_redactors", "afl_providers_claude", "afl_providers_codex", "afl_providers_gemini")


@pytest.fixture(scope="module")
def wheels(tmp_path_factory, run, root):
    folder = tmp_path_factory.mktemp("wheels")
    folders = [f"./{name}" for name in NAMES]
    run(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-build-isolation", "--no-deps", "--wheel-dir", folder, *folders, cwd=root)
    return {name: zipfile.ZipFile(next(folder.glob(f"{name}-*.whl"))) for name in NAMES}


def inside(wheel, ending):
    (name,) = (name for name in wheel.namelist() if name.endswith(ending) and ".dist-info/" in name)
    return wheel.read(name).decode("utf-8")


@pytest.mark.parametrize("name", NAMES)
def test_a_wheel_holds_every_file_of_the_package_and_no_other(wheels, root, name):
    source = root / name / "src"
    ours = {str(path.relative_to(source)) for path in (source / name).rglob("*") if path.is_file() and path.suffix != ".pyc"}
    assert f"{name}/py.typed" in ours
    assert {entry for entry in wheels[name].namelist() if ".dist-info/" not in entry} == ours


@pytest.mark.parametrize("name", NAMES)
def test_a_wheel_carries_the_licence_and_the_entry_points_of_its_pyproject(wheels, root, projects, name):
    assert inside(wheels[name], "/licenses/LICENSE") == (root / "LICENSE").read_text("utf-8")
    entry_points = configparser.ConfigParser()
    entry_points.read_string(inside(wheels[name], "/entry_points.txt"))
    project = projects[name]["project"]
    declared = dict(project["entry-points"])
    if "scripts" in project:
        declared["console_scripts"] = project["scripts"]
    assert {section: dict(entry_points[section]) for section in entry_points.sections()} == declared


@pytest.mark.parametrize("name", NAMES)
def test_the_metadata_says_name_version_licence_and_python(wheels, root, projects, name):
    metadata = email.message_from_string(inside(wheels[name], "/METADATA"))
    project = projects[name]["project"]
    assert (metadata["Name"], metadata["Version"], metadata["License-Expression"]) == (project["name"], project["version"], "MIT")
    assert metadata["Requires-Python"] == ">=3.11"
    assert metadata.get_payload().strip() == (root / name / "README.md").read_text("utf-8").strip()


def test_building_leaves_nothing_in_the_tree(wheels, root):
    assert len(wheels) == len(NAMES)
    litter = [
        path for name in NAMES for pattern in ("build", "dist", "*.egg-info", "src/*.egg-info") for path in (root / name).glob(pattern)
    ]
    assert litter == []
