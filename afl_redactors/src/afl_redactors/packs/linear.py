"""Whether a pattern takes time in proportion to its window, whatever it is given: every repeat is bounded, and none that varies stands in another."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from re import _constants as kind  # type: ignore[attr-defined]
from re import _parser  # type: ignore[attr-defined]
from typing import Any

LONGEST = 16_384
"""Characters one repeat may take."""
_REPEATS = (kind.MAX_REPEAT, kind.MIN_REPEAT)


def problem(pattern: str) -> str:
    """Why the pattern must not be used, as the end of a sentence; '' where nothing is wrong."""
    try:
        tree = _parser.parse(pattern)
    except (re.error, OverflowError, RecursionError) as bad:
        return f"is no regular expression: {bad}"
    return next(_problems(tree, inside=False), "")


def _problems(tree: Iterable[tuple[Any, Any]], *, inside: bool) -> Iterator[str]:
    for code, given in tree:
        if code in _REPEATS or code is kind.POSSESSIVE_REPEAT:
            least, most, body = given
            if most is kind.MAXREPEAT or most > LONGEST:
                yield "has a repeat without a bound; write {0,n} instead of * and {1,n} instead of +"
            varies = least != most and code in _REPEATS
            if varies and inside and most > 1:
                yield "has a repeat inside a repeat, which can take very long"
            yield from _problems(body, inside=inside or (most > 1 and code in _REPEATS))
        elif code is kind.GROUPREF:
            yield "refers back to a group"
        else:
            for part in _parts(given):
                yield from _problems(part, inside=inside)


def _parts(given: Any) -> Iterable[Any]:
    """The patterns inside of a part: branches, groups, looks ahead and behind."""
    if isinstance(given, _parser.SubPattern):
        yield given
    elif isinstance(given, list | tuple):
        for one in given:
            yield from _parts(one)
