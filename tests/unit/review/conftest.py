"""The world of review tests as fixtures."""

from __future__ import annotations

import pytest
import review_world


@pytest.fixture
def world():
    """The module of builders."""
    return review_world


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
