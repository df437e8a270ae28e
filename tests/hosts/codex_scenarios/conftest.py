"""Recordings made on the real CLI, each once for all the tests that look at it."""

from __future__ import annotations

import pathlib
import shutil
import tempfile

import codex_stage
import pytest


@pytest.fixture(scope="module")
def played():
    """Play a scene once and give what the CLI left of it: `played(scene, binary)`."""
    kept = {}

    def recording(scene, binary):
        if scene not in kept:
            home = pathlib.Path(tempfile.mkdtemp(prefix="afl-stage-", dir="/tmp"))
            try:
                kept[scene] = codex_stage.record(scene, binary, home)
            finally:
                shutil.rmtree(home, ignore_errors=True)
        return kept[scene]

    return recording
