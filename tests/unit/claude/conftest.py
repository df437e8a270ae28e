"""Records, real and made, as the lines core hands to the adapter, and the observations that come back."""

from __future__ import annotations

import json

import attrs
import pytest

from afl_core.spec.host import Line
from afl_core.testing.recorded import Recorded
from afl_providers_claude.host import ClaudeHost


def lines_of(transcript: bytes) -> list[Line]:
    lines, offset = [], 0
    for data in transcript.splitlines(keepends=True):
        lines.append(Line(offset, data.removesuffix(b"\n")))
        offset += len(data)
    return lines


def brief(observation) -> tuple:
    """An observation as a tuple of its kind and what is not the default, without ids, times and places."""
    hidden = {"spot", "native_id", "turn", "parent_id", "at_ms", "duration_ms"}
    told = {
        field.name: getattr(observation, field.name)
        for field in attrs.fields(type(observation))
        if field.name not in hidden and getattr(observation, field.name) != field.default
    }
    return (type(observation).__name__, *told.values())


@pytest.fixture
def observe():
    """Observations of a recorded transcript."""
    return lambda name: ClaudeHost().parse(lines_of(Recorded.transcript(name)), {})[0]


@pytest.fixture
def briefly():
    """Observations of a recorded transcript, each as a short tuple."""
    return lambda name: [brief(one) for one in ClaudeHost().parse(lines_of(Recorded.transcript(name)), {})[0]]


@pytest.fixture
def recorded_lines():
    return lambda name: lines_of(Recorded.transcript(name))


@pytest.fixture
def made():
    """Observations of records made by the test, each an object that is given as JSON."""

    def observed(*records, state=None):
        return ClaudeHost().parse([Line(number, json.dumps(record).encode()) for number, record in enumerate(records)], state or {})[0]

    return observed
