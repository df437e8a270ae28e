"""Where rules may look: bounded windows are laid around the hits of words. Reads text, decides nothing."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from enum import Enum

_SENTENCE_END = re.compile(r"[\n.!?。！？；](?:(?<=[\n。！？；])|(?=\s))")
_ESCAPED_SPACE = re.compile(r"\\[nrt]")
_ASCII_LOWER = {upper: upper + 32 for upper in range(ord("A"), ord("Z") + 1)}

ODD = {
    "\u0130": "i", "\u0131": "i", "\u017f": "s", "\u212a": "k",
    "\u1c80": "\u0432", "\u1c81": "\u0434", "\u1c82": "\u043e", "\u1c83": "\u0441", "\u1c84": "\u0442", "\u1c85": "\u0442",
}  # fmt: skip
"""Letters that a pattern which ignores case takes for others, though lower case does not or makes it two; and for which."""
_ODD = str.maketrans(ODD)


class Clip(Enum):
    """What a window never reaches across."""

    LINE = "line"
    SENTENCE = "sentence"
    NOTHING = "nothing"


class View:
    """One text being scanned: the text with markers masked, its folded form, the hits of each word, and the work done so far.

    `steps` counts characters handed to rules or read as values, plus word hits; it never depends on the clock.
    `seen`: the text as a pattern that ignores case sees it, in which leads are looked for; nearly always it is the folded form.
    `names`: where the name of a credential may start, in order; not known where `everywhere` is to be looked.
    """

    __slots__ = ("_bare", "_hits", "_known", "_laid", "everywhere", "folded", "names", "seen", "steps", "text")

    def __init__(self, text: str, *, everywhere: bool = False) -> None:
        """Fold `text` without moving any character, so that offsets in both forms agree. With `everywhere` no lead is to be relied on."""
        self.text = text
        folded = text.lower()
        self.folded = folded if len(folded) == len(text) else text.translate(_ASCII_LOWER)
        odd = not text.isascii() and any(letter in text for letter in ODD)
        self.seen = text.translate(_ODD).lower() if odd else self.folded
        self.everywhere = everywhere
        self.names: list[int] = []
        self.steps = 0
        self._bare: str | None = None
        self._known: frozenset[str] = frozenset()
        self._hits: dict[str, tuple[int, ...]] = {}
        self._laid: dict[tuple[str, ...], list[int]] = {}

    @property
    def bare(self) -> str:
        """The text with each escaped line break or tab blanked: inside of JSON a key may stand right behind one."""
        if self._bare is None:
            self._bare = self.text if "\\" not in self.text else _ESCAPED_SPACE.sub("  ", self.text)
        return self._bare

    def count(self, steps: int) -> None:
        """Add work that was done outside the windows."""
        self.steps += steps

    def learn(self, literals: frozenset[str], hits: dict[str, list[int]]) -> None:
        """Take over where the `literals` that are seen stand, none overlapping itself: where they are folded alike they need not be searched again."""
        if self.seen is not self.folded:
            return
        self._known = literals
        for literal, offsets in hits.items():
            self._hits[literal] = tuple(offsets)

    def hits(self, word: str) -> tuple[int, ...]:
        """Return the offsets of the lower-case literal `word`; the text is searched once a word."""
        known = self._hits.get(word)
        if known is None:
            known = self._hits[word] = () if word in self._known else tuple(self._search(word))
            self.steps += len(known)
        return known

    def next_hit(self, word: str, start: int) -> int:
        """Return the first offset of `word` at or after `start`, or -1."""
        hits = self.hits(word)
        index = bisect_left(hits, start)
        return hits[index] if index < len(hits) else -1

    def names_within(self, start: int, end: int) -> Sequence[int]:
        """Return the offsets from `start` to before `end` where the name of a credential may start."""
        return self.names[bisect_left(self.names, start) : bisect_left(self.names, end)]

    def _search(self, word: str) -> Iterator[int]:
        at = self.folded.find(word)
        while at >= 0:
            yield at
            at = self.folded.find(word, at + len(word))

    def _all_hits(self, words: tuple[str, ...]) -> list[int]:
        known = self._laid.get(words)
        if known is None:
            known = self._laid[words] = []
            for word in words:
                if (offsets := self._hits.get(word)) is not None:
                    known += offsets
                elif word not in self._known:
                    known += self.hits(word)
            known.sort()
        return known

    def windows(
        self, words: tuple[str, ...], before: int, after: int, clip: Clip, wanted: Sequence[int] | None = None
    ) -> Iterator[tuple[int, int]]:
        """Yield disjoint `(start, end)` windows in order, at most `before` and `after` characters around each hit, clipped; overlaps are joined.

        With `wanted`, offsets in order, only the windows that hold one of those; the others cost hardly any work.
        """
        hits = self._all_hits(words)
        first, end = 0, -1  # the first hit that no window was laid around, and where the window before it ended
        for spot in hits if wanted is None else wanted:
            if spot < end:
                continue
            first = self._apart(hits, first, max(first, bisect_right(hits, spot) - 1), after, clip)
            if first:  # no window before reaches farther than that of the last hit before
                end = max(end, self._right(hits[first - 1], -1, after, clip))
            while first < len(hits):
                start, stop, following = self._lay(hits, first, end, (before, after, clip))
                if start > spot:
                    break
                first, end = following, stop
                if spot < stop:
                    self.steps += stop - start
                    yield start, stop
                    break

    def _apart(self, hits: Sequence[int], first: int, index: int, after: int, clip: Clip) -> int:
        """Return the last hit at or before that at `index`, and not before that at `first`, whose window cannot be joined with one before."""
        lines = clip is not Clip.NOTHING
        while index > first and hits[index] - hits[index - 1] < after:
            if lines and self.text.find("\n", hits[index - 1], hits[index]) >= 0:
                break
            index -= 1
        return index

    def _lay(self, hits: Sequence[int], index: int, low: int, reach: tuple[int, int, Clip]) -> tuple[int, int, int]:
        """Return the window around the hit at `index` and those joined with it, from `low` on, and the index of the first hit behind it."""
        before, after, clip = reach
        start = max(self._left(hits[index], before, clip), low)
        end = self._right(hits[index], hits[index], after, clip)
        index += 1
        while index < len(hits) and hits[index] < end:
            end = max(end, self._right(hits[index], end, after, clip))
            index += 1
        return start, end, index

    def _left(self, hit: int, before: int, clip: Clip) -> int:
        low = max(0, hit - before)
        if clip is Clip.NOTHING:
            return low
        low = max(low, self.text.rfind("\n", low, hit) + 1)
        if clip is Clip.SENTENCE:
            for found in _SENTENCE_END.finditer(self.text, low, hit):
                low = found.end()
        return low

    def _right(self, hit: int, known: int, after: int, clip: Clip) -> int:
        high = min(len(self.text), hit + after)
        if high <= known:
            return known
        if clip is Clip.NOTHING:
            return high
        found = self.text.find("\n", hit, high)
        if clip is Clip.LINE:
            return high if found < 0 else found
        high = high if found < 0 else found + 1
        stop = _SENTENCE_END.search(self.text, hit, high)
        return high if stop is None else stop.end()
