"""Where rules may look: every word is searched once, and bounded windows are laid around the hits. Reads text, decides nothing."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from enum import Enum

_SENTENCE_END = re.compile(r"\n|[.!?](?=\s)|[。！？；]")
_ASCII_LOWER = {upper: upper + 32 for upper in range(ord("A"), ord("Z") + 1)}


class Clip(Enum):
    """What a window never reaches across."""

    LINE = "line"
    SENTENCE = "sentence"
    NOTHING = "nothing"


class View:
    """One text being scanned: the text with markers masked, its folded form, the hits of each word, and the work done so far.

    `steps` counts characters handed to rules or read as values, plus word hits; it never depends on the clock.
    """

    def __init__(self, text: str) -> None:
        """Fold `text` without moving any character, so that offsets in both forms agree."""
        self.text = text
        folded = text.lower()
        self.folded = folded if len(folded) == len(text) else text.translate(_ASCII_LOWER)
        self.steps = 0
        self._hits: dict[str, tuple[int, ...]] = {}

    def count(self, steps: int) -> None:
        """Add work that was done outside the windows."""
        self.steps += steps

    def hits(self, word: str) -> tuple[int, ...]:
        """Return the offsets of the lower-case literal `word`; the text is searched once a word."""
        known = self._hits.get(word)
        if known is None:
            known = tuple(self._search(word))
            self._hits[word] = known
            self.steps += len(known)
        return known

    def next_hit(self, word: str, start: int) -> int:
        """Return the first offset of `word` at or after `start`, or -1."""
        hits = self.hits(word)
        index = bisect_left(hits, start)
        return hits[index] if index < len(hits) else -1

    def _search(self, word: str) -> Iterator[int]:
        at = self.folded.find(word)
        while at >= 0:
            yield at
            at = self.folded.find(word, at + len(word))

    def windows(self, words: tuple[str, ...], before: int, after: int, clip: Clip) -> Iterator[tuple[int, int]]:
        """Yield disjoint `(start, end)` windows in order, at most `before` and `after` characters around each hit, clipped; overlaps are joined."""
        hits = sorted(at for word in words for at in self.hits(word))
        start, end = -1, -1
        for hit in hits:
            if hit < end:
                end = max(end, self._right(hit, end, after, clip))
                continue
            left = max(self._left(hit, before, clip), end)
            if start >= 0 and left >= end:
                self.steps += end - start
                yield start, end
                start = left
            elif start < 0:
                start = left
            end = self._right(hit, hit, after, clip)
        if start >= 0:
            self.steps += end - start
            yield start, end

    def _left(self, hit: int, before: int, clip: Clip) -> int:
        low = max(0, hit - before)
        if clip is Clip.NOTHING:
            return low
        if clip is Clip.LINE:
            return max(low, self.text.rfind("\n", low, hit) + 1)
        for found in _SENTENCE_END.finditer(self.text, low, hit):
            low = found.end()
        return low

    def _right(self, hit: int, known: int, after: int, clip: Clip) -> int:
        high = min(len(self.text), hit + after)
        if high <= known:
            return known
        if clip is Clip.NOTHING:
            return high
        if clip is Clip.LINE:
            found = self.text.find("\n", hit, high)
            return high if found < 0 else found
        stop = _SENTENCE_END.search(self.text, hit, high)
        return high if stop is None else stop.end()
