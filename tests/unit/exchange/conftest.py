"""Two memories and the bundle that goes from one to the other."""

from __future__ import annotations

import pytest
from exchange_world import NOW, opened


@pytest.fixture
def memory(tmp_path):
    with opened(tmp_path / "a.afl") as one:
        yield one


@pytest.fixture
def empty(tmp_path):
    with opened(tmp_path / "b.afl", NOW + 50_000) as one:
        yield one


@pytest.fixture
def bundle(tmp_path):
    return tmp_path / "a.jsonl"
