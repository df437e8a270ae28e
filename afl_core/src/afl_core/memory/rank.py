"""How grains are put in order: how well they match, how sure they are, how old they are. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterable

import attrs

from afl_core.model.clock import DAY_MS
from afl_core.store.grains import Stored


@attrs.frozen
class Weights:
    """score = match x (sure + (1 - sure) x confidence) x (fresh + (1 - fresh) x 2^(-age / half_life_days)).

    `match` is bm25 of the text, or 1 for a structural recall. A grain without a confidence counts as `confidence`.
    """

    sure: float = 0.5
    fresh: float = 0.5
    half_life_days: float = 90.0
    confidence: float = 1.0


DEFAULT = Weights()


@attrs.frozen
class Ranked:
    """A grain with its score."""

    stored: Stored
    score: float


def score(stored: Stored, match: float, now: int, weights: Weights = DEFAULT) -> float:
    """The score of one grain; a time in the future counts as now."""
    given = stored.grain.fields.get("confidence")
    confidence = given if isinstance(given, int | float) else weights.confidence
    age_days = max(0, now - stored.grain.created_ms) / DAY_MS
    sure = weights.sure + (1 - weights.sure) * min(1.0, max(0.0, confidence))
    fresh = weights.fresh + (1 - weights.fresh) * math.exp2(-age_days / weights.half_life_days)
    return match * sure * fresh


def ranked(matches: Iterable[tuple[Stored, float]], now: int, most: int, weights: Weights = DEFAULT) -> list[Ranked]:
    """The best first; of equal ones the newer, then the one whose address is larger."""
    scored = [Ranked(stored, score(stored, match, now, weights)) for stored, match in matches]
    scored.sort(key=lambda one: (one.score, one.stored.grain.created_ms, one.stored.grain.hash), reverse=True)
    return scored[:most]
