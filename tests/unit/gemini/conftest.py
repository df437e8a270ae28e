"""Records, real and made, as the lines core hands to the adapter, and the observations that come back."""

from __future__ import annotations

import gemini_chats
import pytest

from afl_core.testing.recorded_gemini import RecordedGemini
from afl_providers_gemini.host import GeminiHost


@pytest.fixture(scope="session")
def chats():
    """The module of builders."""
    return gemini_chats


@pytest.fixture
def chat(chats):
    """An empty log to write records to."""
    return chats.Chat()


@pytest.fixture
def recorded_lines(chats):
    return lambda name: chats.lines_of(RecordedGemini.chat(name))


@pytest.fixture
def observe(recorded_lines):
    """Observations of a recorded log."""
    return lambda name: GeminiHost().parse(recorded_lines(name), {})[0]
