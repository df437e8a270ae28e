"""The sample host is a distribution of its own: installed beside ours it is found, and its own tests pass, the suites of the kit among them."""

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
}))
"""


@pytest.fixture(scope="module")
def sample(installed, run, root):
    """A Python with the sample host installed from its folder."""
    folder = root / "examples/afl-host-sample"
    run(sys.executable, "-m", "pip", "--python", installed, "install", "--quiet", "--no-build-isolation", folder)
    return installed


def test_the_sample_is_found_beside_our_own_hosts(sample, run, tmp_path):
    found = json.loads(run(sample, "-W", "error", "-c", LIST, cwd=tmp_path).stdout)
    assert found["plugins"]["pebble"] == ["afl-host-sample", ["hosts"], ""]
    assert found["hosts"].items() > {"pebble": "Pebble", "claude": "Claude Code"}.items()


def test_its_own_tests_pass_in_its_own_environment(sample, run, root, tmp_path):
    folder = root / "examples/afl-host-sample"
    said = run(sample, "-P", "-m", "pytest", "-p", "no:cacheprovider", "-q", "--rootdir", folder, "-c", folder / "pyproject.toml",
               folder / "tests", cwd=tmp_path).stdout  # fmt: skip
    assert " passed" in said
    assert "skipped" not in said
    assert "failed" not in said


def test_its_licence_is_ours(root):
    assert (root / "examples/afl-host-sample/LICENSE").read_bytes() == (root / "LICENSE").read_bytes()
