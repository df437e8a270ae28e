"""The world of capture tests as fixtures."""

from __future__ import annotations

import importlib.util
import pathlib
import sys

import pytest

NAME = "capture_world"
for name in (NAME, "plain_host"):
    if name not in sys.modules:
        _spec = importlib.util.spec_from_file_location(name, pathlib.Path(__file__).with_name(f"{name}.py"))
        sys.modules[name] = importlib.util.module_from_spec(_spec)
        _spec.loader.exec_module(sys.modules[name])


@pytest.fixture
def worlds():
    """The module of builders."""
    return sys.modules[NAME]


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
