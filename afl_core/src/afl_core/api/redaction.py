"""Looking for secrets with the installed redactors: in a text, in files, in the index of a home. Tells rule and place, never a value; changes nothing."""

from __future__ import annotations

import enum
import itertools
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import attrs

from afl_core.api.home import Home
from afl_core.model.errors import RedactionError
from afl_core.plugins.discovery import discover
from afl_core.plugins.registry import Registry
from afl_core.redaction import files
from afl_core.redaction.chain import Chain
from afl_core.redaction.files import Skip
from afl_core.redaction.lines import Spot, spots
from afl_core.redaction.options import known_options
from afl_core.redaction.strings import parsed, strings
from afl_core.redaction.windows import spots_in
from afl_core.store import texts

EXPLAIN_BYTES = 16_777_216
"""Of a text that is explained at once."""

LISTED = 10_000
"""Findings of one scan that are told with their place; more are counted."""

LISTED_IN_ONE = 1_000
"""And of one file or column."""


@attrs.frozen
class Explained:
    """A text as it would be kept, and where it was changed."""

    text: str
    spots: tuple[Spot, ...]


@attrs.frozen
class Scanned:
    """One file, or one row of the index. `more`: findings beyond those told; `problem`: why it could not be judged, ''.

    `named`: the person named this very path.
    """

    path: str
    spots: tuple[Spot, ...] = ()
    more: int = 0
    problem: str = ""
    skip: Skip | None = None
    named: bool = False

    @property
    def is_missed(self) -> bool:
        """Whether it was left out where somebody may think that it was looked through: for its size, or though it was named."""
        return self.skip is Skip.HUGE or (self.named and self.skip is not None)


class Verdict(enum.Enum):
    """What a scan came to; its value is the command's exit code."""

    CLEAN = 0
    FOUND = 1
    INCOMPLETE = 2


@attrs.define
class Totals:
    """What a scan did so far."""

    looked_at: int = 0
    with_findings: int = 0
    findings: int = 0
    listed: int = 0
    rules: Counter[str] = attrs.field(factory=Counter)
    skipped: Counter[str] = attrs.field(factory=Counter)
    problems: int = 0
    missed: int = 0

    @property
    def verdict(self) -> Verdict:
        """FOUND also where something else could not be judged, or was too large: it has to be acted upon either way."""
        return Verdict.FOUND if self.findings else Verdict.INCOMPLETE if self.problems or self.missed else Verdict.CLEAN

    def as_json(self) -> dict[str, Any]:
        """For programs."""
        names = ("looked_at", "with_findings", "findings", "listed", "problems", "missed")
        counts = {name: getattr(self, name) for name in names}
        return {**counts, "rules": dict(sorted(self.rules.items())), "skipped": dict(sorted(self.skipped.items()))}


def shown(text: str) -> str | None:
    """A text that only passes by, such as the words of a foreign error, as it would be kept; None when nobody can tell."""
    registry = Registry(discover(None))
    try:
        return Chain(registry.redactors(), registry.guard, lambda _word: "", registry.missing_redactors(())).redact(text).text
    except RedactionError:
        return None


def options(home: Home) -> list[dict[str, Any]]:
    """Every option of the redactors with its sentence, and whether it is on."""
    judge = home.judge
    return [{"name": name, "on": name in judge.options, "adds": told} for name, told in known_options(home.registry.redactors()).items()]


def explain(home: Home, text: str) -> Explained:
    """What would be kept of a text. Raises `RedactionError` when nothing may be kept."""
    size = len(text.encode("utf-8", "surrogatepass"))
    if size > EXPLAIN_BYTES:
        raise RedactionError(
            f"the text has {size} bytes, at most {EXPLAIN_BYTES} are explained",
            code="AFL-REDACT-007",
            hint="write it into a file and run: afl redact scan FILE",
        )
    done = home.judge.redact(text)
    return Explained(done.text, tuple(spots(text, done.findings)))


def scan(home: Home, paths: Sequence[str], totals: Totals, *, store: bool = False) -> Iterator[Scanned]:
    """Everything that was found, left out or could not be judged, as it comes; `totals` count along.

    Raises `RedactionError` when there is nothing to judge with, and `StoreError` for a store that cannot be read.
    """
    judge = home.judge
    judge.redact("")  # said once, and not of each file
    yield from (_told(one, judge, totals) for one in _files(paths, judge, totals))
    if store:
        yield from (_told(one, judge, totals) for one in _rows(home, judge, totals))


def _told(one: Scanned, judge: Chain, totals: Totals) -> Scanned:
    """Counted, within the limits of what is told; a name may be a secret, too."""
    told = one.spots[: LISTED - totals.listed]
    more = one.more + len(one.spots) - len(told)
    totals.listed += len(told)
    totals.problems += bool(one.problem)
    totals.missed += one.is_missed
    if one.skip is not None:
        totals.skipped[one.skip.value] += 1
    try:
        path = judge.redact(one.path.encode("utf-8", "replace").decode()).text
    except RedactionError:
        path = "[a name that cannot be judged]"
    return attrs.evolve(one, path=path, spots=told, more=more)


def _files(paths: Sequence[str], judge: Chain, totals: Totals) -> Iterator[Scanned]:
    for entry in files.entries(paths):
        if entry.skip is not None or entry.problem:
            yield Scanned(entry.path, skip=entry.skip, problem=entry.problem, named=entry.named)
            continue
        try:
            file = files.opened(entry.path)
            if file is None:
                yield Scanned(entry.path, skip=Skip.BINARY, named=entry.named)
                continue
            with file:
                yield _counted(entry.path, spots_in(file.read, judge), totals)
        except OSError as bad:
            yield Scanned(entry.path, problem=bad.strerror or type(bad).__name__)
        except RedactionError as bad:
            yield Scanned(entry.path, problem=f"{bad.code}: {bad.sentence}")


def _rows(home: Home, judge: Chain, totals: Totals) -> Iterator[Scanned]:
    for column in texts.WORDS:
        for key, text in texts.of_column(home.db, column):
            path = f"store:{column.table}.{column.name}:{key}"
            inside = strings(parsed(text)) if column.is_json else (text,)
            try:
                found = _counted(path, itertools.chain.from_iterable(spots(one, judge.redact(one).findings) for one in inside), totals)
            except RedactionError as bad:
                found = Scanned(path, problem=f"{bad.code}: {bad.sentence}")
            yield found


def _counted(path: str, found: Iterator[Spot], totals: Totals) -> Scanned:
    totals.looked_at += 1
    told: list[Spot] = []
    more = 0
    try:
        for spot in found:
            totals.findings += 1
            totals.rules[spot.rule] += 1
            if len(told) < LISTED_IN_ONE:
                told.append(spot)
            else:
                more += 1
    finally:
        totals.with_findings += bool(told)
    return Scanned(path, tuple(told), more)
