"""The contract of a selector: it may add candidates to the ones the built-in selection finds. Severity, promotion, scope and delivery are never its to decide."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable


@runtime_checkable
class Selector(Protocol):
    """Runs inside the front, on the prompt path: milliseconds count. `target` is the `module:attribute` by which the front loads it."""

    name: str
    target: str

    def candidates(self, prompt: str, cards: Sequence[tuple[str, str]]) -> list[str]:
        """Given the prompt and (lesson id, card text) of this project, the lesson ids that fit although the built-in match found nothing."""
        ...
