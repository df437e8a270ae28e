"""The world of review tests as fixtures."""

from __future__ import annotations

import importlib.util
import pathlib
import sys

import pytest

NAME = "review_world"
if NAME not in sys.modules:
    _spec = importlib.util.spec_from_file_location(NAME, pathlib.Path(__file__).with_name(f"{NAME}.py"))
    sys.modules[NAME] = importlib.util.module_from_spec(_spec)
    _spec.loader.exec_module(sys.modules[NAME])


@pytest.fixture
def world():
    """The module of builders."""
    return sys.modules[NAME]


@pytest.fixture
def paths(home, world):
    """A home with an empty store."""
    return world.create(home)


@pytest.fixture
def db(paths, world):
    """The open store."""
    opened = world.open_store(paths)
    yield opened
    opened.close()
