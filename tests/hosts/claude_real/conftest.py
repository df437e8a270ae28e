"""A sandbox for the real CLI, and waiting for what its tools do."""

from __future__ import annotations

import pathlib
import time

import pytest

from afl_core.testing.claude_cli import ClaudeSandbox
from afl_core.testing.failure import KitError


@pytest.fixture
def claude(claude_bin, home):
    """Make a sandbox that talks to an API: `claude(api)`; within one test it is always the same home and project."""
    return lambda api: ClaudeSandbox(home, home / "project", api.url, pathlib.Path(claude_bin))


@pytest.fixture
def wait_for_file():
    """Wait until a file exists; KitError when it does not come."""

    def wait(path, timeout=30.0):
        deadline = time.monotonic() + timeout
        while not path.exists():
            if time.monotonic() > deadline:
                raise KitError(f"{path} did not appear within {timeout:g} s")
            time.sleep(0.02)

    return wait
