"""Recordings made on the real CLI, each once for all the tests that look at it."""

from __future__ import annotations

import pathlib
import shutil
import tempfile

import gemini_stage
import pytest

from afl_core.testing.failure import KitError


@pytest.fixture(scope="module")
def played():
    """Play a scenario once and give what the CLI left of it: `played(scenario, binary)`."""
    kept = {}

    def recording(scenario, binary):
        if scenario not in kept:
            home = pathlib.Path(tempfile.mkdtemp(prefix="afl-stage-", dir="/tmp"))
            try:
                kept[scenario] = gemini_stage.record(scenario, binary, home)
            except KitError as bad:  # not played once more for every test that asks
                kept[scenario] = bad
            finally:
                shutil.rmtree(home, ignore_errors=True)
        if isinstance(kept[scenario], KitError):
            raise kept[scenario]
        return kept[scenario]

    return recording
