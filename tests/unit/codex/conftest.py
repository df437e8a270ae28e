"""Records, real and made, as the lines core hands to the adapter, and the observations that come back."""

from __future__ import annotations

import json

import attrs
import codex_records as records
import pytest

from afl_core.spec.host import Line
from afl_core.testing.recorded_codex import RecordedCodex
from afl_providers_codex.host import CodexHost

HIDDEN = {"spot", "native_id", "turn", "parent_id", "at_ms", "duration_ms"}


def brief(observation) -> tuple:
    """An observation as a tuple of its kind and what is not the default, without ids, times and places."""
    told = {
        field.name: getattr(observation, field.name)
        for field in attrs.fields(type(observation))
        if field.name not in HIDDEN and getattr(observation, field.name) != field.default
    }
    return (type(observation).__name__, *told.values())


@pytest.fixture
def observe():
    """Observations of a recorded rollout."""
    return lambda name, release="": CodexHost().parse(records.lines_of(RecordedCodex.rollout(name, release)), {})[0]


@pytest.fixture
def briefly(observe):
    """The same, each as a short tuple, without what the host itself said."""

    def told(name, release=""):
        shown = [brief(one) for one in observe(name, release)]
        return [one for one in shown if "MACHINE" not in str(one)]

    return told


@pytest.fixture
def made():
    """Observations of records made by the test: (type, payload) or (type, payload, second). Each has a number and a time, a second after the one before."""

    def observed(*made_of, state=None, numbered=True):
        lines = []
        for number, (kind, payload, *at) in enumerate(made_of):
            time = f"2026-11-30T10:00:{at[0] if at else number:06.3f}Z"
            record = {"timestamp": time, **({"ordinal": number} if numbered else {}), "type": kind, "payload": payload}
            lines.append(Line(number * 100, json.dumps(record).encode()))
        return CodexHost().parse(lines, state or {})[0]

    return observed
