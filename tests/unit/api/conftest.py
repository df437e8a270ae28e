"""A memory on a clock that is set by hand."""

from __future__ import annotations

import pytest

from afl_core import Memory
from afl_core.vault import content


@pytest.fixture
def opens(tmp_path, clock, monkeypatch):
    """Opens memories in one folder; they are closed afterwards. A passphrase costs nothing here."""
    monkeypatch.setattr(content, "COST", 2**4)
    opened = []

    def opening(name="m.afl", **given):
        made = Memory(tmp_path / name, clock=clock, **given)
        opened.append(made)
        return made

    yield opening
    for memory in opened:
        memory.close()


@pytest.fixture
def memory(opens):
    """One of them."""
    return opens()
