"""The types of grains."""

from __future__ import annotations

import enum


class GrainType(enum.Enum):
    """What a grain is."""

    FACT = "fact"
    EVENT = "event"
    STATE = "state"
    WORKFLOW = "workflow"
    TOOL = "tool"
    OBSERVATION = "observation"
    GOAL = "goal"
    REASONING = "reasoning"
    CONSENSUS = "consensus"
    CONSENT = "consent"
    SKILL = "skill"
    RECOMMENDATION = "recommendation"
    LESSON = "lesson"

    __hash__ = object.__hash__  # each is one object; what `enum` brings runs in Python, and every grain is looked up by its type


TYPES = {kind.value: kind for kind in GrainType}
"""Every type by its word."""
