"""The samples are distributions of their own: installed beside ours they are found, and their own tests pass, the suites of the kit among them."""

from __future__ import annotations

import json
import sys

import pytest

LIST = """
import json
from afl_core.plugins.discovery import discover
from afl_core.plugins.registry import Registry

registry = Registry(discover(None))
print(json.dumps({
    "plugins": {one.name: [one.distribution, list(one.kinds), one.problem] for one in registry.plugins()},
    "hosts": {name: host.manifest().label for name, host in registry.hosts().items()},
    "redactors": [one.name for _, one in registry.redactors()],
}))
"""
SAMPLES = ("afl-host-sample", "afl-redactor-sample")


@pytest.fixture(scope="module")
def samples(installed, run, root):
    """A Python with every sample installed from its folder."""
    run(
        sys.executable,
        "-m",
        "pip",
        "--python",
        installed,
        "install",
        "--quiet",
        "--no-build-isolation",
        *(root / "examples" / name for name in SAMPLES),
    )
    return installed


def test_the_samples_are_found_beside_our_own_plugins(samples, run, tmp_path):
    found = json.loads(run(samples, "-W", "error", "-c", LIST, cwd=tmp_path).stdout)
    assert found["plugins"]["pebble"] == ["afl-host-sample", ["hosts"], ""]
    assert found["plugins"]["harbour"] == ["afl-redactor-sample", ["redactors"], ""]
    assert found["hosts"].items() > {"pebble": "Pebble", "claude": "Claude Code"}.items()
    assert found["redactors"] == ["credentials", "harbour"]


@pytest.mark.parametrize("name", SAMPLES)
def test_its_own_tests_pass_in_its_own_environment(samples, run, root, tmp_path, name):
    folder = root / "examples" / name
    said = run(samples, "-P", "-m", "pytest", "-p", "no:cacheprovider", "-q", "--rootdir", folder, "-c", folder / "pyproject.toml",
               folder / "tests", cwd=tmp_path).stdout  # fmt: skip
    assert " passed" in said
    assert "skipped" not in said
    assert "failed" not in said


@pytest.mark.parametrize("name", SAMPLES)
def test_its_licence_is_ours(root, name):
    assert (root / "examples" / name / "LICENSE").read_bytes() == (root / "LICENSE").read_bytes()
