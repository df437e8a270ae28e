"""Service managers that are no real ones."""

from __future__ import annotations

import importlib.util
import pathlib
import sys

import pytest

NAME = "service_managers"
if NAME not in sys.modules:
    _spec = importlib.util.spec_from_file_location(NAME, pathlib.Path(__file__).parent / f"{NAME}.py")
    sys.modules[NAME] = importlib.util.module_from_spec(_spec)
    _spec.loader.exec_module(sys.modules[NAME])


@pytest.fixture
def managers(home):
    """Stand-ins for the programs of service managers."""
    return sys.modules[NAME].ServiceManagers(home / "managers")
