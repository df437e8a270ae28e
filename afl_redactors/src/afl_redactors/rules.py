"""What a rule is: a name, the words its windows are laid around, a function that finds values inside a window; and what leads to a rule."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence

import attrs

from afl_redactors.windows import Clip, View

Span = tuple[int, int]
Find = Callable[[View, int, int], Iterator[Span]]
Read = Callable[[View, "re.Match[str]"], Iterable[Span]]


@attrs.frozen(eq=False)
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


@attrs.frozen
class Lead:
    """Lower-case literals, and the question which rules are worth running where one stands from `start` to `end`.

    A rule finds nothing in a window in which no lead names it: each match of its pattern holds a literal, or follows one, that leads to it.
    A literal holds or is a word of each rule it leads to. `opens`: what leads there too where a text begins with it. Asking costs a bounded number of steps.
    """

    literals: tuple[str, ...]
    asks: Callable[[View, int, int], Sequence[Rule]]
    opens: tuple[str, ...] = ()


def leading(rule: Rule, worth: Callable[[str, int], object], literals: tuple[str, ...] = ()) -> Lead:
    """Return the lead to one rule from its words (or other `literals`): `worth(text, start)` tells whether it is worth running."""
    found, nothing = (rule,), ()

    def asks(view: View, start: int, _end: int) -> Sequence[Rule]:
        return found if worth(view.text, start) else nothing

    return Lead(literals or rule.words, asks)


def matching(pattern: re.Pattern[str], read: Read, *, named: bool = False) -> Find:
    """Return a `find` that runs `pattern` through the window and lets `read` turn each match into the spans of values.

    A match that yields nothing is continued right behind the match, one that yields spans behind the last of them.
    With `named`, the pattern begins with the name of a credential: it is tried only where one may start.
    """

    def search(view: View, start: int, end: int) -> Iterator[Span]:
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

    def look(view: View, start: int, end: int) -> Iterator[Span]:
        at = start
        for name in view.names_within(start, end):
            found = pattern.match(view.text, name, end) if name >= at else None
            if found is None:
                continue
            at = max(found.end(), found.start() + 1)
            for span in read(view, found):
                view.count(span[1] - span[0])
                yield span
                at = max(at, span[1])

    def find(view: View, start: int, end: int) -> Iterator[Span]:
        return search(view, start, end) if view.everywhere else look(view, start, end)

    return find if named else search
