"""What an import did, or would do."""

from __future__ import annotations

from typing import Any

import attrs

from afl_core.model.errors import AflError

NAMED = 100
"""Skipped rows that are named one by one; more are counted."""


@attrs.frozen
class Skipped:
    """A row that was not taken. `line` counts the lines of the file from 1; in a DejaDB bundle it is the record."""

    line: int
    reason: str


@attrs.frozen
class Report:
    """`added`: grains that are new here; `already`: rows that changed nothing; `changed`: grains superseded, taken back or brought back;
    `erased`: grains that were forgotten there and are gone here; `ignored`: rows that are no memory, such as a person's message in a tool log.
    """

    format: str
    path: str
    rows: int
    added: int
    already: int
    changed: int
    erased: int
    ignored: int
    skipped: tuple[Skipped, ...]
    skipped_rows: int
    dry_run: bool = False

    def as_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return attrs.asdict(self)

    def lines(self) -> list[str]:
        """What a person is shown: one line of counts, then one for each skipped row that is named."""
        would = "would be " if self.dry_run else ""
        counts = [f"{self.added} {would}added", f"{self.already} already there"]
        counts += [f"{count} {would}{word}" for count, word in ((self.changed, "changed"), (self.erased, "erased")) if count]
        counts += [f"{count} {word}" for count, word in ((self.ignored, "passed over"), (self.skipped_rows, "skipped")) if count]
        told = [f"{self.path} ({self.format}, {self.rows} {'row' if self.rows == 1 else 'rows'}): {', '.join(counts)}"]
        told += [f"  {'record' if self.format == 'dejadb' else 'line'} {one.line}: {one.reason}" for one in self.skipped]
        if self.skipped_rows > len(self.skipped):
            told.append(f"  and {self.skipped_rows - len(self.skipped)} more")
        return told


class Tally:
    """Counts while an import runs."""

    def __init__(self) -> None:
        self.rows = self.added = self.already = self.changed = self.erased = self.ignored = self.skipped_rows = 0
        self._skipped: list[Skipped] = []

    def skip(self, line: int, reason: Exception | str) -> None:
        """A row is not taken."""
        self.skipped_rows += 1
        if len(self._skipped) < NAMED:
            self._skipped.append(Skipped(line, reason.sentence if isinstance(reason, AflError) else str(reason)))

    def report(self, format: str, path: str) -> Report:
        """The counts as they are now."""
        return Report(
            format,
            path,
            self.rows,
            self.added,
            self.already,
            self.changed,
            self.erased,
            self.ignored,
            tuple(sorted(self._skipped, key=lambda one: one.line)),
            self.skipped_rows,
        )
