"""A home whose index an older rule set filled."""

from __future__ import annotations

import purge_world
import pytest


@pytest.fixture
def filled():
    """The module that fills it."""
    return purge_world


@pytest.fixture
def world(home):
    """The home, filled."""
    made = purge_world.make(home)
    purge_world.fill(made)
    yield made
    made.close()
