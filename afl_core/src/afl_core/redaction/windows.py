"""A text of any length read in windows that overlap: each value is judged with what stands around it, memory stays the same. Keeps no value."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from afl_core.redaction.chain import Chain
from afl_core.redaction.lines import Lines, Spot

WINDOW_CHARS = 262_144
"""Characters that are judged at a time, one line or many."""

AROUND_CHARS = 16_384
"""Characters that are read with them on either side: longer than any key in several lines."""


def spots_in(read: Callable[[int], str], chain: Chain, size: int = WINDOW_CHARS, around: int = AROUND_CHARS) -> Iterator[Spot]:
    """Every spot of a text that `read` gives piece by piece, '' at its end. Raises `RedactionError` when it cannot be judged."""
    lines = Lines()
    text, judged, reached = read(size + around), 0, 0  # `judged`, `reached`: offsets in `text` up to which findings, and lines, are told
    while True:
        more = read(size)
        end = len(text) if not more else len(text) - around
        for found in chain.redact(text).findings:
            if judged <= found.start < end:
                lines.pass_over(text, reached, found.start)
                reached = found.start
                yield lines.spot(found.rule)
        if not more:
            return
        lines.pass_over(text, reached, end)
        kept = max(0, end - around)
        text, judged, reached = text[kept:] + more, end - kept, end - kept
