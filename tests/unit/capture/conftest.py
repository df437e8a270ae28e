"""The world of capture tests as fixtures."""

from __future__ import annotations

import capture_world
import pytest


@pytest.fixture
def worlds():
    """The module of builders."""
    return capture_world


@pytest.fixture
def world(home, worlds):
    """A home with an empty store and a vault, and a session whose transcript is `<home>/t.jsonl`."""
    made = worlds.World(home)
    made.session(home / "t.jsonl")
    yield made
    made.close()


@pytest.fixture
def tape(home, worlds):
    """The transcript of that session; not there until something is written."""
    return worlds.Tape(home / "t.jsonl")
