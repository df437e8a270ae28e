"""A sandbox for the real CLI."""

from __future__ import annotations

import pathlib

import pytest

from afl_core.testing.gemini_cli import GeminiSandbox


@pytest.fixture
def gemini(gemini_bin, home):
    """Make a sandbox that talks to an API: `gemini(api)`; within one test it is always the same home and project."""
    return lambda api: GeminiSandbox(home, home / "project", api.url, pathlib.Path(gemini_bin))
