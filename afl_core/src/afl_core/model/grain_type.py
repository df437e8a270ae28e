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
