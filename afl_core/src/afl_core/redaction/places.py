"""Where findings stand in the text that was given first, while one redactor after another works on what the one before left. Pure; keeps no value."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence

from afl_core.spec.redactor import Finding


def marker(rule: str) -> str:
    """What stands in the place of a value."""
    return f"[REDACTED:{rule}]"


def replaced(text: str, findings: Sequence[Finding]) -> str:
    """The text with every finding replaced; they are in order and do not overlap."""
    parts: list[str] = []
    at = 0
    for found in findings:
        parts += (text[at : found.start], marker(found.rule))
        at = found.end
    return "".join((*parts, text[at:])) if parts else text


class Places:
    """A text, what was found in it so far, and the text with that replaced. `add` takes findings of the replaced text."""

    def __init__(self, original: str, findings: Iterable[Finding] = ()) -> None:
        self.original = original
        self.findings: tuple[Finding, ...] = tuple(findings)
        self._build()

    def _build(self) -> None:
        parts: list[str] = []
        self._starts: list[int] = []
        self._origins: list[tuple[int, int, bool]] = []
        length = at = 0
        for found in (*self.findings, None):
            end = found.start if found else len(self.original)
            if end > at:
                length = self._piece(parts, self.original[at:end], length, (at, end, False))
            if found:
                length = self._piece(parts, marker(found.rule), length, (found.start, found.end, True))
                at = found.end
        self.text = "".join(parts)

    def _piece(self, parts: list[str], piece: str, length: int, origin: tuple[int, int, bool]) -> int:
        parts.append(piece)
        self._starts.append(length)
        self._origins.append(origin)
        return length + len(piece)

    def add(self, findings: Sequence[Finding]) -> None:
        """Take findings whose offsets are in `text`. One that touches a marker takes what the marker stands for with it."""
        if not findings:
            return
        if not self.findings:
            self.findings = tuple(findings)
        else:
            moved = [Finding(found.rule, *self._origin(found.start, found.end)) for found in findings]
            self.findings = tuple(merged([*moved, *self.findings]))
        self._build()

    def _origin(self, start: int, end: int) -> tuple[int, int]:
        first, last = bisect_right(self._starts, start) - 1, bisect_right(self._starts, end - 1) - 1
        first_start, _, first_replaced = self._origins[first]
        last_start, last_end, last_replaced = self._origins[last]
        return (
            first_start if first_replaced else first_start + start - self._starts[first],
            last_end if last_replaced else last_start + end - self._starts[last],
        )

    def after(self, start: int, end: int) -> tuple[int, int]:
        """Where a part of the original stands in `text`; what it cuts of a value it is given the whole marker of."""
        return self._after(start, last=False), self._after(end, last=True)

    def _after(self, at: int, *, last: bool) -> int:
        """Of an end: behind the marker of a value that it lies in or closes."""
        starts = [origin[0] for origin in self._origins]
        piece = bisect_right(starts, at - 1 if last else at) - 1
        if piece < 0:
            return 0
        begin, finish, is_marker = self._origins[piece]
        if not is_marker:
            return self._starts[piece] + min(at, finish) - begin
        whole = self._starts[piece + 1] if piece + 1 < len(self._starts) else len(self.text)
        return whole if last else self._starts[piece]


def merged(findings: Iterable[Finding]) -> list[Finding]:
    """In order of their places, with those that overlap joined: the one that begins first, of those the longest, names the whole."""
    joined: list[Finding] = []
    for found in sorted(findings, key=lambda one: (one.start, -one.end)):
        if joined and found.start < joined[-1].end:
            joined[-1] = Finding(joined[-1].rule, joined[-1].start, max(joined[-1].end, found.end))
        else:
            joined.append(found)
    return joined
