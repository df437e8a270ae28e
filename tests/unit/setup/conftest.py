"""The second host as a fixture."""

from __future__ import annotations

import importlib.util
import pathlib
import sys

import pytest

NAME = "other_host"
if NAME not in sys.modules:
    _spec = importlib.util.spec_from_file_location(NAME, pathlib.Path(__file__).with_name(f"{NAME}.py"))
    assert _spec is not None
    assert _spec.loader is not None
    sys.modules[NAME] = importlib.util.module_from_spec(_spec)
    _spec.loader.exec_module(sys.modules[NAME])


@pytest.fixture
def other_host(monkeypatch):
    """The module of a second host, which a plug-in provides from now on."""
    sys.modules[NAME].add_other(monkeypatch)
    return sys.modules[NAME]
