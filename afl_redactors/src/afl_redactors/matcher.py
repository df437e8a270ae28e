"""One pass over a text that finds every place where one of many literals stands. Knows nothing about rules."""

from __future__ import annotations

from collections.abc import Callable, Sequence

Hit = tuple[int, int, int]
"""Index of the literal, and the offsets where it starts and ends."""

FindAll = Callable[[str], list[Hit]]


def matcher(literals: Sequence[str]) -> FindAll:
    """Return a function that finds all hits in a text, overlapping ones too, in order of their ends."""
    try:
        return at_once(literals)
    except ImportError:  # not to be had for this system: slower, with the same results
        return one_by_one(literals)


def at_once(literals: Sequence[str]) -> FindAll:
    """Return the function that runs an automaton over the text: its time hardly depends on how many literals there are."""
    from ahocorasick_rs import AhoCorasick, Implementation

    automaton = AhoCorasick(literals, implementation=Implementation.DFA)
    otherwise = one_by_one(literals)

    def find(text: str) -> list[Hit]:
        try:
            return automaton.find_matches_as_indexes(text, overlapping=True)
        except UnicodeEncodeError:  # half of a surrogate pair, which the automaton cannot be given
            return otherwise(text)

    return find


def one_by_one(literals: Sequence[str]) -> FindAll:
    """Return the function that asks for one literal after the other, in plain Python."""

    def find(text: str) -> list[Hit]:
        hits: list[Hit] = []
        for index, literal in enumerate(literals):
            at = text.find(literal)
            while at >= 0:
                hits.append((index, at, at + len(literal)))
                at = text.find(literal, at + 1)
        hits.sort(key=lambda hit: (hit[2], hit[1]))
        return hits

    return find
