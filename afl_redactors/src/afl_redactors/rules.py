"""What a rule is: a name, the words that make it worth running, and a function that finds values inside a window."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

import attrs

from afl_redactors.windows import Clip, View

Span = tuple[int, int]
Find = Callable[[View, int, int], Iterator[Span]]
Read = Callable[[View, "re.Match[str]"], Iterable[Span]]


@attrs.frozen
class Rule:
    """One rule. `words` are lower-case literals; `find(view, start, end)` yields the spans of values that begin in that window.

    `before` and `after` are the reach of a window around a word, in characters.
    What a rule that `gives_way` finds is dropped where another rule found something, instead of being joined with it.
    """

    name: str
    words: tuple[str, ...]
    find: Find
    before: int = 256
    after: int = 256
    clip: Clip = Clip.LINE
    gives_way: bool = False


def matching(pattern: re.Pattern[str], read: Read) -> Find:
    """Return a `find` that runs `pattern` through the window and lets `read` turn each match into the spans of values.

    A match that yields nothing is continued right behind the match, one that yields spans behind the last of them.
    """

    def find(view: View, start: int, end: int) -> Iterator[Span]:
        at = start
        while at < end:
            found = pattern.search(view.text, at, end)
            if found is None:
                return
            at = max(found.end(), found.start() + 1)
            for span in read(view, found):
                view.count(span[1] - span[0])
                yield span
                at = max(at, span[1])

    return find
