"""What goes into a prompt: whole grains under a budget that several sources share. Pure: candidates come in, a choice goes out."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from afl_core.memory.rank import Ranked
from afl_core.model.card_text import text_tokens
from afl_core.model.grain_text import shown


@attrs.frozen
class Source:
    """One source: its candidates, best first, and its weight among the others."""

    candidates: tuple[Ranked, ...]
    weight: float = 1.0


@attrs.frozen
class Dropped:
    """A candidate that did not fit: its address, the number of its source, and its cost."""

    hash: str
    source: int
    cost: int


@attrs.frozen
class Assembled:
    """The choice. `lines`: what is shown of each grain, in the order of the sources."""

    lines: tuple[str, ...]
    grains: tuple[Ranked, ...]
    dropped: tuple[Dropped, ...]
    used: int


def assemble(sources: Sequence[Source], budget: int, *, by_grains: bool = False) -> Assembled:
    """Choose whole grains, none twice. Each source has its share by weight; what one does not use passes on to those behind it, and what is left
    at the end to what did not fit before.

    A grain that does not fit is dropped and the next one is tried. `by_grains`: the budget counts grains, not tokens.
    """
    weights = [max(0.0, source.weight) for source in sources]
    left, total = budget, sum(weights)
    taken: dict[str, _Taken] = {}
    waiting: list[_Taken] = []
    for number, (source, weight) in enumerate(zip(sources, weights, strict=True)):
        share = left if total <= weight else int(left * weight / total)
        total -= weight
        for one in source.candidates:
            if one.stored.grain.hash in taken:
                continue
            line = shown(one.stored.grain)
            asked = _Taken(number, one, line, 1 if by_grains else text_tokens(line))
            if asked.cost > share:
                waiting.append(asked)
                continue
            taken[one.stored.grain.hash] = asked
            share, left = share - asked.cost, left - asked.cost
    dropped = []
    for asked in waiting:
        address = asked.one.stored.grain.hash
        if address in taken:
            continue
        if asked.cost <= left:
            taken[address], left = asked, left - asked.cost
        else:
            dropped.append(Dropped(address, asked.source, asked.cost))
    chosen = sorted(taken.values(), key=lambda each: each.source)
    return Assembled(tuple(each.line for each in chosen), tuple(each.one for each in chosen), tuple(dropped), budget - left)


@attrs.frozen
class _Taken:
    """A candidate with what it would add."""

    source: int
    one: Ranked
    line: str
    cost: int
