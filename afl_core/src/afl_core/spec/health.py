"""The contract of a health plug-in: lines that `afl doctor` shows."""

from __future__ import annotations

import enum

import attrs


class Health(enum.Enum):
    """How one thing is."""

    OK = "ok"
    WARN = "warn"
    FAIL = "fail"
    ABSENT = "absent"


@attrs.frozen
class HealthLine:
    """One line of the doctor: what, how it is, a sentence, and the next step when it is not ok."""

    name: str
    health: Health
    sentence: str
    hint: str = ""
