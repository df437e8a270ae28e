"""Recordings made on the real CLI, each once for all the tests that look at it."""

from __future__ import annotations

import codex_stage
import pytest
from stage import played_once


@pytest.fixture(scope="module")
def played():
    """Play a scene once and give what the CLI left of it: `played(scene, binary)`."""
    return played_once(codex_stage.record)
