"""Which of the things that wait are worth a pass now. Pure: what was seen and a time that cannot jump in, decision out.

A thing is a key and a mark. The mark changes when somebody works on it (a transcript's cursor moves), so a thing that is seen twice with the
same mark has nobody. One that a pass left as it was is tried again later and later: it is broken, or not ours to solve.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

AGAIN_S = (300.0, 900.0, 3_600.0, 14_400.0, 86_400.0)
"""How much later a thing is tried again that a pass left as it was, the last one for good."""


class Left(NamedTuple):
    """What a pass left: with which mark, how often in a row, and until when it rests."""

    mark: str
    times: int
    until: float


class Ripening:
    """What this process remembers from tick to tick. `now`: seconds of a clock that cannot jump."""

    def __init__(self) -> None:
        self._seen: dict[str, str] | None = None
        self._left: dict[str, Left] = {}

    def ripe(self, waiting: Mapping[str, str], now: float) -> list[str]:
        """The keys a pass is worth being run for. At the first look all of them: nobody was there before to work on them."""
        before, self._seen = self._seen, dict(waiting)
        unmoved = [key for key, mark in waiting.items() if before is None or before.get(key) == mark]
        return [key for key in unmoved if not self._rests(key, waiting[key], now)]

    def passed(self, waiting: Mapping[str, str], tried: Mapping[str, str], now: float) -> None:
        """A pass ended: `tried` was there when it began, `waiting` is there now."""
        left: dict[str, Left] = {}
        for key, mark in waiting.items():
            if tried.get(key) == mark:
                earlier = self._left.get(key)
                times = earlier.times + 1 if earlier is not None and earlier.mark == mark else 1
                left[key] = Left(mark, times, now + AGAIN_S[min(times, len(AGAIN_S)) - 1])
        self._left = left
        self._seen = dict(waiting)

    def _rests(self, key: str, mark: str, now: float) -> bool:
        left = self._left.get(key)
        return left is not None and left.mark == mark and now < left.until
