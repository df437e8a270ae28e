"""Where findings stand for a person: rule, line and column, never the value. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import attrs

from afl_core.spec.redactor import Finding


@attrs.frozen
class Spot:
    """One replacement. Lines and columns count from 1, columns in characters."""

    rule: str
    line: int
    column: int

    def told(self) -> str:
        """In one line."""
        return f"line {self.line}, column {self.column}: {self.rule}"


class Lines:
    """Counts lines along a text that comes in pieces, each place asked for behind the one before."""

    def __init__(self, line: int = 1, column: int = 1) -> None:
        self._line, self._column = line, column

    def pass_over(self, text: str, start: int, end: int) -> None:
        """Go on over this part of a text."""
        breaks = text.count("\n", start, end)
        if breaks:
            self._line += breaks
            self._column = end - text.rfind("\n", start, end)
        else:
            self._column += end - start

    def spot(self, rule: str) -> Spot:
        """The place that was reached."""
        return Spot(rule, self._line, self._column)


def spots(text: str, findings: Iterable[Finding]) -> Iterator[Spot]:
    """The spots of findings, which are in order."""
    lines, at = Lines(), 0
    for found in findings:
        lines.pass_over(text, at, found.start)
        at = found.start
        yield lines.spot(found.rule)
